import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { webhookAnswers } from '../../../src/channels/webhook/webhook-kind.ts';
import { renderWebhookPayload } from '../../../src/channels/webhook/webhook-payload.ts';
import { openWebhookSender, signedHeaders } from '../../../src/channels/webhook/webhook-sender.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { isoText } from '../../../src/domain/time.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { hostileNames } from '../../support/hostile-text.ts';
import { type HttpReceiver, startHttpReceiver } from '../../support/http-receiver.ts';
import {
  buildItem,
  buildMessage,
  buildReport,
  buildReportAccount,
  everyMessage,
  messageNow,
} from '../../support/messages.ts';
import { textsAround } from '../../support/settings.ts';

const key = Buffer.from('a key of some thirty-two bytes!!').toString('base64');
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

describe('a webhook', () => {
  it('is signed as Standard Webhooks asks, over exactly what is sent', async () => {
    const { delivery, receiver } = await sendTo((response) => response.writeHead(204).end());
    const [post] = receiver.received;
    expect(delivery).toEqual({ kind: 'delivered', said: 'the receiver answered 204' });
    expect(post?.headers['webhook-id']).toBe(buildMessage().id);
    const timestamp = String(post?.headers['webhook-timestamp']);
    expect(Math.abs(Number(timestamp) - Date.now() / 1000)).toBeLessThan(10);
    const signed = `${buildMessage().id}.${timestamp}.${post?.body ?? ''}`;
    const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest('base64');
    expect(post?.headers['webhook-signature']).toBe(`v1,${signature}`);
  });

  it('matches the example of the specification', () => {
    const headers = signedHeaders({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      body: '{"test": 2432232314}',
      secret: new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'),
      attemptedAt: 1_614_265_330_000,
    });
    expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('goes unsigned where no key is set', () => {
    expect(signedHeaders({ id: 'a', body: '', secret: null, attemptedAt: 0 })).not.toHaveProperty(
      'webhook-signature',
    );
  });

  it.each([
    [410, { kind: 'dead', reason: 'the receiver answered 410' }],
    [404, { kind: 'dead', reason: 'the receiver answered 404' }],
    [
      302,
      {
        kind: 'dead',
        reason: 'the receiver answered 302: a redirect, which is never followed; check the address',
      },
    ],
    [500, { kind: 'retry', certainty: 'unknown', reason: 'the receiver answered 500' }],
    [503, { kind: 'retry', certainty: 'unknown', reason: 'the receiver answered 503' }],
    [429, { kind: 'retry', certainty: 'refused', reason: 'the receiver answered 429' }],
  ])('that is answered with %d', async (status, expected) => {
    const { delivery, receiver } = await sendTo((response) =>
      response.writeHead(status, { location: '/x' }).end('no'),
    );
    expect(delivery).toEqual(expected);
    expect(receiver.received).toHaveLength(1);
  });

  it('honours Retry-After', async () => {
    const { delivery } = await sendTo((response) => response.writeHead(503, { 'retry-after': '12' }).end());
    expect(delivery).toMatchObject({ kind: 'retry', afterMs: 12_000 });
  });

  it('is unknown when the receiver hangs', async () => {
    const { delivery } = await sendTo(() => undefined, 150);
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'unknown' });
  });

  it('is unknown when the connection is reset', async () => {
    const { delivery } = await sendTo((response) => response.destroy());
    expect(delivery).toMatchObject({ kind: 'retry', certainty: 'unknown' });
  });

  it('goes by the status where the body is larger than is read', async () => {
    const { delivery } = await sendTo((response) => {
      response.writeHead(200);
      response.end('x'.repeat(1_000_000));
    });
    expect(delivery).toEqual({ kind: 'delivered', said: 'the receiver answered 200' });
  });
});

describe('the JSON of a webhook', () => {
  it('gives money as decimal strings, times in ISO 8601 and durations in seconds', () => {
    expect(renderWebhookPayload(buildMessage())).toMatchObject({
      type: 'lowwater.alerts',
      timestamp: '2026-11-20T18:41:00.000Z',
      data: {
        headline: 'CRITICAL · OTP production: pay 1,400 CNY, empty about Sat 23:44',
        truncated: 0,
        alerts: [
          {
            state: 'firing',
            account: 'otp',
            rule: 'sms-low',
            type: 'below',
            severity: 'critical',
            value: '42.1',
            threshold: '50',
            firedAt: '2026-11-20T18:22:00.000Z',
            resolvedAt: null,
            reading: { at: '2026-11-20T18:37:00.000Z', sms: '42.1', voip: '80', currency: 'CNY' },
            outlook: { burnPerDay: '48', runwaySeconds: 75780, confidence: 'high', topUpFor30Days: '1397.9' },
          },
        ],
      },
    });
  });

  it.each(Object.entries(everyMessage()))('is JSON that reads back the same: %s', (_, message) => {
    const payload = renderWebhookPayload(message);
    expect(JSON.parse(JSON.stringify(payload))).toEqual(payload);
  });

  it('says of each account of a report since when its spending is known, null where nothing is', () => {
    const accounts = [{}, { spentSince: messageNow - 1000 }, { reading: null }].map((over) =>
      buildReportAccount(over),
    );
    const report = buildReport({ accounts });
    const [since, late] = [report.since, messageNow - 1000].map((at) => isoText(at));
    const data = [since, late, null].map((knownSince) => ({ knownSince }));
    expect(renderWebhookPayload(report)).toMatchObject({ data: { accounts: data } });
  });

  it('says of each account of a report until when its spending is known, null where nothing is', () => {
    const last = messageNow - 86_400_000;
    const accounts = [{}, { spentUntil: last }, { reading: null }].map((over) => buildReportAccount(over));
    const data = [isoText(messageNow), isoText(last), null].map((knownUntil) => ({ knownUntil }));
    expect(renderWebhookPayload(buildReport({ accounts }))).toMatchObject({ data: { accounts: data } });
  });

  it('tells how many alerts were left out of a very long list', () => {
    const payload = renderWebhookPayload(buildMessage(new Array(10_000).fill(buildItem())));
    const { data } = JSON.parse(JSON.stringify(payload));
    expect(data.alerts.length).toBeGreaterThanOrEqual(20);
    expect(data.truncated).toBe(10_000 - data.alerts.length);
    expect(data.url).toMatch(/\/alerts$/);
    expect(Buffer.byteLength(JSON.stringify(payload))).toBeLessThan(64 * 1024);
  });

  it('survives a runway of millions of years', () => {
    const item = buildItem();
    const account = item.account && {
      ...item.account,
      runway: item.account.runway && { ...item.account.runway, emptyAt: 9e15, runwayMs: 9e15 },
    };
    expect(() => renderWebhookPayload(buildMessage([{ ...item, account }]))).not.toThrow();
  });

  it.each(Object.entries(hostileNames))('is well-formed regardless of the name: %s', (_, name) => {
    expect(
      JSON.stringify(renderWebhookPayload(buildMessage([buildItem({ accountName: name })]))).isWellFormed(),
    ).toBe(true);
  });
});

async function sendTo(
  answer: (response: ServerResponse) => unknown,
  timeoutMs = 5000,
): Promise<{ readonly delivery: Delivery; readonly receiver: HttpReceiver }> {
  const receiver = await startHttpReceiver(answer);
  const settings = {
    url: new Secret(receiver.url),
    secret: new Secret(`whsec_${key}`),
    headers: {},
    template: undefined,
    accept: null,
  };
  const channel = openWebhookSender(settings, {
    table: webhookAnswers(null),
    clock: systemClock,
    texts: textsAround(settings),
    timeoutMs,
  });
  open.push(channel, receiver);
  return { delivery: await channel.send(buildMessage(), new AbortController().signal), receiver };
}
