import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { exampleKeys } from '../../../src/channels/post-kind.ts';
import type { Preset } from '../../../src/channels/presets/preset.ts';
import type { PostSettings, ReceiverAnswer } from '../../../src/channels/receiver.ts';
import { channelKinds, createChannel, presets } from '../../../src/channels/registry.ts';
import type { IncidentMessage, Message } from '../../../src/domain/message.ts';
import { textBehind } from '../../../src/domain/secret.ts';
import { loadLanguage } from '../../../src/languages/load-language.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { type Sending, sendThrough } from '../../support/channel-bed.ts';
import type { ReceivedPost } from '../../support/http-receiver.ts';
import {
  buildAccount,
  buildItem,
  buildMessage,
  buildTestMessage,
  everyMessage,
  messageNow,
} from '../../support/messages.ts';
import { hostileMessages } from '../../support/robot-bed.ts';
import { channelOf, textsAround } from '../../support/settings.ts';
import { problemsOf, receivers, textsOf } from './receivers.ts';

const rows = presets.map((preset) => ({ type: preset.type, preset, receiver: receivers[preset.type] }));

function say(response: ServerResponse, { status, body }: ReceiverAnswer['example']): void {
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sends to the receiver of the documentation; `no` is what it answers in place of its yes. */
async function send(preset: Preset, message?: Message, no?: ReceiverAnswer): Promise<Sending> {
  const receiver = receivers[preset.type];
  if (receiver === undefined) throw new Error(`${preset.type} has no row in receivers.ts`);
  return sendThrough({
    config: (origin) => ({ type: preset.type, ...exampleKeys(preset, origin) }),
    answer: (response, post) => {
      const problems = problemsOf(receiver, post);
      if (problems.length > 0) throw new Error(problems.join('\n'));
      say(response, (no ?? preset.yes).example);
    },
    ...(message === undefined ? {} : { message }),
  });
}

const bodyOf = (post: ReceivedPost | undefined): string => post?.body ?? '';

it('every preset has a row of its own in the table of receivers', () => {
  expect(Object.keys(receivers).toSorted()).toEqual(rows.map(({ type }) => type).toSorted());
});

describe.each(rows)('$type', ({ type, preset, receiver }) => {
  it.each(Object.entries(everyMessage()))('takes every message: %s', async (_name, message) => {
    expect((await send(preset, message)).delivery).toMatchObject({ kind: 'delivered' });
  });

  it('takes a test', async () => {
    expect((await send(preset, buildTestMessage())).delivery).toMatchObject({ kind: 'delivered' });
  });

  it('shows what goes out with every name filled in, and secrets hidden', async () => {
    const settings = channelOf('ops', { type, ...exampleKeys(preset, 'https://receiver.example.net') });
    const channel = createChannel(settings, { clock: systemClock, texts: textsAround(settings) });
    const shown = decodeURIComponent(await channel.preview(buildMessage()));
    await channel.close();
    expect(shown).not.toContain('{{');
    for (const [key, { kind, example }] of Object.entries(preset.keys))
      if (kind === 'secret' && example)
        expect([key, shown]).not.toEqual([key, expect.stringContaining(example)]);
  });

  it('takes names that nobody should choose, never longer than it takes, and draws none of their markup', async () => {
    for (const message of hostileMessages([
      '@everyone **bold** [x](http://evil.example) {{token}}',
      '余额'.repeat(200),
    ])) {
      const { delivery, posts } = await send(preset, message);
      expect(delivery).toMatchObject({ kind: 'delivered' });
      for (const [key, text] of posts.flatMap(textsOf)) {
        if (key === receiver?.plain) expect(text).not.toContain('\\');
        else if (receiver?.markup !== undefined) expect(text).not.toMatch(receiver.markup);
        if (receiver?.shownEscape !== undefined) expect(text).not.toMatch(receiver.shownEscape);
      }
    }
  });

  it.each(preset.no.map((no) => [no.answer, no] as const))('says no by %s', async (_answer, no) => {
    const { delivery } = await send(preset, undefined, no);
    if (no.means === 'dead') expect(delivery.kind).toBe('dead');
    else expect(delivery).toMatchObject({ kind: 'retry', certainty: no.means });
    expect(JSON.stringify(delivery)).not.toContain('secret');
  });

  it('is not believed when something else answers with a web page', async () => {
    for (const status of [200, preset.yes.example.status === 204 ? 200 : preset.yes.example.status]) {
      const page = { answer: 'a page', example: { status, body: '\n<!DOCTYPE html><html>Log in' } };
      const { delivery } = await send(preset, undefined, page);
      expect(delivery).toMatchObject({ kind: 'retry', certainty: 'unknown', tries: 3 });
    }
  });

  it('names its source, and says how sure that is', () => {
    expect(preset.source).not.toBe('');
    expect(type).toMatch(/^[a-z][a-z0-9-]+$/);
    // A tone that is forgotten would be sent as null.
    for (const [, tones = ''] of JSON.stringify(preset).matchAll(/"\$tone":(\{[^}]*\})/g))
      expect(Object.keys(JSON.parse(tones)).toSorted()).toEqual([
        'critical',
        'good',
        'info',
        'neutral',
        'warning',
      ]);
  });
});

it.each([
  ['https://discord.example.com/api/webhooks/1/x', '/api/webhooks/1/x?wait=true'],
  ['https://discord.example.com/api/webhooks/1/x?thread_id=7', '/api/webhooks/1/x?thread_id=7&wait=true'],
])('adds its query to that of the address %s', async (address, path) => {
  const { pathname, search } = new URL(address);
  const { posts } = await sendThrough({
    config: (origin) => ({ type: 'discord', webhookUrl: `${origin}${pathname}${search}` }),
    answer: (response) => say(response, { status: 200, body: { id: '1' } }),
  });
  expect(posts.map((post) => post.path)).toEqual([path]);
});

it.each(rows.filter(({ preset }) => preset.style === 'brief'))(
  'an alert by $type holds a link that fits, the best first',
  async ({ preset }) => {
    const account = (topUpUrl: string | null) =>
      buildMessage([buildItem({ account: buildAccount({ topUpUrl }) })]);
    const textOf = async (message: Message) =>
      decodeURIComponent(bodyOf((await send(preset, message)).posts[0]).replaceAll('+', ' '));
    expect(await textOf(account(null))).toContain('https://lowwater.example.com/a/');
    expect(await textOf(account('https://pay.example/otp'))).toContain('https://pay.example/otp');
    // What the alphabet of short messages has: any other character would halve what one of them holds.
    expect(await textOf(account(null))).toMatch(/^[\n -~]+$/);
    expect(await textOf(account(`https://pay.example/${'x'.repeat(200)}`))).toContain(
      'https://lowwater.example.com/a/',
    );
  },
);

it.each(rows.filter(({ preset }) => JSON.stringify(preset).includes('{{link}}') || preset.style === 'brief'))(
  'what $type opens for several alerts is the page of all, without one the first of what the most urgent offers',
  async ({ preset }) => {
    if (preset.incident !== undefined) return;
    const account = buildAccount({ topUpUrl: 'https://pay.example/otp' });
    const items = [buildItem({ account }), buildItem({ account, rule: 'voip-low' })];
    const linkOf = async (publicUrl: string | null) => {
      const { posts } = await send(preset, buildMessage(items, { publicUrl }));
      const body = decodeURIComponent(bodyOf(posts[0]).replaceAll('+', ' '));
      const at = preset.style === 'brief' ? /(https:\S+?)(?=["\s&]|$)/ : /"(?:url|click)":"([^"]*)"/;
      return at.exec(body)?.[1];
    };
    expect(await linkOf('https://lowwater.example.com')).toBe('https://lowwater.example.com/');
    expect(await linkOf(null)).toBe('https://pay.example/otp');
  },
);

const briefs = rows.filter(({ preset }) => preset.style === 'brief');

describe.each(briefs)('a short message by $type', ({ preset }) => {
  const payUrl = 'https://pay.example/otp';
  const linesOf = async (language: string, accountName: string) => {
    const item = buildItem({ accountName, account: buildAccount({ topUpUrl: payUrl }) });
    const { posts } = await send(preset, buildMessage([item], { language }));
    const body = bodyOf(posts[0]);
    const texts = body.startsWith('{') ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
    return String(texts.Body ?? texts.text ?? texts.message).split('\n');
  };

  beforeAll(async () => {
    for (const language of ['zh-CN', 'es']) await loadLanguage(language);
  });

  it('in Spanish loses the accents that would halve what it holds, and keeps the others', async () => {
    const lines = await linesOf('es', 'Señal José Málaga');
    expect(lines[0]).toMatch(/^CRITICA - Señal José Malaga: .*23:44$/);
    expect(lines.join('\n').length).toBeLessThanOrEqual(160);
  });

  it.each([5, 30, 50, 80])(
    'in Chinese has 70 characters of whole facts, and the link: a name of %i',
    async (length) => {
      const [headline = '', ...rest] = await linesOf('zh-CN', '户'.repeat(length));
      expect(headline.length).toBeLessThanOrEqual(70);
      expect(headline).toMatch(/户…?：.*(?:CNY|用完|\d\d:\d\d|前后)$/);
      expect(rest.at(-1)).toBe(payUrl);
    },
  );

  it('takes two messages where one would not say whose balance it is', async () => {
    const [missed] = (everyMessage()['missed-top-up'] as IncidentMessage).items;
    const item = buildItem({ ...missed, accountName: '验证码生产账户（北京一号）', kinds: ['escalated'] });
    const { posts } = await send(preset, buildMessage([item]));
    const sent = decodeURIComponent(bodyOf(posts[0]).replaceAll('+', ' '));
    expect(sent).toMatch(
      /ESCALATED CRITICAL · 验证码生产账户（北京一号）: SMS top-up of 500.00 CNY did not come at 100.00/,
    );
  });

  it('in English has no more where a name is in another alphabet', async () => {
    const [headline = ''] = await linesOf('en', 'Уведомления производства и рынка');
    expect(headline).toMatch(/^CRITICAL · Уведомления производства и рынка: pay 1,400 CNY$/);
  });
});

it('a link that is too long for Pushover is left out alone: the others, the advice and the figures stay', async () => {
  const preset = presets.find(({ type }) => type === 'pushover') ?? expect.fail('there is no Pushover');
  const account = buildAccount({ topUpUrl: `https://pay.example.com/${'x'.repeat(900)}` });
  const { posts } = await send(preset, buildMessage([buildItem({ account })]));
  const { message } = JSON.parse(bodyOf(posts[0]));
  expect(message).not.toContain('pay.example.com');
  expect(message).toMatch(
    /42\.10 CNY.*48\.00 CNY per day.*Top up 1,400.*Acknowledge: https:\S+.*Open account/s,
  );
});

it('a title of Opsgenie holds whole facts: with a long name fewer of them', async () => {
  const opsgenie = rows.find(({ type }) => type === 'opsgenie');
  if (opsgenie === undefined) throw new Error('Opsgenie is gone');
  const whole = /: SMS balance 42\.10 CNY(?:, below 50\.00)?$/;
  for (let length = 1; length <= 80; length += 1) {
    const account = buildAccount({ runway: null });
    const item = buildItem({ accountName: 'n'.repeat(length), account });
    const { posts } = await send(opsgenie.preset, buildMessage([item]));
    const { message } = JSON.parse(bodyOf(posts[0]));
    expect(message.length).toBeLessThanOrEqual(130);
    expect(message).toMatch(whole);
  }
});

const incidentTools = rows.filter(({ preset }) => preset.incident !== undefined);

describe.each(incidentTools)('the incident tool $type', ({ preset }) => {
  const acknowledgement = { at: messageNow, by: 'kim', comment: '', rises: 0, severity: 'critical' } as const;
  const life = [
    buildItem(),
    buildItem({ incident: { acknowledgement } }),
    buildItem({ kinds: ['resolved'], resolvedAt: messageNow }),
  ];

  it('opens, acknowledges where it can, and closes under one key', async () => {
    const posts = (await Promise.all(life.map((item) => send(preset, buildMessage([item]))))).flatMap(
      (sending) => sending.posts,
    );
    expect(posts).toHaveLength(preset.incident?.acknowledge === undefined ? 2 : 3);
    for (const post of posts)
      expect(decodeURIComponent(`${post.path} ${post.body}`)).toContain('lowwater/otp/sms-low');
    expect(bodyOf(posts[0])).not.toEqual(bodyOf(posts.at(-1)));
  });

  const keys = (posts: readonly ReceivedPost[]): readonly string[] => [
    ...new Set(
      posts.map(
        ({ path, body }) =>
          /lowwater\/otp\/sms-low(?:\/\d+)?/.exec(decodeURIComponent(`${path} ${body}`))?.[0] ?? '',
      ),
    ),
  ];

  it('wakes people for what got worse after somebody took it, and ends all that it began', async () => {
    const broken = { rises: 1, acknowledgement };
    const later = { keys: { first: 0, newest: 1, taken: 0 } };
    const worse = await send(
      preset,
      buildMessage([buildItem({ ...later, kinds: ['worse'], incident: broken })]),
    );
    expect(keys(worse.posts)).toContain('lowwater/otp/sms-low/2');
    expect(worse.posts.some(({ path, body }) => /acknowledge|close|resolved|"ok"/.test(path + body))).toBe(
      false,
    );
    const ended = buildItem({ ...later, kinds: ['resolved'], resolvedAt: messageNow, incident: broken });
    const end = await send(preset, buildMessage([ended]));
    expect(keys(end.posts)).toEqual(['lowwater/otp/sms-low', 'lowwater/otp/sms-low/2']);
    for (const { path, body } of end.posts) expect(path + body).toMatch(/close|resolved|"ok"/);
  });

  it.each([
    ['nobody had it', ['worse']],
    // The first attempt at this message, before it got worse, may have arrived.
    ['nobody may have heard of it', ['firing', 'worse']],
  ] as const)(
    'hears of what got worse though %s: at a new urgency, or under another key',
    async (_, kinds) => {
      const worse = buildItem({ kinds, keys: { first: 0, newest: 1, taken: null } });
      const { posts } = await send(preset, buildMessage([worse]));
      if (preset.incident?.raise === undefined) expect(keys(posts)).toEqual(['lowwater/otp/sms-low/2']);
      else
        expect(posts.map(({ method, path }) => `${method} ${path.replace(/.*%2Fsms-low/, '')}`)).toEqual([
          'POST /v2/alerts',
          'PUT /priority?identifierType=alias',
          'POST /notes?identifierType=alias',
        ]);
    },
  );

  it('does not close with the end of one incident what the next one opened while the tool was away', async () => {
    const ended = buildItem({ kinds: ['resolved'], resolvedAt: messageNow, incident: { id: 'before' } });
    const again = buildItem({ firedAt: messageNow, keys: { first: 1, newest: 1, taken: null } });
    const { posts } = await send(preset, buildMessage([again, ended]));
    expect(keys(posts)).toEqual(['lowwater/otp/sms-low/2', 'lowwater/otp/sms-low']);
  });

  it('is opened by no test, report or good news', async () => {
    const { report, 'top-up': topUp } = everyMessage();
    const opened = JSON.stringify(preset.incident?.open.json ?? 'action');
    for (const message of [report, topUp, buildTestMessage()]) {
      if (message === undefined) throw new Error('there is no such message');
      const { delivery, posts } = await send(preset, message);
      expect(delivery).toMatchObject({ kind: 'delivered', said: expect.any(String) });
      expect(posts).toHaveLength(message.kind === 'test' ? 1 : 0);
      for (const { path, body } of posts) expect(path + body).toMatch(/close|resolved|"ok"/);
    }
    expect(opened).not.toMatch(/close|resolved|"ok"/);
  });

  it('gets each alert by itself, and owed what it refused for now', async () => {
    const three = ['one', 'two', 'three'].map((rule) => buildItem({ rule, incident: { rule } }));
    const { delivery, posts } = await send(preset, buildMessage(three));
    expect(posts).toHaveLength(3);
    expect(delivery).not.toHaveProperty('owed');
    const again = await send(preset, buildMessage(three, { recipients: ['otp/two'] }));
    expect(again.posts.map(({ body, path }) => decodeURIComponent(path + body))).toEqual([
      expect.stringContaining('lowwater/otp/two'),
    ]);
  });
});

describe('Discord', () => {
  const sentTo = (webhookUrl: string): string => {
    const settings = channelOf('ops', { type: 'discord', webhookUrl }) as PostSettings;
    return textBehind(settings.keys.webhookUrl);
  };

  it.each([
    ['https://discord.com/api/webhooks/1/token', 'https://discord.com/api/v10/webhooks/1/token'],
    [
      'https://ptb.discordapp.com/api/webhooks/1/token',
      'https://ptb.discordapp.com/api/v10/webhooks/1/token',
    ],
    ['https://discord.com/api/v9/webhooks/1/token', 'https://discord.com/api/v9/webhooks/1/token'],
    ['https://proxy.example/api/webhooks/1/token', 'https://proxy.example/api/webhooks/1/token'],
  ])('is asked by a version that counts waits in seconds, and stays the same receiver: %s', (url, sent) => {
    expect(sentTo(url)).toBe(sent);
    expect((channelOf('ops', { type: 'discord', webhookUrl: url }) as PostSettings).place.reveal()).toBe(url);
  });
});

describe('Mattermost', () => {
  it('is given up where the server has incoming webhooks switched off, which it says by 501', async () => {
    const preset = presets.find(({ type }) => type === 'mattermost') ?? expect.fail('there is no Mattermost');
    const message = 'Incoming webhooks have been disabled by the system admin.';
    const no = { answer: '501', example: { status: 501, body: { message } } };
    expect((await send(preset, undefined, no)).delivery).toMatchObject({
      kind: 'dead',
      reason: expect.stringContaining(message),
    });
  });
});

describe('GoAlert', () => {
  it('is quoted where it says no in plain text', async () => {
    const preset = presets.find(({ type }) => type === 'goalert') ?? expect.fail('there is no GoAlert');
    const { delivery } = await send(preset, undefined, preset.no[0] as ReceiverAnswer);
    expect(delivery).toMatchObject({ reason: expect.stringContaining('400 validation error: Summary') });
  });
});

describe('Twilio SMS', () => {
  const [from, service] = ['+15005550006', 'MG0123456789abcdef0123456789abcdef'];
  const preset = presets.find(({ type }) => type === 'twilio-sms') ?? expect.fail('there is no Twilio SMS');

  it.each([
    [{ messagingServiceSid: service }, { MessagingServiceSid: service }],
    [
      { messagingServiceSid: service, from },
      { MessagingServiceSid: service, From: from },
    ],
  ])('sends by a messaging service: %j', async (keys, fields) => {
    const { posts } = await sendThrough({
      config: (origin) => {
        const { from: _from, ...others } = exampleKeys(preset, origin);
        return { type: 'twilio-sms', ...others, ...keys };
      },
      answer: (response) => say(response, preset.yes.example),
    });
    const { To: _to, Body: _body, ...sent } = Object.fromEntries(new URLSearchParams(bodyOf(posts[0])));
    expect(sent).toEqual(fields);
  });

  it('needs a number or a service to send by', () => {
    const kind = channelKinds.find(({ type }) => type === 'twilio-sms');
    expect(kind?.check?.({ read: () => undefined, credentials: new Set() })).toEqual([
      { key: 'from', message: 'is missing; or give "messagingServiceSid"' },
    ]);
  });
});
