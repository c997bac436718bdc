import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { renderWecom } from '../../../src/channels/wecom/render-wecom.ts';
import type { Message } from '../../../src/domain/message.ts';
import { json, type Sending, sendThrough } from '../../support/channel-bed.ts';
import { hostileNames } from '../../support/hostile-text.ts';
import type { ReceivedPost } from '../../support/http-receiver.ts';
import { buildMessage, buildNotice, everyMessage } from '../../support/messages.ts';

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

function send(
  answer: (response: ServerResponse, post: ReceivedPost) => void,
  it: { readonly mention?: object; readonly message?: Message } = {},
): Promise<Sending> {
  const { mention = {}, message } = it;
  return sendThrough({
    config: (origin) => ({
      type: 'wecom',
      webhookUrl: `${origin}/cgi-bin/webhook/send?key=very-secret-key`,
      mention,
    }),
    answer,
    ...(message === undefined ? {} : { message }),
  });
}

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

  it.each([
    [
      { errcode: 45_009, errmsg: 'api freq out of limit' },
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

  it.each(Object.entries(everyMessage()))('takes every message: %s', async (_name, message) => {
    expect((await send(robot, { message })).delivery).toMatchObject({ kind: 'delivered' });
  });

  it('gets no mention from outside, and never more than it takes', () => {
    for (const accountName of [...Object.values(hostileNames), '<@all>', '余额'.repeat(200)]) {
      const notices = Array.from({ length: 50 }, () => buildNotice({ accountName }));
      const [payload] = renderWecom(buildMessage(notices), {});
      if (payload?.msgtype !== 'markdown') throw new Error('no Markdown');
      expect(Buffer.byteLength(payload.markdown.content)).toBeLessThanOrEqual(4096);
      expect(payload.markdown.content).not.toContain('<');
    }
  });
});
