import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { render } from '../../../src/channels/wecom/wecom-robot.ts';
import { json } from '../../support/channel-bed.ts';
import type { ReceivedPost } from '../../support/http-receiver.ts';
import { buildMessage, everyMessage } from '../../support/messages.ts';
import { hostileMessages, sendBy, takesEveryMessage } from '../../support/robot-bed.ts';

/** A robot as its documentation says: its key, the two types used here, and their sizes. */
function robot(response: ServerResponse, post: ReceivedPost): void {
  const { msgtype, markdown, text } = JSON.parse(post.body);
  if (post.path !== '/cgi-bin/webhook/send?key=very-secret-key')
    json(response, { errcode: 93_000, errmsg: 'invalid webhook url' });
  else if (msgtype === 'markdown' && Buffer.byteLength(markdown.content) <= 4096)
    json(response, { errcode: 0, errmsg: 'ok' });
  else if (msgtype === 'text' && Buffer.byteLength(text.content) <= 2048)
    json(response, { errcode: 0, errmsg: 'ok' });
  else json(response, { errcode: 40_058, errmsg: 'markdown.content exceed max length 4096' });
}

const send = sendBy((origin) => ({
  type: 'wecom',
  webhookUrl: `${origin}/cgi-bin/webhook/send?key=very-secret-key`,
}));

describe('a WeCom robot', () => {
  it('takes Markdown', async () => {
    const { delivery, posts } = await send(robot);
    expect(delivery).toEqual({ kind: 'delivered', said: 'WeCom answered 200 0 ok' });
    expect(posts).toHaveLength(1);
    expect(JSON.parse(posts[0]?.body ?? '').markdown.content).toContain('CRITICAL · OTP production');
  });

  it('mentions people by a line of text that follows', async () => {
    const { posts } = await send(robot, { mention: { critical: ['zhangsan', '13800138000', 'all'] } });
    expect(JSON.parse(posts[1]?.body ?? '')).toMatchObject({
      msgtype: 'text',
      text: { mentioned_list: ['zhangsan', '@all'], mentioned_mobile_list: ['13800138000'] },
    });
  });

  it('is not shown the message again when only the mention is refused for now', async () => {
    const mention = { mention: { critical: ['zhangsan'] } };
    const busy = { errcode: -1, errmsg: 'system busy' };
    const { delivery } = await send(
      (response, post, count) => (count === 2 ? json(response, busy) : robot(response, post)),
      mention,
    );
    expect(delivery).toMatchObject({ kind: 'delivered', owed: { recipients: ['the mention'] } });
    const next = await send(robot, {
      ...mention,
      message: buildMessage(undefined, { recipients: ['the mention'] }),
    });
    expect(next.posts.map(({ body }) => JSON.parse(body).msgtype)).toEqual(['text']);
  });

  it.each([
    [
      { errcode: 45_009, errmsg: 'api freq out of limit' },
      { kind: 'retry', certainty: 'refused', afterMs: 60_000 },
    ],
    [
      { errcode: 45_033, errmsg: 'api concurrent out of limit' },
      { kind: 'retry', certainty: 'refused', afterMs: 60_000 },
    ],
    [
      { errcode: -1, errmsg: 'system busy' },
      { kind: 'retry', tries: 4 },
    ],
    [{ errcode: 93_000, errmsg: 'invalid webhook url' }, { kind: 'dead' }],
    [{ errcode: 40_058 }, { kind: 'dead' }],
    [{}, { kind: 'retry', certainty: 'unknown', tries: 3 }],
  ])('that answers %j', async (answer, expected) => {
    expect((await send((response) => json(response, answer))).delivery).toMatchObject(expected);
  });

  takesEveryMessage(send, robot);

  it('shows an amount below zero in bold: no space stands behind the asterisks', () => {
    const { markdown } = JSON.parse(
      render(everyMessage().negative ?? buildMessage(), { mention: {} })[0].body,
    );
    expect(markdown.content).toMatch(/\*\*[^\s*]?-\d[^*]*\*\*/);
    expect(markdown.content).not.toMatch(/: \*\*\s/);
  });

  it('gets no mention from outside, and never more than it takes', () => {
    for (const message of hostileMessages(['<@all>', '余额'.repeat(200)])) {
      const [sent, mention] = render(message, { mention: { critical: ['zhangsan'] } });
      const { msgtype, markdown } = JSON.parse(sent.body);
      expect(msgtype).toBe('markdown');
      expect(Buffer.byteLength(markdown.content)).toBeLessThanOrEqual(4096);
      expect(markdown.content).not.toContain('<');
      expect(JSON.parse(mention?.body ?? '').text.content).not.toContain('<');
    }
  });
});
