import { beforeAll, describe, expect, it } from 'vitest';
import spanish from '../../languages/es.json' with { type: 'json' };
import * as dingtalk from '../../src/channels/dingtalk/dingtalk-robot.ts';
import { renderEmailHtml } from '../../src/channels/email/render-email.ts';
import * as feishu from '../../src/channels/feishu/feishu-robot.ts';
import * as pagerduty from '../../src/channels/pagerduty/render-pagerduty.ts';
import { codeOf } from '../../src/channels/presets/preset-parts.ts';
import { presets } from '../../src/channels/registry.ts';
import { renderSlack } from '../../src/channels/slack/render-slack.ts';
import * as teams from '../../src/channels/teams/teams-robot.ts';
import { renderWebhookPayload } from '../../src/channels/webhook/webhook-payload.ts';
import * as wecom from '../../src/channels/wecom/wecom-robot.ts';
import { getOrMake } from '../../src/domain/get-or-make.ts';
import type { Message, MessageItem } from '../../src/domain/message.ts';
import type { NotificationReason } from '../../src/domain/outbox.ts';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { readerOf } from '../../src/messages/item-wording.ts';
import { messageSubject, wordCard } from '../../src/messages/message-wording.ts';
import { renderText } from '../../src/messages/render-text.ts';
import { sayDuration } from '../../src/wording/moments.ts';
import {
  buildAccount,
  buildItem,
  buildMessage,
  buildReport,
  buildReportAccount,
  buildRunway,
  buildTestMessage,
  everyMessage,
  messageNow,
  money,
} from '../support/messages.ts';
import { pseudoLanguage } from '../support/pseudo-language.ts';

it.each([
  ['zh-CN', '【警告】OTP production：短信消耗已变为此前水平的 2.50 倍'],
  ['es', 'AVISO · OTP production: el gasto de SMS ha pasado a 2,50 veces su nivel anterior'],
])('A lasting change of spending names its factor in %s', async (language, headline) => {
  await loadLanguage(language);
  const fact = {
    name: 'lasting change',
    value: { unit: 'text', text: '2.50 times its former level' },
  } as const;
  const item = buildItem({ type: 'surge', severity: 'warning', facts: [fact] });
  expect(renderText({ ...buildMessage([item]), language }, 200)).toContain(headline);
});

it('Spanish says of the balance, not of the incidents before it, when it was read, and joins hours and minutes', async () => {
  await loadLanguage('es');
  const report = buildReport({ accounts: [buildReportAccount(), buildReportAccount({ reading: null })] });
  const text = renderText({ ...report, language: 'es' }, 200);
  expect(text).toMatch(/incidencias?\b.*, saldo leído el /);
  expect(text).toContain(', saldo nunca leído');
  expect(sayDuration(22_500_000, readerOf({ ...report, language: 'es' }))).toBe('6 horas y 15 minutos');
});

const reasons: readonly NotificationReason[] = [
  'firing',
  'worse',
  'reminder',
  'escalated',
  'acknowledged',
  'flapping',
  'resolved',
];

const taken = {
  by: 'Ana',
  at: messageNow - 60_000,
  comment: 'ordered',
  rises: 0,
  severity: 'critical' as const,
};

function forReason(item: MessageItem, reason: NotificationReason): MessageItem {
  const resolvedAt = reason === 'resolved' ? messageNow : null;
  const incident = {
    ...item.incident,
    resolvedAt,
    acknowledgement: reason === 'acknowledged' ? taken : null,
  };
  return { ...item, kinds: [reason], resolvedAt, resolution: null, incident };
}

/** Every kind for every reason, an account of several alerts, reports and tests. */
const messages: readonly (readonly [name: string, message: Message])[] = [
  ['test', buildTestMessage()],
  ...Object.entries(everyMessage()).flatMap(([name, message]): [string, Message][] => {
    if (message.kind !== 'incidents' || message.items.some(({ incident }) => incident.event))
      return [[name, message]];
    return reasons.map((reason) => [
      `${name}, ${reason}`,
      { ...message, thread: null, items: message.items.map((item) => forReason(item, reason)) },
    ]);
  }),
];

const mention = { mention: {} };

/** What each receiver gets, as JSON or text. */
const forms: Readonly<Record<string, (message: Message) => string>> = {
  text: (message) => renderText(message, 10_000),
  subject: messageSubject,
  mail: (message) => renderEmailHtml(message, []).replace(/<style>[\s\S]*?<\/style>/, ''),
  slack: (message) => JSON.stringify(renderSlack(message)),
  dingtalk: (message) => dingtalk.render(message, mention)[0].body,
  feishu: (message) => feishu.render(message, mention)[0].body,
  wecom: (message) => wecom.render(message, mention)[0].body,
  teams: (message) => teams.render(message, mention)[0].body,
  pagerduty: (message) =>
    pagerduty
      .render(message)
      .map(({ body }) => body)
      .join('\n'),
  ...Object.fromEntries(
    presets.map((preset) => [
      preset.type,
      (message: Message) =>
        codeOf(preset)
          .render(message, { keys: {}, recipients: ['+8613800000000'] } as never)
          .map(({ body }) => decodeURIComponent(body.replaceAll('+', ' ').replace(/%(?![0-9A-F]{2})/g, '')))
          .join('\n'),
    ]),
  ),
  webhook: headlinesOf,
};

function headlinesOf(message: Message): string {
  const found: string[] = [];
  JSON.stringify(renderWebhookPayload(message), (key, value: unknown) => {
    if (['headline', 'details', 'advice'].includes(key)) found.push(JSON.stringify(value));
    return value;
  });
  return found.join('\n');
}

/** What stays as it is in every language: names, ids, notes, addresses, what a vendor or a system said. */
const kept =
  /https?:\/\/[^\s"<)\\]*|“[^”]*”|OTP production|Marketing EU|Voice calls|Finance answers until 18:00; after that ask the shift lead\.|provider-down|lowwater test-channel|lowwater validate|lowwater cluster [a-z-]+|Slack answered 404 no_service|HTTP 503 without an answer of the provider|the disk is full|2 errors|no complete answer within 10s|the certificate has expired|the provider refuses the key \(code -22\)/g;

/** The texts of a form: strings with a word, without keys and markup. */
function textsOf(form: string): readonly string[] {
  const texts: string[] = [];
  try {
    JSON.parse(form, (_key, value: unknown) => {
      if (typeof value === 'string') texts.push(value);
      return value;
    });
  } catch {
    texts.push(...form.replace(/<[^>]*>/g, '\n').split('\n'));
  }
  return texts;
}

/** What anybody acts by: amounts, times of day, figures and addresses. */
function factsOf(text: string, [group, point]: readonly [string, string]): readonly string[] {
  const plain = text.replaceAll(/(\d)\u00a0%/g, '$1%');
  const amounts = [...plain.matchAll(/-?\d[\d.,\u00a0]*(?= (?:CNY|EUR))/g)].map(([amount]) =>
    amount.replaceAll(group, '').replace(point, '.'),
  );
  const others = plain.match(/\b\d{1,2}:\d\d\b|https?:\/\/\S+|UTC[+-]\d+/g) ?? [];
  return [...amounts, ...others].toSorted();
}

beforeAll(async () => {
  await Promise.all([loadLanguage('zh-CN'), loadLanguage('es')]);
  await pseudoLanguage('pl-x-pseudo');
});

const inLanguage = (message: Message, language: string): Message => ({ ...message, language });

const written = new Map<string, string>();

/** What a receiver gets of a message in a language: written once, as several tests read it. */
function write(form: string, [name, message]: (typeof messages)[number], language: string): string {
  return getOrMake(
    written,
    `${form} ${language} ${name}`,
    () => forms[form]?.(inLanguage(message, language)) ?? '',
  );
}

describe('In Chinese', () => {
  it.each(Object.keys(forms))('no English sentence is left in any message: %s', (form) => {
    for (const message of messages) {
      const [name] = message;
      const english = textsOf(write(form, message, 'zh-CN'))
        .filter((each) => !/^[\w.:+/ -]*$/.test(each) || / [a-z]+ /.test(each))
        .flatMap(
          (each) =>
            each
              .replaceAll('\\', '')
              .replaceAll(kept, '')
              .match(/[A-Za-z]{2,}['’]? [a-z]{2,}/g) ?? [],
        );
      expect([name, ...english]).toEqual([name]);
    }
  });
});

it('In Chinese no sentence ends in front of a dot in the middle, and no bracket is half as wide as what it holds', () => {
  for (const message of messages)
    for (const form of Object.keys(forms)) {
      const [name] = message;
      const found = write(form, message, 'zh-CN').match(/(?:。 ·|\([^()]*[\u4e00-\u9fff]，).{0,30}/gu);
      expect([name, form, found]).toEqual([name, form, null]);
    }
});

it('In Spanish no English sentence is left in any message', () => {
  for (const message of messages) {
    const [name] = message;
    const text = ['text', 'subject']
      .map((form) => write(form, message, 'es'))
      .join('\n')
      .replaceAll(kept, '');
    const english = text.match(/\b(?:the|and|with|this|since|from|was|for|account|top up)\b/gi) ?? [];
    expect([name, ...english]).toEqual([name]);
  }
});

it.each([
  ['ordered', 'recarga pedida.'],
  ['ordered, paid by card', 'recarga pedida, paid by card.'],
  ['ordered it', 'ordered it.'],
])('In Spanish the comment "%s" of who ordered money ends "%s"', (comment, end) => {
  const { firing } = everyMessage();
  if (firing?.kind !== 'incidents') throw new Error('no alert');
  const items = firing.items.map((item) => forReason(item, 'acknowledged'));
  const said = items.map((item) => ({
    ...item,
    incident: { ...item.incident, acknowledgement: { ...taken, comment } },
  }));
  const text = renderText({ ...firing, language: 'es', items: said }, 10_000);
  expect(text).toMatch(new RegExp(`Tomada por Ana .*: ${end}`));
});

describe.each([
  ['zh-CN', [',', '.']],
  ['es', ['.', ',']],
  ['pl-x-pseudo', ['\u00a0', ',']],
] as const)('In %s', (language, separators) => {
  it('every message has the figures and addresses that it has in English', () => {
    for (const message of messages) {
      const [name] = message;
      const [said, english] = [language, 'en'].map((id) => write('text', message, id));
      expect([name, ...factsOf(said ?? '', separators)]).toEqual([
        name,
        ...factsOf(english ?? '', [',', '.']),
      ]);
    }
  });

  it('no message is longer than its receiver takes', () => {
    for (const message of messages) {
      const { markdown } = JSON.parse(write('wecom', message, language));
      expect(Buffer.byteLength(markdown.content)).toBeLessThanOrEqual(4096);
      for (const form of ['dingtalk', 'feishu'])
        expect(Buffer.byteLength(write(form, message, language))).toBeLessThan(20_000);
    }
  });
});

const day = 86_400_000;

/** Accounts in twelve currencies, each with a forecast and its range. */
function reportOfTwelve(language: string): Message {
  const ends = [1, 2, 3].map((ahead) => messageNow + 30.3 * ahead * day);
  const [earliest = 0, emptyAt = 0, latest = 0] = ends;
  const forecast = { emptyAt, earliest, latest, basis: 'hour-of-week' } as const;
  const sms = buildRunway({ emptyAt, runwayMs: emptyAt - messageNow, forecast });
  const accounts = 'AED AUD BRL CAD CHF CNY EUR GBP INR JPY MXN USD'.split(' ').map((currency) => {
    const reading = { at: messageNow, balances: { sms: money(1234.5), voip: money(80) }, currency };
    return buildReportAccount({ name: `Account in ${currency}`, reading, runways: { sms, voip: null } });
  });
  return buildReport({ language, accounts });
}

it.each(['en', 'es', 'zh-CN'])('In %s no sentence of a report is cut, for all the currencies', (language) => {
  const report = reportOfTwelve(language);
  const [, ...lines] = renderText(report, 10_000)
    .split('\n')
    .map((line) => line.trim().replaceAll('+', ' '));
  const expected = lines.slice(0, 14);
  for (const form of ['slack', 'teams', 'feishu', 'dingtalk', 'telegram', 'pushover', 'ntfy']) {
    const said = textsOf(forms[form]?.(report) ?? '').flatMap((text) => text.split('\n'));
    expect([form, said.filter((line) => /[^\n]…$/u.test(line))]).toEqual([form, []]);
    const shown = new Set(said.map((line) => line.replace(/^\u2060/, '').replaceAll('+', ' ')));
    const sums = expected.filter((line) => shown.has(line));
    expect([form, sums.length > 2]).toEqual([form, true]);
    if (form !== 'pushover') expect([form, ...sums]).toEqual([form, ...expected]);
  }
});

/** Twelve accounts that end before the next report, and twelve without a reading, all with long names. */
function reportOfLongNames(language: string): Message {
  const emptyAt = messageNow + 2.3 * day;
  const forecast = { emptyAt, earliest: emptyAt, latest: emptyAt, basis: 'hour-of-week' } as const;
  const sms = buildRunway({ emptyAt, runwayMs: emptyAt - messageNow, forecast });
  const named = (name: string) =>
    Array.from('abcdefghijkl', (letter) => `${letter} ${name} `.padEnd(40, 'x'));
  const ending = named('ends').map((name) => buildReportAccount({ name, runways: { sms, voip: null } }));
  const unknown = named('unread').map((name) =>
    buildReportAccount({ name, reading: null, runways: { sms: null, voip: null } }),
  );
  return buildReport({ language, accounts: [...ending, ...unknown] });
}

it.each(['en', 'es', 'zh-CN'])(
  'In %s a report says whole which accounts may run out, or what fits',
  (language) => {
    const report = reportOfLongNames(language);
    const [head] = wordCard(report, 0).parts;
    const runsOut = head?.lines[0]?.replaceAll('+', ' ') ?? '';
    expect(runsOut.length).toBeGreaterThan(900);
    for (const form of ['slack', 'teams', 'feishu', 'dingtalk', 'wecom', 'telegram', 'ntfy'])
      expect([form, forms[form]?.(report).replaceAll('+', ' ').includes(runsOut)]).toEqual([form, true]);
    const short = forms.pushover?.(report).replaceAll('+', ' ') ?? '';
    expect(short).toContain(runsOut.slice(0, 250));
    expect(short).toContain('https://lowwater.example.com/pay');
  },
);

it('In Spanish each sentence of a report begins with a capital letter or a figure', () => {
  const [head] = wordCard(reportOfTwelve('es'), 0).parts;
  expect(head?.lines.filter((line) => /^\p{Ll}/u.test(line))).toEqual([]);
});

it('In a language that nobody knows every sentence comes from the catalogue', () => {
  for (const message of messages) {
    const [name] = message;
    const subject = write('subject', message, 'pl-x-pseudo');
    expect([name, subject]).toEqual([name, expect.stringMatching(/^⟦.*⟧$/)]);
    const lines = write('text', message, 'pl-x-pseudo').split('\n');
    const unmarked = lines.filter(
      (line) => line.trim() !== '' && !line.includes('⟦') && !/^ {2}[A-Z].* \([a-z]+\)$/.test(line),
    );
    expect([name, ...unmarked]).toEqual([name]);
  }
});

it('In Spanish a day has its article behind since, until and for', () => {
  const bare = /(?:desde|hasta|para|enviado|leída|Visto) (?:lun|mar|mié|jue|vie|sáb|dom) \d.{0,30}/gu;
  for (const message of messages)
    for (const form of Object.keys(forms))
      expect([message[0], form, write(form, message, 'es').match(bare)]).toEqual([message[0], form, null]);
  expect(Object.values(spanish).filter((text) => /(?:hasta|para) \{(?:until|moment)\}/.test(text))).toEqual(
    [],
  );
});

const calm = buildAccount({ runway: null });

it('In Chinese nothing stands apart from an amount that is about or zero, and a quoted key does', async () => {
  const about = { kind: 'topped-up', micros: money(499.753) } as const;
  const message = buildMessage([
    buildItem({ kinds: ['resolved'], resolvedAt: messageNow, resolution: about }),
    buildItem({ type: 'negative', value: { unit: 'money', micros: 0 }, account: calm }),
  ]);
  const said = renderText(inLanguage(message, 'zh-CN'), 10_000);
  expect(said).toContain('已恢复：充值 500.00 CNY 左右。');
  expect(said).toContain('，低于 0\n');
  const advice = (await loadLanguage('zh-CN')).fill(
    { name: 'stale.closed', english: '' },
    { address: '"baseUrl"' },
  );
  expect(advice).toContain('检查 "baseUrl"、防火墙');
});
