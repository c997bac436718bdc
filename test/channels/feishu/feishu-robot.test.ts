import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { render } from '../../../src/channels/feishu/feishu-robot.ts';
import { json } from '../../support/channel-bed.ts';
import type { ReceivedPost } from '../../support/http-receiver.ts';
import { buildReport } from '../../support/messages.ts';
import { hostileMessages, sendBy, takesEveryMessage } from '../../support/robot-bed.ts';

const key = 'feishu-signing-key';

/** A bot as its documentation says: signature of the last hour, at most 20 KB, an interactive card. */
function bot(response: ServerResponse, post: ReceivedPost): void {
  const { timestamp, sign, msg_type, card } = JSON.parse(post.body);
  const expected = createHmac('sha256', `${timestamp}\n${key}`).digest('base64');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 3600 || sign !== expected)
    json(response, { code: 19_021, msg: 'sign match fail or timestamp is not within one hour' });
  else if (
    Buffer.byteLength(post.body) > 20_480 ||
    msg_type !== 'interactive' ||
    !Array.isArray(card.elements)
  )
    json(response, { code: 9499, msg: 'Bad Request', data: {} }, 400);
  else json(response, { code: 0, msg: 'success', data: {}, StatusCode: 0, StatusMessage: 'success' });
}

const send = sendBy((origin) => ({
  type: 'feishu',
  webhookUrl: `${origin}/open-apis/bot/v2/hook/very-secret-token`,
  secret: key,
  mention: { critical: ['ou_18eac85d35a26f989317ad4f02e8bbbb', 'all'] },
}));

describe('a Feishu bot', () => {
  it('takes a card that is signed as it asks', async () => {
    const { delivery, posts } = await send(bot);
    expect(delivery).toEqual({ kind: 'delivered', said: 'Feishu answered 200 0 success' });
    const { card } = JSON.parse(posts[0]?.body ?? '');
    expect(card.header).toMatchObject({ template: 'red', title: { tag: 'plain_text' } });
    expect(card.elements.at(-1).text.content).toBe(
      '<at id=ou_18eac85d35a26f989317ad4f02e8bbbb></at> <at id=all></at>',
    );
  });

  it('that refuses the signature gets one more try with a new one', async () => {
    const { delivery } = await send(bot, { secret: 'wrong' });
    expect(delivery).toMatchObject({ kind: 'retry', tries: 2, reason: expect.stringContaining('clock') });
  });

  it.each([
    [200, { code: 11_232, msg: 'too many request' }, {}, { kind: 'retry', certainty: 'refused' }],
    [400, { code: 99_991_400 }, { 'x-ogw-ratelimit-reset': '7' }, { kind: 'retry', afterMs: 7000 }],
    [200, { code: 19_024, msg: 'Key Words Not Found' }, {}, { kind: 'dead' }],
    [400, { code: 9499, msg: 'Bad Request' }, {}, { kind: 'dead' }],
    [
      400,
      { code: 9499, msg: 'too many request', data: {} },
      {},
      { kind: 'retry', certainty: 'refused', afterMs: 5000 },
    ],
    [200, { ok: true }, {}, { kind: 'retry', certainty: 'unknown', tries: 3 }],
  ])('that answers %d %j', async (status, body, headers, expected) => {
    const { delivery } = await send((response) =>
      response.writeHead(status, { ...headers }).end(JSON.stringify(body)),
    );
    expect(delivery).toMatchObject(expected);
  });

  takesEveryMessage(send, bot);

  it('gets no mention and no link from outside, and never more than it takes', () => {
    for (const message of hostileMessages()) {
      const [{ body }] = render(message, { mention: {} });
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20_000);
      for (const text of body.match(/"lark_md","content":"[^"]*"/g) ?? []) expect(text).not.toMatch(/[<[]/);
    }
  });
});

it('what a report says in all stands line by line in Feishu', () => {
  const [{ body }] = render(buildReport(), { mention: {} });
  const text: string = JSON.parse(body).card.elements[0].text.content;
  expect(text.split('\n').filter((line) => / left in all; /.test(line))).toHaveLength(2);
});
