import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { render } from '../../../src/channels/dingtalk/dingtalk-robot.ts';
import { json } from '../../support/channel-bed.ts';
import type { ReceivedPost } from '../../support/http-receiver.ts';
import { buildItem, buildMessage } from '../../support/messages.ts';
import { hostileMessages, sendBy, takesEveryMessage } from '../../support/robot-bed.ts';

const key = 'SEC0123456789abcdef';
const token = 'very-secret-token';

/** A robot as its documentation says: address, signature of the last hour, and one of the message types it knows. */
function robot(response: ServerResponse, post: ReceivedPost): void {
  const url = new URL(post.path, 'http://robot');
  const sentAt = Number(url.searchParams.get('timestamp'));
  const expected = createHmac('sha256', key).update(`${sentAt}\n${key}`).digest('base64');
  if (url.pathname !== '/robot/send' || url.searchParams.get('access_token') !== token)
    json(response, { errcode: 400_101, errmsg: `token is not exist ${token}` });
  else if (Math.abs(Date.now() - sentAt) > 3_600_000 || url.searchParams.get('sign') !== expected)
    json(response, { errcode: 310_000, errmsg: 'sign not match' });
  else {
    const { msgtype, markdown, at } = JSON.parse(post.body);
    const good =
      msgtype === 'markdown' &&
      typeof markdown.title === 'string' &&
      typeof markdown.text === 'string' &&
      Array.isArray(at.atMobiles);
    json(response, good ? { errcode: 0, errmsg: 'ok' } : { errcode: 40_035, errmsg: 'param error' });
  }
}

const send = sendBy((origin) => ({
  type: 'dingtalk',
  webhookUrl: `${origin}/robot/send?access_token=${token}`,
  secret: key,
  mention: { critical: ['13800138000', 'user7', 'all'] },
}));

describe('a DingTalk robot', () => {
  it('takes what is signed as it asks', async () => {
    const { delivery, posts } = await send(robot);
    expect(delivery).toEqual({ kind: 'delivered', said: 'DingTalk answered 200 0 ok' });
    const body = JSON.parse(posts[0]?.body ?? '');
    expect(body.markdown.title).toContain('CRITICAL · OTP production');
    expect(body.at).toEqual({ atMobiles: ['13800138000'], atUserIds: ['user7'], isAtAll: true });
    expect(body.markdown.text).toContain('@13800138000 @user7');
    expect(body.msgUuid).toBe(buildMessage().id);
  });

  it('gets a title that holds whole facts, however long the name', async () => {
    const { posts } = await send(robot, {
      message: buildMessage([buildItem({ accountName: 'n'.repeat(80) })]),
    });
    expect(JSON.parse(posts[0]?.body ?? '').markdown.title).toMatch(/^🔴 CRITICAL · n+…: pay 1,400 CNY$/u);
  });

  it('that takes nothing from an address for a while is asked again, as often as it takes', async () => {
    const { delivery } = await send((response) =>
      json(response, { status: 1111, wait: 5, source: 'x5', punish: 'deny', uuid: 'x' }),
    );
    expect(delivery).toEqual({
      kind: 'retry',
      certainty: 'refused',
      reason: 'DingTalk answered 200',
      afterMs: 5000,
      isForAll: true,
    });
  });

  it('that refuses the signature refuses for good, and what it repeats of the token is not reported', async () => {
    const { delivery } = await send(robot, { secret: 'SECwrong' });
    expect(delivery).toMatchObject({
      kind: 'dead',
      reason: expect.stringContaining('310000 sign not match'),
    });
    const unknown = await send((response) => json(response, { errcode: 400_101, errmsg: `no ${token}` }));
    expect(JSON.stringify(unknown.delivery)).not.toContain(token);
  });

  it.each([
    [
      { errcode: 130_101, errmsg: 'send too fast', wait: 300 },
      { kind: 'retry', certainty: 'refused', afterMs: 300_000 },
    ],
    [
      { errcode: 130_101, wait: 5 },
      { kind: 'retry', certainty: 'refused', afterMs: 5000 },
    ],
    [{ errcode: 90_030 }, { kind: 'retry', certainty: 'refused', afterMs: 60_000 }],
    [
      { errcode: -1, errmsg: 'system busy' },
      { kind: 'retry', certainty: 'refused' },
    ],
    [{ errcode: 400_102, errmsg: 'robot is disabled' }, { kind: 'dead' }],
    [{}, { kind: 'retry', certainty: 'unknown', tries: 3 }],
  ])('that answers %j', async (answer, expected) => {
    expect((await send((response) => json(response, answer))).delivery).toMatchObject(expected);
  });

  takesEveryMessage(send, robot);

  it('gets no markup from outside, and never more than it takes', () => {
    for (const message of hostileMessages()) {
      const [{ body }] = render(message, { mention: {} });
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(15_000);
      expect(JSON.parse(body).markdown.text.replace(/\[[^\]]*\]\(https:[^)]*\)/g, '')).not.toMatch(/[[\]<]/);
    }
  });

  it('mentions nobody in a message that its route makes quiet', () => {
    const quiet = buildMessage([buildItem({ mention: false })]);
    const [{ body }] = render(quiet, { mention: { critical: ['all'] } });
    expect(JSON.parse(body).at.isAtAll).toBe(false);
  });
});
