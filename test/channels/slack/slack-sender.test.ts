import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Accept } from '../../../src/channels/answers.ts';
import type { Sender } from '../../../src/channels/kind.ts';
import { slackKind } from '../../../src/channels/slack/slack-kind.ts';
import { openSlackSender } from '../../../src/channels/slack/slack-sender.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { type HttpReceiver, type ReceivedPost, startHttpReceiver } from '../../support/http-receiver.ts';
import { buildMessage } from '../../support/messages.ts';
import { textsAround } from '../../support/settings.ts';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

describe('delivery to Slack', () => {
  it('is done when Slack says ok', async () => {
    const { delivery, receiver } = await sendTo((response) => response.end('ok'));
    expect(delivery).toMatchObject({ kind: 'delivered', said: 'Slack answered 200 ok' });
    expect(receiver.received).toHaveLength(1);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      mrkdwn: false,
      attachments: [{ color: '#d92d20' }],
    });
  });

  it('waits as long as the Retry-After header of a 429 says', async () => {
    const { delivery } = await sendTo((response) =>
      response.writeHead(429, { 'retry-after': '30' }).end('rate_limited'),
    );
    expect(delivery).toEqual({
      kind: 'retry',
      certainty: 'refused',
      afterMs: 30_000,
      isForAll: true,
      reason: 'Slack answered 429 rate_limited',
    });
  });

  it('reads the wait from the JSON body where the header is missing', async () => {
    const { delivery } = await sendTo((response) =>
      response.writeHead(429).end('{"retry_after":7,"ok":false,"error":"rate_limited"}'),
    );
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused', afterMs: 7000 });
  });

  it('never waits longer than an hour', async () => {
    const { delivery } = await sendTo((response) =>
      response.writeHead(429, { 'retry-after': '999999999' }).end(),
    );
    expect(delivery).toMatchObject({ afterMs: 3_600_000 });
  });

  it.each([
    [404, 'no_service'],
    [403, 'invalid_token'],
    [403, 'action_prohibited'],
    [410, 'channel_is_archived'],
  ])('is given up for good on %d %s, without a second post', async (status, word) => {
    const { delivery, receiver } = await sendTo((response) => response.writeHead(status).end(word));
    expect(delivery).toEqual({ kind: 'dead', reason: `Slack answered ${status} ${word}` });
    expect(receiver.received).toHaveLength(1);
  });

  it('sends an unreadable message once more as short plain text', async () => {
    const { delivery, receiver } = await sendTo((response, _, count) =>
      count === 1 ? response.writeHead(400).end('invalid_blocks') : response.end('ok'),
    );
    expect(delivery).toMatchObject({ kind: 'delivered', said: 'Slack answered 200 ok' });
    expect(JSON.parse(receiver.received[1]?.body ?? '')).toEqual({
      text: '🔴 OTP production: pay 1,400 CNY, empty about Sat 23:44 · CRITICAL',
      mrkdwn: false,
    });
  });

  it('gives up what is refused as plain text too, after two posts', async () => {
    const { delivery, receiver } = await sendTo((response) => response.writeHead(400).end('invalid_payload'));
    expect(delivery).toEqual({ kind: 'dead', reason: 'Slack answered 400 invalid_payload' });
    expect(receiver.received).toHaveLength(2);
  });

  it.each([500, 502, 503])('is unknown after a %d, and posted once only', async (status) => {
    const { delivery, receiver } = await sendTo((response) =>
      response.writeHead(status).end('<html>oops</html>'),
    );
    expect(delivery).toEqual({ kind: 'retry', certainty: 'unknown', reason: `Slack answered ${status}` });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    [
      'o',
      {
        kind: 'retry',
        certainty: 'unknown',
        reason: 'Slack answered 200, and the connection was lost before the end',
      },
    ],
    ['ok', { kind: 'delivered', said: 'Slack answered 200 ok' }],
  ])('goes by what came before the connection broke: %s', async (said, expected) => {
    const { delivery } = await sendTo((response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write(said);
      setImmediate(() => response.destroy());
    });
    expect(delivery).toEqual(expected);
  });

  it('is unknown when no answer comes within the deadline', async () => {
    const started = performance.now();
    const { delivery } = await sendTo(() => undefined, { timeoutMs: 150 });
    expect(delivery).toEqual({ kind: 'retry', certainty: 'unknown', reason: 'no complete answer in time' });
    expect(performance.now() - started).toBeLessThan(4500);
  });

  it('follows no redirect, and is dead by it', async () => {
    const { delivery, receiver } = await sendTo((response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    );
    expect(delivery).toMatchObject({ kind: 'dead' });
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['an empty body', 200, ''],
    ['an empty object', 200, '{}'],
    ['an error', 200, '{"error":"denied"}'],
    ['no success', 200, '{"success":false}'],
    ['its own ok that is false', 200, '{"ok":false,"error":"denied"}'],
    ['no content', 204, ''],
    ['the sign-in page of a network', 200, '<html>Please sign in</html>'],
  ])('does not take %s for Slack, and tries three times at most', async (_name, status, body) => {
    const { delivery } = await sendTo((response) => response.writeHead(status).end(body));
    expect(delivery).toMatchObject({
      kind: 'retry',
      certainty: 'unknown',
      tries: 3,
      reason: expect.stringContaining('"accept"'),
    });
  });

  it.each<[string, Accept, string, string]>([
    ['a word in JSON', { path: 'success', equals: true }, '{"success":true}', '{"success":false}'],
    ['a number deep in JSON', { path: 'data.0.code', equals: 0 }, '{"data":[{"code":0}]}', '{"data":[]}'],
    ['the whole body', { path: '', equals: 'queued' }, 'queued\n', 'ok'],
    ['an empty body', { path: '', equals: '' }, '', 'ok'],
  ])('from a server that only resembles Slack is done when it says %s', async (_name, accept, good, bad) => {
    const taken = await sendTo((response) => response.end(good), { accept });
    expect(taken.delivery).toMatchObject({ kind: 'delivered' });
    const refused = await sendTo((response) => response.end(bad), { accept });
    expect(refused.delivery).toMatchObject({ kind: 'retry', certainty: 'refused', tries: 3 });
  });

  it('was surely not done when the connection is refused', async () => {
    const receiver = await startHttpReceiver(() => undefined);
    await receiver.close();
    expect(await sendOn(channelTo(receiver.url))).toEqual({
      kind: 'retry',
      certainty: 'refused',
      reason: 'the connection was refused',
    });
  });

  it('was surely not done when the host name is unknown', async () => {
    const delivery = await sendOn(channelTo('http://no-such-host.invalid/services/very-secret-token'));
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'refused' });
  });

  it('ends at once when lowwater stops', async () => {
    const receiver = await startHttpReceiver(() => undefined);
    open.push(receiver);
    const stop = new AbortController();
    const sending = channelTo(receiver.url).send(buildMessage(), stop.signal);
    stop.abort();
    expect(await sending).toMatchObject({ kind: 'retry', reason: 'given up because lowwater is stopping' });
  });

  it('asks for a second between messages', () => {
    const [ops, night, other] = ['x', 'x', 'y'].map((hook) => {
      const webhookUrl = new Secret(`http://127.0.0.1:9/${hook}`);
      return slackKind.pace({
        type: 'slack',
        name: 'ops',
        place: webhookUrl,
        by: { webhookUrl, accept: null },
        mention: {},
      });
    });
    expect(ops?.minGapMs).toBe(1000);
    expect(night?.paceKey).toBe(ops?.paceKey);
    expect(other?.paceKey).not.toBe(ops?.paceKey);
  });

  it('never shows the address of the webhook, which is its password', async () => {
    const answers: ((response: ServerResponse) => unknown)[] = [
      (response) => response.writeHead(404).end('very-secret-token'),
      (response) => response.destroy(),
      (response) => response.writeHead(302, { location: 'https://very-secret-token.example' }).end(),
    ];
    for (const answer of answers)
      expect(JSON.stringify((await sendTo(answer)).delivery)).not.toContain('secret');
    expect(JSON.stringify(await sendOn(channelTo('not a url: very-secret-token')))).not.toContain('secret');
  });
});

interface SlackOptions {
  readonly timeoutMs?: number;
  readonly accept?: Accept;
}

async function sendTo(
  answer: (response: ServerResponse, post: ReceivedPost, count: number) => unknown,
  options: SlackOptions = {},
): Promise<{ readonly delivery: Delivery; readonly receiver: HttpReceiver }> {
  const receiver = await startHttpReceiver(answer);
  open.push(receiver);
  return { delivery: await sendOn(channelTo(receiver.url, options)), receiver };
}

function channelTo(url: string, options: SlackOptions = {}): Sender {
  const { timeoutMs, ...own } = options;
  const settings = { webhookUrl: new Secret(url), mention: {}, accept: null, ...own };
  const limits = timeoutMs === undefined ? {} : { timeoutMs };
  const channel = openSlackSender(settings, {
    clock: systemClock,
    texts: textsAround(settings),
    ...limits,
  });
  open.unshift(channel);
  return channel;
}

function sendOn(channel: Sender): Promise<Delivery> {
  return channel.send(buildMessage(), new AbortController().signal);
}
