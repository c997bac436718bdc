import { describe, expect, it } from 'vitest';
import { sendThrough } from '../support/channel-bed.ts';

const token = 'a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6';

/** How a receiver may write what it was given into its answer. */
const forms: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['in capitals', (text) => text.toUpperCase()],
  ['with zero-width spaces inside', (text) => [...text].join('\u200b')],
  ['with NULs inside', (text) => [...text].join('\0')],
  ['percent-encoded', (text) => [...Buffer.from(text)].map((octet) => `%${octet.toString(16)}`).join('')],
  ['\\u-escaped', (text) => [...text].map((unit) => `\\u00${unit.charCodeAt(0).toString(16)}`).join('')],
  ['escaped for HTML', (text) => [...text].map((unit) => `&#${unit.charCodeAt(0)};`).join('')],
  ['in hexadecimal', (text) => Buffer.from(text).toString('hex')],
  ['in base64', (text) => Buffer.from(text).toString('base64')],
  ['in base64 behind one byte', (text) => Buffer.from(`x${text}yz`).toString('base64')],
  ['in base64 behind two bytes', (text) => Buffer.from(`xx${text}yz`).toString('base64')],
];

/** Receivers that say in words what they did not like, each with a secret of its own. */
const receivers: readonly {
  readonly name: string;
  readonly config: (origin: string) => object;
  readonly status: number;
  readonly answer: (text: string) => object;
}[] = [
  {
    name: 'DingTalk',
    config: (origin) => ({ type: 'dingtalk', webhookUrl: `${origin}/robot/send?access_token=${token}` }),
    status: 200,
    answer: (text) => ({ errcode: 310000, errmsg: text }),
  },
  {
    name: 'Feishu',
    config: (origin) => ({ type: 'feishu', webhookUrl: `${origin}/open-apis/bot/v2/hook/${token}` }),
    status: 200,
    answer: (text) => ({ code: 19024, msg: text }),
  },
  {
    name: 'WeCom',
    config: (origin) => ({ type: 'wecom', webhookUrl: `${origin}/cgi-bin/webhook/send?key=${token}` }),
    status: 200,
    answer: (text) => ({ errcode: 93000, errmsg: text }),
  },
  {
    name: 'PagerDuty',
    config: (origin) => ({ type: 'pagerduty', routingKey: token, baseUrl: origin }),
    status: 400,
    answer: (text) => ({ status: 'invalid event', message: 'Event object is invalid', errors: [text] }),
  },
];

describe('what a receiver says', () => {
  const table = receivers.flatMap((receiver) => forms.map(([form, write]) => ({ ...receiver, form, write })));
  it.each(table)('is reported without a secret that stands in it $form: $name', async (it) => {
    const written = it.write(token);
    const { delivery } = await sendThrough({
      config: it.config,
      answer: (response) =>
        response.writeHead(it.status).end(JSON.stringify(it.answer(`refused: ${written}, sorry`))),
    });
    const reason = JSON.stringify(delivery);
    expect(reason).toContain('[secret]');
    expect(reason).not.toContain(written.slice(0, 12));
    expect(reason.replace(/[^a-z0-9]/gi, '').toLowerCase()).not.toContain(token);
  });

  it('is reported in full where nothing of it is secret', async () => {
    const [dingtalk] = receivers;
    if (dingtalk === undefined) throw new Error('there is none');
    const { delivery } = await sendThrough({
      config: dingtalk.config,
      answer: (response) => response.end('{"errcode":310000,"errmsg":"keywords not in content"}'),
    });
    expect(delivery).toMatchObject({
      kind: 'dead',
      reason: expect.stringContaining('keywords not in content'),
    });
  });
});

it.each([
  ['Teams', (origin: string) => ({ type: 'teams', webhookUrl: `${origin}/workflows/1?sig=${token}` })],
  ['Alertmanager', (origin: string) => ({ type: 'alertmanager', urls: [origin] })],
  ['PagerDuty', (origin: string) => ({ type: 'pagerduty', routingKey: token, baseUrl: origin })],
])('a web page with a good status is no answer of %s', async (name, config) => {
  const { delivery } = await sendThrough({
    config,
    answer: (response) =>
      response
        .writeHead(name === 'PagerDuty' ? 202 : 200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Log in</title>'),
  });
  expect(delivery).toMatchObject({ kind: 'retry', certainty: 'unknown', tries: 3 });
  expect(JSON.stringify(delivery)).not.toContain('Log in');
});

it.each([
  ['DingTalk', receivers[0]?.config, { errcode: 500, errmsg: 'Internal' }],
  ['Feishu', receivers[1]?.config, { code: 500, msg: 'Internal' }],
  ['WeCom', receivers[2]?.config, { errcode: 500, errmsg: 'Internal' }],
  [
    'the bot of Slack',
    (apiUrl: string) => ({ type: 'slack', botToken: `xoxb-${token}`, channel: '#ops', apiUrl }),
    { ok: false, error: 'unheard_of' },
  ],
])('a server of %s in trouble is tried again, whatever code its body has', async (_name, config, body) => {
  const answerWith = (status: number) =>
    sendThrough({
      config: config ?? expect.fail('there is none'),
      answer: (response) => response.writeHead(status).end(JSON.stringify(body)),
    });
  expect((await answerWith(503)).delivery).toMatchObject({ kind: 'retry', certainty: 'unknown' });
  expect((await answerWith(429)).delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  expect((await answerWith(200)).delivery).toMatchObject({ kind: 'dead' });
  expect((await answerWith(400)).delivery).toMatchObject({ kind: 'dead' });
});
