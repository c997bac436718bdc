import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { renderAlerts } from '../../../src/channels/alertmanager/alertmanager-sender.ts';
import { render } from '../../../src/channels/pagerduty/render-pagerduty.ts';
import type { Message, MessageItem } from '../../../src/domain/message.ts';
import { json, type Sending, sendThrough } from '../../support/channel-bed.ts';
import type { ReceivedPost } from '../../support/http-receiver.ts';
import {
  buildItem,
  buildMessage,
  buildReport,
  buildTestMessage,
  everyMessage,
  messageNow,
} from '../../support/messages.ts';
import { hostileMessages } from '../../support/robot-bed.ts';

const routingKey = 'verysecretroutingkey000000000000';

/** The Events API as its documentation says: key, action, dedup key, and what a trigger has to hold. */
function eventsApi(response: ServerResponse, post: ReceivedPost): void {
  const { routing_key, event_action, dedup_key, payload } = JSON.parse(post.body);
  const errors: string[] = [];
  if (routing_key !== routingKey) errors.push('invalid routing key');
  if (post.path === '/v2/enqueue') {
    if (!['trigger', 'acknowledge', 'resolve'].includes(event_action)) errors.push('invalid event action');
    if (typeof dedup_key !== 'string' || dedup_key.length > 255) errors.push('invalid dedup key');
    if (event_action === 'trigger' && !['critical', 'error', 'warning', 'info'].includes(payload.severity))
      errors.push('invalid severity');
  } else if (post.path !== '/v2/change/enqueue') errors.push('no such endpoint');
  if (
    payload !== undefined &&
    !(
      payload.summary.length <= 1024 &&
      /^.{1,255}$/u.test(payload.source) &&
      !/\p{Cc}|\u202e/u.test(payload.source)
    )
  )
    errors.push('invalid payload');
  if (errors.length > 0)
    json(response, { status: 'invalid event', message: 'Event object is invalid', errors }, 400);
  else json(response, { status: 'success', message: 'Event processed', dedup_key }, 202);
}

function send(
  answer: (response: ServerResponse, post: ReceivedPost, count: number) => void,
  message?: Message,
  key = routingKey,
): Promise<Sending> {
  return sendThrough({
    config: (origin) => ({ type: 'pagerduty', baseUrl: origin, routingKey: key }),
    answer,
    ...(message === undefined ? {} : { message }),
  });
}

const acknowledgement = { at: messageNow, by: 'kim', comment: '', rises: 0, severity: 'critical' } as const;

describe('PagerDuty', () => {
  it('opens, takes and closes one incident under one key', () => {
    const events = [
      buildItem(),
      buildItem({ incident: { acknowledgement } }),
      buildItem({ kinds: ['resolved'], resolvedAt: messageNow }),
    ].flatMap((item) => render(buildMessage([item])).map(({ event }) => event));
    expect(events.map(({ event_action }) => event_action)).toEqual(['trigger', 'acknowledge', 'resolve']);
    expect(new Set(events.map((event) => ('dedup_key' in event ? event.dedup_key : null)))).toEqual(
      new Set(['lowwater/otp/sms-low']),
    );
  });

  it('never opens again what is over, though the message was written for its beginning', () => {
    const late = buildItem({ kinds: ['firing'], resolvedAt: messageNow });
    expect(render(buildMessage([late]))).toMatchObject([{ event: { event_action: 'resolve' } }]);
  });

  it('wakes nobody for a top-up, a report or a test', () => {
    const topUp = buildItem({ kinds: ['event'], type: 'top-up', severity: 'info' });
    for (const message of [buildMessage([topUp]), buildReport(), buildTestMessage()])
      expect(render(message)).toMatchObject([{ event: { event_action: 'change' } }]);
  });

  it('hears of what got worse under the same key, and under another where somebody had taken the first', () => {
    const eventsOf = (item: MessageItem): readonly string[] =>
      render(buildMessage([item])).map(({ event }) =>
        'dedup_key' in event ? `${event.event_action} ${event.dedup_key}` : event.event_action,
      );
    const worse = { kinds: ['worse'] as const, incident: { rises: 1, acknowledgement } };
    expect(eventsOf(buildItem({ ...worse, keys: { first: 0, newest: 1, taken: null } }))).toEqual([
      'trigger lowwater/otp/sms-low',
    ]);
    const keys = { first: 0, newest: 1, taken: 0 };
    expect(eventsOf(buildItem({ ...worse, keys }))).toEqual([
      'trigger lowwater/otp/sms-low',
      'trigger lowwater/otp/sms-low/2',
    ]);
    const again = { incident: { rises: 1, acknowledgement: { ...acknowledgement, rises: 1 } } };
    expect(eventsOf(buildItem({ ...again, keys: { ...keys, taken: 1 } }))).toEqual([
      'acknowledge lowwater/otp/sms-low',
      'acknowledge lowwater/otp/sms-low/2',
    ]);
    expect(eventsOf(buildItem({ kinds: ['resolved'], resolvedAt: messageNow, keys }))).toEqual([
      'resolve lowwater/otp/sms-low',
      'resolve lowwater/otp/sms-low/2',
    ]);
  });

  it('gets one event for each alert', async () => {
    const { delivery, posts } = await send(
      eventsApi,
      buildMessage([buildItem(), buildItem({ rule: 'other', incident: { rule: 'other' } })]),
    );
    expect(delivery).toEqual({ kind: 'delivered', said: 'PagerDuty answered 202 Event processed' });
    expect(posts).toHaveLength(2);
  });

  const three = ['one', 'two', 'three'].map((rule) => buildItem({ rule, incident: { rule } }));

  it('takes names that nobody should choose', async () => {
    for (const message of hostileMessages(['\u200b']))
      expect((await send(eventsApi, message)).delivery).toMatchObject({ kind: 'delivered' });
  });

  it('loses none of the alerts behind one that is refused, and names that one', async () => {
    const { delivery, posts } = await send((response, post, count) => {
      if (count === 1) json(response, { errors: ['payload is invalid'] }, 400);
      else eventsApi(response, post);
    }, buildMessage(three));
    expect(posts).toHaveLength(3);
    expect(delivery).toMatchObject({
      kind: 'delivered',
      refusedRecipients: ['otp/one'],
      refusal: expect.stringContaining('400 payload is invalid'),
    });
    expect(delivery).not.toHaveProperty('owed');
  });

  it('is owed only what failed for now, and gets only that the next time', async () => {
    const first = await send((response, post, count) => {
      if (count === 2) json(response, {}, 503);
      else eventsApi(response, post);
    }, buildMessage(three));
    expect(first.delivery).toMatchObject({ kind: 'delivered', owed: { recipients: ['otp/two'] } });
    const next = await send(eventsApi, buildMessage(three, { recipients: ['otp/two'] }));
    expect(next.delivery).toEqual({ kind: 'delivered', said: 'PagerDuty answered 202 Event processed' });
    expect(next.posts.map(({ body }) => JSON.parse(body).dedup_key)).toEqual(['lowwater/otp/two']);
  });

  it('that asks to wait gets nothing more of the message until then', async () => {
    const { delivery, posts } = await send((response, post, count) => {
      if (count === 2) response.writeHead(429, { 'retry-after': '60' }).end();
      else eventsApi(response, post);
    }, buildMessage(three));
    expect(posts).toHaveLength(2);
    expect(delivery).toMatchObject({ owed: { recipients: ['otp/three', 'otp/two'], afterMs: 60_000 } });
  });

  it('does not close the incident of now by the end of the one before', () => {
    const ended = buildItem({ kinds: ['resolved'], resolvedAt: messageNow });
    const again = buildItem({ firedAt: messageNow });
    expect(render(buildMessage([again, ended]))).toMatchObject([{ event: { event_action: 'trigger' } }]);
  });

  it('hears of the incident of now where the one before began by a clock that was set back since', () => {
    const ahead = messageNow + 3_600_000;
    const ended = buildItem({ kinds: ['firing', 'resolved'], firedAt: ahead, resolvedAt: ahead });
    const again = buildItem({ firedAt: messageNow });
    expect(render(buildMessage([again, ended]))).toMatchObject([{ event: { event_action: 'trigger' } }]);
    expect(renderAlerts(buildMessage([again, ended]), {})).toMatchObject([
      { endsAt: new Date(messageNow + 15 * 60_000).toISOString() },
    ]);
  });

  it.each(Object.entries(everyMessage()))('takes every message: %s', async (_name, message) => {
    expect((await send(eventsApi, message)).delivery).toMatchObject({ kind: 'delivered' });
  });

  it('that does not know the key refuses for good, and the key is not reported', async () => {
    const { delivery } = await send(eventsApi, undefined, 'x'.repeat(32));
    expect(delivery).toMatchObject({ kind: 'dead', reason: expect.stringContaining('invalid routing key') });
    const echoed = await send((response) => json(response, { errors: [`bad ${routingKey}`] }, 400));
    expect(JSON.stringify(echoed.delivery)).not.toContain(routingKey);
  });

  it.each([
    [429, { kind: 'retry', certainty: 'refused', afterMs: 30_000 }],
    [500, { kind: 'retry', certainty: 'unknown' }],
    [200, { kind: 'retry', certainty: 'unknown', tries: 3 }],
  ])('that answers %d', async (status, expected) => {
    expect((await send((response) => json(response, {}, status))).delivery).toMatchObject(expected);
  });
});
