import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  renderSlack,
  renderSlackPlainly,
  type SlackPayload,
} from '../../../src/channels/slack/render-slack.ts';
import type { SlackBlock } from '../../../src/channels/slack/slack-blocks.ts';
import type { Message, MessageItem } from '../../../src/domain/message.ts';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import { anyText, hostileNames } from '../../support/hostile-text.ts';
import {
  buildAccount,
  buildItem,
  buildMessage,
  buildReport,
  buildReportAccount,
  buildRunway,
  everyMessage,
  messageNow,
} from '../../support/messages.ts';

describe('a message in Slack', () => {
  it('says in its fallback what happened, with icon and word', () => {
    expect(renderSlack(buildMessage()).text).toBe(
      '🔴 OTP production: pay 1,400 CNY, empty about Sat 23:44 · CRITICAL',
    );
  });

  it('shows the numbers, what to do, the last 24 hours, and where to acknowledge', () => {
    const blocks = blocksOf(renderSlack(buildMessage()));
    expect(blocks.map(({ type }) => type)).toEqual([
      'section',
      'section',
      'section',
      'context',
      'actions',
      'context',
    ]);
    expect(JSON.stringify(blocks)).toContain('*Spending*\\n48.00 CNY per day');
    expect(JSON.stringify(blocks)).toContain('👉 Top up 1,400.00 CNY');
    expect(JSON.stringify(blocks)).toMatch(/24 h {2}[▁▂▃▄▅▆▇█ ]{24} {2}\S+ CNY → 42\.10 CNY/);
    expect(JSON.stringify(blocks)).toContain('https://lowwater.example.com/a/nPuFyM7lAA2x2kkc6mYV3Q');
  });

  it('writes the balances of the last 24 hours as the channel’s language does', async () => {
    await loadLanguage('es');
    const [text = ''] =
      /24 h[^"]*/.exec(JSON.stringify(renderSlack({ ...buildMessage(), language: 'es' }))) ?? [];
    expect(text).toMatch(/,\d\d CNY → 42,10 CNY$/);
  });

  it('cuts no figure of an alert among others, and no line of a report', () => {
    const long = { accountName: 'n'.repeat(80), balance: 'voip', balanceLabel: 'l'.repeat(60) } as const;
    const grouped = JSON.stringify(renderSlack(buildMessage([buildItem(long), buildItem()])).attachments);
    expect(grouped).toMatch(/balance 80\.00 CNY\\n/);
    const ids = Array.from({ length: 20 }, (_, place) => `balance-${place}`);
    const balances = ids.map((id) => ({ id, label: `Balance of ${id}`, alertsBelowZero: false }));
    const reading = {
      at: messageNow,
      balances: Object.fromEntries(ids.map((id) => [id, 42])),
      currency: 'CNY',
    };
    const report = buildReport({ accounts: [buildReportAccount({ balances, reading })] });
    expect(JSON.stringify(renderSlack(report).attachments)).toContain('\\n…');
  });

  it('says its headline once: Slack draws the text above the attachment', () => {
    for (const message of Object.values(everyMessage())) {
      const { text, attachments } = renderSlack(message);
      expect(JSON.stringify(attachments?.[0]?.blocks)).not.toContain(JSON.stringify(text).slice(1, -1));
    }
  });

  it('mentions people, groups and everybody here before its headline, and nobody else, no matter what a name says', () => {
    const mention = { critical: ['here', 'U012AB3CD', 'S012AB3CD'] };
    const message = buildMessage([buildItem({ accountName: '<!channel> *x*' })]);
    expect(renderSlack(message, mention)).toMatchObject({
      mrkdwn: true,
      text: expect.stringMatching(
        /^<!here> <@U012AB3CD> <!subteam\^S012AB3CD> 🔴 &lt;!channel&gt; ∗x∗: pay 1,400/u,
      ),
    });
    expect(renderSlack(buildMessage([buildItem({ mention: false })]), mention).text).toMatch(/^🔴/u);
    expect(renderSlack(buildMessage([buildItem({ severity: 'warning' })]), mention).text).toMatch(/^🟠/u);
  });

  it('mentions nobody on a server that takes a bare @ for a mention, as Mattermost and Rocket.Chat do', () => {
    const { text, attachments } = renderSlack(buildMessage([buildItem({ accountName: '@all @here' })]));
    for (const shown of [text, attachments?.[0]?.fallback])
      expect(shown).toContain('@\u2060all @\u2060here: ');
  });

  it('has no buttons where no page can be reached', () => {
    const payload = renderSlack(buildMessage([buildItem({ acknowledgeUrl: null })], { publicUrl: null }));
    expect(blocksOf(payload).some(({ type }) => type === 'actions')).toBe(false);
  });

  it.each(Object.entries(everyMessage()))('stays below 3,000 characters of text: %s', (_, message) => {
    expect(textsOf(renderSlack(message)).join('').length).toBeLessThan(3000);
    expectWithinLimits(renderSlack(message));
  });

  it('gives each button of a row an id of its own: a message in which two share one is refused by Slack', () => {
    for (const [name, message] of Object.entries(everyMessage()))
      for (const isHeard of [false, true])
        for (const block of blocksOf(renderSlack(message, {}, isHeard))) {
          const ids = block.type === 'actions' ? block.elements.map(({ action_id }) => action_id) : [];
          expect([name, ...new Set(ids)]).toEqual([name, ...ids]);
        }
  });

  it('says how many more when 10,000 alerts come at once', () => {
    const payload = renderSlack(buildMessage(new Array<MessageItem>(10_000).fill(buildItem())));
    expectWithinLimits(payload);
    expect(payload.text).toContain('10000 CRITICAL');
    expect(textsOf(payload)).toContain('and 9992 more alerts');
  });

  it('says of each alert in a group what a single message says', () => {
    const blind = { outcome: 'timeout', failure: 'no answer in time', consecutiveFailures: 3 } as const;
    const account = buildAccount({ note: 'Ask Ana first.', ...blind });
    const payload = renderSlack(
      buildMessage([buildItem({ account }), buildItem({ accountName: 'Marketing', rule: 'other-low' })]),
    );
    const texts = textsOf(payload).join('\n');
    for (const said of [
      'Firing since Sat 21 Nov 02:22 UTC+8 (19 minutes ago)',
      'Threshold: below 50.00 CNY',
      'Spending: 48.00 CNY per day',
      'As of: Sat 21 Nov 02:37 UTC+8 (4 minutes ago)',
      '📌 Ask Ana first.',
      'The last 3 polls failed: no answer in time. The balance shown is 4 minutes old',
      'rule sms-low',
      'rule other-low',
    ]) {
      expect(texts).toContain(said);
    }
    expectWithinLimits(payload);
  });

  it('stays within the limits with eight long alerts in a group', () => {
    const long = buildItem({
      accountName: 'n'.repeat(5000),
      account: buildAccount({
        labels: { team: 't'.repeat(500) },
        failure: 'f'.repeat(500),
        consecutiveFailures: 3,
      }),
      acknowledgeUrl: `https://lowwater.example.com/ack?${'q'.repeat(250)}`,
    });
    expectWithinLimits(renderSlack(buildMessage(new Array<MessageItem>(8).fill(long))));
  });

  it('stays within the limits where every character has to be escaped', () => {
    for (const message of messagesWith('&'.repeat(5000))) expectWithinLimits(renderSlack(message));
  });

  it('cuts a report on 1,000 accounts', () => {
    const payload = renderSlack(
      buildReport({
        accounts: Array.from({ length: 1000 }, () => buildReportAccount({ name: 'n'.repeat(500) })),
      }),
    );
    expectWithinLimits(payload);
    expect(textsOf(payload)).toContain('and 992 more accounts');
  });

  it('stays within the limits in a report on accounts of twenty balances that run out, whose names have to be escaped', async () => {
    await loadLanguage('es');
    const ids = Array.from({ length: 20 }, (_, place) => `balance-${place}`);
    const emptyAt = messageNow + 200_000_000;
    const forecast = { emptyAt, earliest: messageNow, latest: emptyAt, basis: 'hour-of-week' } as const;
    const runway = buildRunway({ emptyAt, runwayMs: 200_000_000, forecast });
    const ofEach = <Value>(value: Value) => Object.fromEntries(ids.map((id) => [id, value]));
    const account = buildReportAccount({
      name: '&'.repeat(80),
      balances: ids.map((id) => ({ id, label: `Balance of ${id}`, alertsBelowZero: false })),
      runways: ofEach(runway),
    });
    const reading = { at: messageNow, balances: ofEach(42_000_000) };
    const accounts = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => ({
      ...account,
      reading: { ...reading, currency: `${letter}BC` },
    }));
    const unread = Array.from({ length: 30 }, () => ({ ...account, reading: null }));
    expectWithinLimits(renderSlack(buildReport({ language: 'es', accounts: [...accounts, ...unread] })));
  });
});

describe('text from outside in Slack', () => {
  it.each(Object.entries(hostileNames))('is shown literally and commands nothing: %s', (_, name) => {
    for (const message of messagesWith(name)) {
      const payload = renderSlack(message);
      expectHarmless(payload);
      expectWithinLimits(payload);
      expectHarmless(renderSlackPlainly(message));
    }
  });

  it('shows markup characters of a name as they are, in plain text elements and in the fallback', () => {
    const payload = renderSlack(buildMessage([buildItem({ accountName: '*bold* <!channel>' })]));
    expect(payload.mrkdwn).toBe(false);
    expect(payload.text).toContain('*bold* &lt;!channel&gt;');
    const group = renderSlack(
      buildMessage([1, 2].map(() => buildItem({ accountName: '*bold* <!channel>' }))),
    );
    const [first] = blocksOf(group);
    expect(first).toMatchObject({ type: 'section', text: { type: 'plain_text', emoji: false } });
    expect(JSON.stringify(first)).toContain('*bold* &lt;!channel&gt;');
  });

  it('commands nothing, regardless of the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const message of messagesWith(text)) expectHarmless(renderSlack(message));
      }),
      { numRuns: 60 },
    );
  });
});

function messagesWith(text: string): readonly Message[] {
  const hostile = buildAccount({
    name: text,
    labels: { [text]: text },
    failure: text,
    consecutiveFailures: 2,
    reading: { at: 1, balances: { sms: 1, voip: 1 }, currency: text },
    history: [],
  });
  const item = buildItem({ accountName: text, account: hostile });
  const own = buildItem({
    type: 'channel-failed',
    account: null,
    rule: text,
    value: { unit: 'text', text },
    facts: [{ name: text, value: { unit: 'text', text } }],
  });
  return [
    buildMessage([item]),
    buildMessage([item, own]),
    buildMessage([own]),
    buildReport({ accounts: [buildReportAccount({ name: text, reading: hostile.reading })] }),
  ];
}

/** In all of it, `<` and `>` appear only escaped, and every `&` begins one of the three entities. */
function expectHarmless(payload: SlackPayload): void {
  expect(payload.mrkdwn).toBe(false);
  for (const text of [payload.text, ...(payload.attachments ?? []).map(({ fallback }) => fallback)]) {
    expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
    expect(text.isWellFormed()).toBe(true);
  }
  for (const text of textsOf(payload)) expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
  for (const text of mrkdwnOf(payload)) {
    expect(text.replace(/(?<=[a-z0-9])_(?=[a-z0-9])/gi, '')).toMatch(/^\*[^*_~`<>]+\*\n[^*_~`<>]*$/);
    expect(text).not.toMatch(/&(?!amp;|lt;|gt;)/);
  }
}

/** Limits of Block Kit, and of the undocumented total at which Slack says `msg_blocks_too_long`. */
function expectWithinLimits(payload: SlackPayload): void {
  const blocks = blocksOf(payload);
  expect(blocks.length).toBeLessThanOrEqual(50);
  expect(JSON.stringify(blocks).length).toBeLessThan(13_000);
  for (const block of blocks) {
    if (block.type === 'section' && 'text' in block) expect(block.text.text.length).toBeLessThanOrEqual(3000);
    if (block.type === 'section' && 'fields' in block) {
      expect(block.fields.length).toBeLessThanOrEqual(10);
      for (const { text } of block.fields) expect(text.length).toBeLessThanOrEqual(2000);
    }
  }
  for (const text of textsOf(payload)) expect(text.length).toBeGreaterThan(0);
}

function blocksOf(payload: SlackPayload): readonly SlackBlock[] {
  return payload.attachments?.[0]?.blocks ?? [];
}

function textsOf(payload: SlackPayload): readonly string[] {
  return blocksOf(payload).flatMap((block) => {
    if (block.type === 'section')
      return 'text' in block ? [block.text.text] : block.fields.map(({ text }) => text);
    return block.type === 'context' ? block.elements.map(({ text }) => text) : [];
  });
}

function mrkdwnOf(payload: SlackPayload): readonly string[] {
  return blocksOf(payload).flatMap((block) =>
    block.type === 'section' && 'fields' in block ? block.fields.map(({ text }) => text) : [],
  );
}

it('has the links of every alert among several, but for those to the page that all share', () => {
  const links = { topUpUrl: 'https://pay.example/otp', runbookUrl: 'https://run.example/otp' };
  const item = buildItem({ account: buildAccount(links) });
  const { attachments = [] } = renderSlack(buildMessage([item, item]));
  const rows = attachments.flatMap(({ blocks }) =>
    blocks.flatMap((block) =>
      block.type === 'actions'
        ? [block.elements.map((element) => ('text' in element ? element.text.text : ''))]
        : [],
    ),
  );
  const own = ['Top up', 'Acknowledge', 'Runbook'];
  expect(rows).toEqual([own, own, ['Open lowwater']]);
});
