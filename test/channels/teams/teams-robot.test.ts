import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { channelSchema } from '../../../src/channels/registry.ts';
import { render } from '../../../src/channels/teams/teams-robot.ts';
import { json } from '../../support/channel-bed.ts';
import type { ReceivedPost } from '../../support/http-receiver.ts';
import { buildAccount, buildItem, buildMessage, buildReport } from '../../support/messages.ts';
import { hostileMessages, sendBy, takesEveryMessage } from '../../support/robot-bed.ts';

const elements = ['TextBlock', 'FactSet', 'ActionSet'];
const colours = ['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention'];

/** A workflow as it was seen to be: the whole address, an array of attachments, a card of version 1.4 below 28 KB. */
function workflow(response: ServerResponse, post: ReceivedPost): void {
  const { type, attachments } = JSON.parse(post.body);
  const content = attachments?.[0]?.content;
  const good =
    type === 'message' &&
    attachments.length === 1 &&
    attachments[0].contentType === 'application/vnd.microsoft.card.adaptive' &&
    content.type === 'AdaptiveCard' &&
    content.version === '1.4' &&
    content.body.every(
      (element: { type: string; color?: string }) =>
        elements.includes(element.type) && (element.color === undefined || colours.includes(element.color)),
    ) &&
    Buffer.byteLength(post.body) < 28_000;
  if (!post.path.endsWith('&sig=very-secret-signature'))
    json(response, { error: { code: 'AuthorizationFailed', message: 'no' } }, 401);
  else response.writeHead(good ? 202 : 400).end();
}

const send = sendBy((origin) => ({
  type: 'teams',
  webhookUrl: `${origin}/workflows/w/triggers/manual/paths/invoke?api-version=1&sig=very-secret-signature`,
}));

describe('a Teams workflow', () => {
  it('takes an Adaptive Card with figures and links', async () => {
    const { delivery, posts } = await send(workflow);
    expect(delivery).toEqual({ kind: 'delivered', said: 'the Teams workflow answered 202' });
    const { body } = JSON.parse(posts[0]?.body ?? '').attachments[0].content;
    expect(body[0]).toMatchObject({ color: 'Attention', weight: 'Bolder' });
    expect(body.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['FactSet', 'ActionSet']),
    );
  });

  it('mentions people by entities whose text the card holds', () => {
    const mention = { critical: ['mei@example.com'], info: ['lin@example.com'] };
    const [{ body }] = render(buildMessage(), { mention });
    const [{ content }] = JSON.parse(body).attachments;
    const text = '<at>mei@example.com</at>';
    expect(content.msteams.entities).toEqual([
      { type: 'mention', text, mentioned: { id: 'mei@example.com', name: 'mei@example.com' } },
    ]);
    expect(content.body[1]).toMatchObject({ type: 'TextBlock', text });
    const quiet = render(buildMessage([buildItem({ mention: false })]), { mention });
    expect(quiet[0].body).not.toContain('mei@');
  });

  it.each(['mei', '<at>x</at>@example.com', 'mei@example.com>', '123'])(
    'mentions nobody called %s',
    (who) => {
      const webhookUrl = 'https://example.com/x';
      expect(
        channelSchema.safeParse({ type: 'teams', webhookUrl, mention: { critical: [who] } }).success,
      ).toBe(false);
    },
  );

  it.each([
    [
      401,
      { error: { code: 'AuthorizationFailed', message: 'x' } },
      { kind: 'dead', reason: expect.stringContaining('AuthorizationFailed') },
    ],
    [404, {}, { kind: 'dead' }],
    [429, {}, { kind: 'retry', certainty: 'refused' }],
    [502, {}, { kind: 'retry', certainty: 'unknown' }],
  ])('that answers %d', async (status, body, expected) => {
    expect((await send((response) => json(response, body, status))).delivery).toMatchObject(expected);
  });

  takesEveryMessage(send, workflow);

  it('gets no markup from outside', () => {
    for (const message of hostileMessages()) {
      const [{ body }] = render(message, { mention: {} });
      for (const element of JSON.parse(body).attachments[0].content.body)
        if (element.type === 'TextBlock') expect(element.text).not.toMatch(/[[\]<*`]/);
    }
  });

  it('is not one of the connectors that Microsoft has retired', () => {
    const webhookUrl = 'https://example.webhook.office.com/webhookb2/hunter2';
    const { error } = channelSchema.safeParse({ type: 'teams', webhookUrl });
    expect(error?.issues[0]?.message).toContain('retired');
    expect(error?.issues[0]?.message).not.toContain('hunter2');
  });
});

it('never gets more than it shows, also where it counts each letter of Chinese as six bytes', () => {
  const account = buildAccount({
    note: '请'.repeat(300),
    topUpUrl: `https://example.com/${'x'.repeat(200)}`,
  });
  const items = Array.from({ length: 50 }, () => buildItem({ accountName: '短'.repeat(80), account }));
  const [{ body }] = render(buildMessage(items), { mention: {} });
  expect(countedByTeams(body)).toBeLessThanOrEqual(28_672);
});

/** At worst: as a text within JSON, with other letters than ASCII as `\\u` and four digits. */
function countedByTeams(body: string): number {
  return JSON.stringify(body).replaceAll(/[^ -~]/g, '------').length;
}

it('what a report says in all stands line by line in Teams', () => {
  const [{ body }] = render(buildReport(), { mention: {} });
  const blocks = JSON.parse(body).attachments[0].content.body;
  const totals = blocks.filter(({ text = '' }) => / left in all; /.test(text));
  expect(totals.map(({ text = '' }) => text.match(/ left in all/g)?.length)).toEqual([1, 1]);
});
