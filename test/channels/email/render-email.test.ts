import * as fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { planCharts } from '../../../src/channels/email/email-charts.ts';
import { composeEmail } from '../../../src/channels/email/email-sender.ts';
import { type RenderedEmail, renderEmail } from '../../../src/channels/email/render-email.ts';
import type { Message } from '../../../src/domain/message.ts';
import { anyText, hostileNames } from '../../support/hostile-text.ts';
import {
  buildAccount,
  buildItem,
  buildMessage,
  buildReport,
  buildReportAccount,
  everyMessage,
} from '../../support/messages.ts';

const from = { name: 'Lowwater', address: 'lowwater@example.com' };
const to = [{ name: 'Ops', address: 'ops@example.com' }];
const thread = {
  firstMessage: 'first-id',
  subject: 'OTP production: SMS balance low since 21 Nov 02:22',
  references: ['first-id', 'second-id'],
  othersFiring: null,
};

describe('the headers of a mail', () => {
  it('carry a Message-ID that is the message’s own, in the domain of the sender', () => {
    expect(render(buildMessage()).messageId).toBe('<5b0f5a2e-77a8-4a55-8f4b-0d9f0f0c2b10@example.com>');
  });

  it('refer to the first mail of the incident, under its subject', () => {
    const mail = render(buildMessage([buildItem({ kinds: ['reminder'] })], { thread }));
    expect(mail.subject).toBe(`CRITICAL ${thread.subject}`);
    expect(mail.inReplyTo).toBe('<first-id@example.com>');
    expect(mail.references).toEqual(['<first-id@example.com>', '<second-id@example.com>']);
  });

  it('say that a machine wrote it, and to which list it belongs', async () => {
    const mail = await send(buildMessage([buildItem({ kinds: ['reminder'] })], { thread }));
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail.headers.get('x-auto-response-suppress')).toBe('All');
    expect(mail.headerLines.find(({ key }) => key === 'list-id')?.line).toBe(
      'List-ID: "lowwater alerts" <lowwater.example.com>',
    );
    expect(mail.inReplyTo).toBe('<first-id@example.com>');
    expect(mail.references).toEqual(['<first-id@example.com>', '<second-id@example.com>']);
    expect(mail.date).toEqual(new Date(buildMessage().at));
  });

  it('call only an open critical alert important', () => {
    expect(render(buildMessage()).priority).toBe('high');
    expect(render(buildMessage([buildItem({ severity: 'warning' })])).priority).toBeUndefined();
    expect(
      render(buildMessage([buildItem({ kinds: ['resolved'], resolvedAt: 1 })])).priority,
    ).toBeUndefined();
  });

  it('take an international domain in its ASCII form', () => {
    const mail = renderEmail(buildMessage(), {
      from: { name: '', address: 'a@münchen.example' },
      to,
      charts: [],
    });
    expect(mail.messageId).toMatch(/@xn--mnchen-3ya\.example>$/);
  });
});

describe('the body of a mail', () => {
  it.each(Object.entries(everyMessage()))(
    'says the headline in the text, in the HTML and in the preview: %s',
    (_, message) => {
      const mail = render(message);
      const words = mail.text.split('\n')[0]?.split(' · ')[0] ?? 'missing';
      expect(textOf(mail.html)).toContain(words);
      expect(Buffer.byteLength(mail.html)).toBeLessThan(90_000);
    },
  );

  it('ends in both parts with the way to the page, of several alerts, and with what becomes of a reply', () => {
    const { html, text } = render(buildMessage([buildItem(), buildItem({ type: 'runway' })]));
    expect(linksOf(html)).toContain('https://lowwater.example.com/');
    expect(textOf(html)).toContain('Replies are not read.');
    expect(text).toMatch(
      /\n\n {2}Open lowwater: https:\/\/lowwater.example.com\/\n\nSent by lowwater, .*\. Replies are not read\.\n$/,
    );
  });

  it('shows no picture that could not be drawn, and is complete without it', () => {
    const mail = renderEmail(buildMessage(), { from, to, charts: [] });
    expect(elementsOf(mail.html)).not.toContain('img');
    expect(textOf(mail.html)).toContain('42.10 CNY');
  });

  it('tells the numbers of its picture to those who do not see it', () => {
    expect(planCharts(buildMessage())[0]?.alt).toMatch(
      /^Chart: SMS balance in CNY, from \d+\.\d+ CNY to 42\.10 CNY in 7 days; empty about Sat 21 Nov 23:44 UTC\+8\.$/,
    );
  });

  it('links to the page and to the acknowledgement', () => {
    const { html, text } = render(buildMessage());
    expect(linksOf(html)).toEqual([
      'https://lowwater.example.com/a/nPuFyM7lAA2x2kkc6mYV3Q',
      'https://lowwater.example.com/accounts/otp',
    ]);
    expect(text).toContain('Acknowledge: https://lowwater.example.com/a/nPuFyM7lAA2x2kkc6mYV3Q');
  });

  it('of 10,000 alerts shows the most urgent, counts the rest and links to it, and stays below what mail programs cut', () => {
    const mail = render(buildMessage(new Array(10_000).fill(buildItem())));
    expect(mail.subject).toBe(
      'CRITICAL OTP production: SMS balance low since 21 Nov 02:22 and 9999 more alerts',
    );
    expect(textOf(mail.html)).toContain('and 9980 more alerts');
    expect(mail.text).toMatch(
      /and 9980 more alerts\n {2}Open lowwater: https:\/\/lowwater.example.com\/\n\nSent by/,
    );
    expect(Buffer.byteLength(mail.html)).toBeLessThan(90_000);
  });

  it('of a report on 1,000 accounts stays below it too', () => {
    const mail = render(buildReport({ accounts: new Array(1000).fill(buildReportAccount()) }));
    expect(Buffer.byteLength(mail.html)).toBeLessThan(100_000);
    expect(textOf(mail.html)).toContain('and 960 more accounts');
  });
});

it('a report in Chinese breaks no amount and no word beside it between two characters, as a narrow column would', () => {
  const { html } = render(buildReport({ language: 'zh-CN' }));
  const numbers = html.match(/<t[dh] class="[^"]*" align="right" style="[^"]*"/g) ?? [];
  expect(numbers.length).toBeGreaterThan(3);
  expect(numbers.filter((cell) => !cell.includes('word-break:keep-all'))).toEqual([]);
});

describe('text from outside in a mail', () => {
  const expected = Object.fromEntries(
    Object.entries(hostileMessages('OTP')).map(([kind, message]) => [kind, elementsOf(render(message).html)]),
  );

  it.each(Object.entries(hostileNames))('adds no element, no attribute and no link: %s', async (_, name) => {
    for (const [kind, message] of Object.entries(hostileMessages(name))) {
      const mail = render(message);
      expect(elementsOf(mail.html)).toEqual(expected[kind]);
      expect(mail.subject).not.toMatch(/[[\]\r\n]/);
      expect(`${mail.html}${mail.text}${mail.subject}`.isWellFormed()).toBe(true);
      expect(`${mail.html}${mail.text}`).not.toMatch(/[\0\u202e\u200b]/);
    }
  });

  it('adds no element, regardless of the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const [kind, message] of Object.entries(hostileMessages(text))) {
          expect(elementsOf(render(message).html)).toEqual(expected[kind]);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('adds no header and no recipient to what is sent', async () => {
    for (const name of Object.values(hostileNames)) {
      const mail = await send(
        buildMessage([buildItem({ accountName: name, incident: { accountName: name } })]),
      );
      expect(mail.headers.has('bcc')).toBe(false);
      expect(mail.to).toMatchObject({ value: [{ address: 'ops@example.com' }] });
      expect([...mail.headers.keys()].length).toBeLessThanOrEqual(14);
    }
  });
});

function hostileMessages(text: string): Readonly<Record<string, Message>> {
  const account = buildAccount({
    name: text,
    labels: { [text]: text, team: text },
    failure: text,
    consecutiveFailures: 2,
    reading: { at: 1, balances: { sms: 1, voip: 1 }, currency: text },
    history: [
      { at: buildMessage().at - 2000, balances: { sms: 2, voip: 1 }, currency: text },
      { at: buildMessage().at - 1000, balances: { sms: 1, voip: 1 }, currency: text },
    ],
  });
  const item = buildItem({ accountName: text, account, incident: { accountName: text } });
  const own = buildItem({
    type: 'channel-failed',
    account: null,
    rule: text,
    value: { unit: 'text', text },
    facts: [{ name: text, value: { unit: 'text', text } }],
  });
  return {
    single: buildMessage([item]),
    group: buildMessage([item, own, item]),
    report: buildReport({
      reportId: text,
      accounts: [buildReportAccount({ name: text, reading: account.reading, history: account.history })],
    }),
  };
}

function render(message: Message): RenderedEmail {
  return renderEmail(message, { from, to, charts: planCharts(message) });
}

/** The mail as it leaves, read back by a mail parser. */
async function send(message: Message) {
  const transport = createTransport({ streamTransport: true, buffer: true });
  const sent = await transport.sendMail({ ...(await composeEmail(message, { from, to })) });
  return simpleParser(sent.message as Buffer);
}

type Node = DefaultTreeAdapterTypes.Node;

/** Every element in order with the names of its attributes; texts and values left out. */
function elementsOf(html: string): readonly string[] {
  return nodesOf(html).flatMap((node) =>
    'tagName' in node
      ? [[node.tagName, ...node.attrs.map(({ name }) => name)].join(' ')]
      : node.nodeName === '#comment'
        ? ['comment']
        : [],
  );
}

function linksOf(html: string): readonly string[] {
  return nodesOf(html).flatMap((node) =>
    'tagName' in node && node.tagName === 'a'
      ? node.attrs.filter(({ name }) => name === 'href').map(({ value }) => value)
      : [],
  );
}

function textOf(html: string): string {
  return nodesOf(html)
    .map((node) => ('value' in node ? node.value : ' '))
    .join('');
}

function nodesOf(html: string): readonly Node[] {
  const walk = (node: Node): readonly Node[] => [
    node,
    ...('childNodes' in node ? node.childNodes.flatMap(walk) : []),
  ];
  return walk(parse(html));
}
