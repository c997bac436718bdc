import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChannel } from '../../../src/channels/registry.ts';
import type { Message, MessageItem } from '../../../src/domain/message.ts';
import type { Channel, Delivery } from '../../../src/ports/channel.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { systemClock } from '../../../src/system/clock.ts';
import { buildAccount, buildItem, buildMessage, everyMessage, messageNow } from '../../support/messages.ts';
import { channelOf, textsAround } from '../../support/settings.ts';
import { apiChannel, apiToken, type SlackApi, startSlackApi } from '../../support/slack-api.ts';

let slack: SlackApi;
let channel: Channel;
let pauses: number[];

/** What is left between two calls passes at once; the deadline of a whole message is a real one. */
const clock: Clock = {
  ...systemClock,
  setTimer(delayMs, fire) {
    if (delayMs > 2_000) return systemClock.setTimer(delayMs, fire);
    pauses.push(delayMs);
    return systemClock.setTimer(0, fire);
  },
};

beforeEach(async () => {
  slack = await startSlackApi();
  pauses = [];
  channel = openBot();
});

afterEach(async () => {
  await channel.close();
  await slack.close();
});

function openBot(over: object = {}): Channel {
  const settings = channelOf('ops', {
    type: 'slack',
    botToken: apiToken,
    channel: apiChannel.name,
    apiUrl: slack.url,
    mention: { critical: ['here'] },
    ...over,
  });
  return createChannel(settings, { clock, texts: textsAround(settings) });
}

const send = (message: Message): Promise<Delivery> => channel.send(message, new AbortController().signal);

/** The name that Slack gave to the message. */
function receiptOf(delivery: Delivery): string {
  if (delivery.kind !== 'delivered' || delivery.receipt === undefined)
    throw new Error(JSON.stringify(delivery));
  return delivery.receipt;
}

const acknowledgement = {
  at: messageNow,
  by: 'Mei',
  comment: 'paying',
  rises: 0,
  severity: 'critical',
} as const;

function acknowledged(receipt: string): MessageItem {
  return buildItem({ kinds: ['acknowledged'], receipt, incident: { acknowledgement } });
}

function resolved(receipt: string): MessageItem {
  return buildItem({
    kinds: ['resolved'],
    receipt,
    resolvedAt: messageNow,
    resolution: { kind: 'recovered' },
    incident: { resolvedAt: messageNow, resolution: { kind: 'recovered' } },
  });
}

describe('a Slack bot', () => {
  it('takes every message within the limits of the documentation', async () => {
    for (const [name, message] of Object.entries(everyMessage())) {
      slack.next.length = 0;
      expect(await send(message), name).toMatchObject({ kind: 'delivered' });
    }
    expect(slack.messages.every(({ attachments }) => attachments.length === 1)).toBe(true);
  });

  it('posts the first message into the channel, and says what Slack calls it', async () => {
    const delivery = await send(buildMessage());
    expect(delivery).toEqual({
      kind: 'delivered',
      said: 'Slack answered 200',
      receipt: `${apiChannel.name} ${apiChannel.id} ${slack.messages[0]?.ts}`,
    });
    expect(slack.messages).toMatchObject([{ thread: null, text: expect.stringMatching(/^<!here> 🔴 /) }]);
  });

  it('tells what follows in the thread, and in the channel too while somebody has to act', async () => {
    const receipt = receiptOf(await send(buildMessage()));
    const delivery = await send(buildMessage([buildItem({ kinds: ['reminder'], receipt })]));
    expect(delivery).not.toHaveProperty('receipt');
    const [first, reply] = slack.messages;
    expect(reply).toMatchObject({ thread: first?.ts, broadcast: true });
    expect(first?.edits).toBe(1);
  });

  it.each([
    ['acknowledged', acknowledged, /Mei/],
    ['resolved', resolved, /✅/],
  ])('says in the thread alone that it is %s, and then edits the first message', async (_, item, shown) => {
    const receipt = receiptOf(await send(buildMessage()));
    await send(buildMessage([item(receipt)]));
    const [first, reply] = slack.messages;
    expect(first?.edits).toBe(1);
    expect(JSON.stringify(first)).toMatch(shown);
    expect(JSON.stringify(first)).not.toContain('before this channel could be notified');
    expect(first?.text).not.toContain('<!here>');
    expect(reply).toMatchObject({ thread: first?.ts, broadcast: false });
    expect(slack.posts.map(({ path }) => path)).toEqual([
      '/api/chat.postMessage',
      '/api/chat.postMessage',
      '/api/chat.update',
    ]);
    expect(pauses).toEqual([1200]);
  });

  it('edits the first message of several incidents as a whole, by what is so of each', async () => {
    const second = { account: buildAccount({ id: 'ads', name: 'Marketing' }), accountName: 'Marketing' };
    const receipt = receiptOf(await send(buildMessage([buildItem(), buildItem(second)])));
    const companions = [buildItem({ ...second, receipt })];
    await send(buildMessage([resolved(receipt)], { companions }));
    const [first] = slack.messages;
    expect(JSON.stringify(first)).toMatch(/Marketing/);
    expect(JSON.stringify(first)).toMatch(/✅/);
  });

  it('edits the first message of several incidents to begin with the most urgent one, whichever changed', async () => {
    const second = { account: buildAccount({ id: 'ads', name: 'Marketing' }), accountName: 'Marketing' };
    const receipt = receiptOf(await send(buildMessage([buildItem(), buildItem(second)])));
    const over = resolved(receipt);
    await send(buildMessage([over], { companions: [buildItem({ ...second, receipt }), over] }));
    const [first] = slack.messages;
    expect(first?.text).toMatch(/^🔴 1 CRITICAL, 1 RESOLVED · Marketing: .*; and 1 more alert$/);
  });

  it('begins again for what was sent in several threads, and edits each of their first messages', async () => {
    const one = receiptOf(await send(buildMessage()));
    const two = receiptOf(await send(buildMessage()));
    const delivery = await send(buildMessage([resolved(one), resolved(two)]));
    expect(delivery).toHaveProperty('receipt');
    expect(slack.messages.map(({ thread, edits }) => ({ thread, edits }))).toEqual([
      { thread: null, edits: 1 },
      { thread: null, edits: 1 },
      { thread: null, edits: 0 },
    ]);
  });

  it('begins again where the first message is gone, or stands in another channel', async () => {
    const receipt = receiptOf(await send(buildMessage()));
    slack.remove(slack.messages[0]?.ts ?? '');
    expect(await send(buildMessage([resolved(receipt)]))).toHaveProperty('receipt');
    const elsewhere = receipt.replace(apiChannel.name, '#other');
    expect(await send(buildMessage([resolved(elsewhere)]))).toHaveProperty('receipt');
    expect(slack.messages.map(({ thread }) => thread)).toEqual([null, null]);
  });

  it.each(['restricted_action_thread_locked', 'restricted_action_non_threadable_channel'])(
    'says in the channel what it may not say in the thread: %s',
    async (refusal) => {
      const receipt = receiptOf(await send(buildMessage()));
      slack.next.push(refusal);
      expect(await send(buildMessage([resolved(receipt)]))).toHaveProperty('receipt');
      expect(slack.messages.map(({ thread }) => thread)).toEqual([null, null]);
    },
  );

  it.each(['invalid_blocks', 'attachment_payload_limit_exceeded'])(
    'sends a layout that Slack refuses once more as plain text: %s',
    async (refusal) => {
      slack.next.push(refusal);
      expect(await send(buildMessage())).toMatchObject({ kind: 'delivered' });
      expect(slack.messages).toMatchObject([{ attachments: [] }]);
    },
  );

  it('tells the end although the first message cannot be edited for now, and owes the edit alone', async () => {
    const receipt = receiptOf(await send(buildMessage()));
    slack.refuse('chat.update', 'internal_error');
    const end = buildMessage([resolved(receipt)]);
    const delivery = await send(end);
    const edit = `the edit of ${slack.messages[0]?.ts}`;
    expect(delivery).toMatchObject({ kind: 'delivered', owed: { recipients: [edit] } });
    expect(slack.messages.map(({ edits }) => edits)).toEqual([0, 0]);
    expect(await send({ ...end, recipients: [edit] })).toMatchObject({ kind: 'retry' });
    slack.refuse('chat.update', null);
    expect(await send({ ...end, recipients: [edit] })).toMatchObject({ kind: 'delivered' });
    expect(slack.messages.map(({ edits }) => edits)).toEqual([1, 0]);
  });

  it('edits no message before it may, where Slack asked to wait after the edit of another, and posts meanwhile', async () => {
    const receipts = [receiptOf(await send(buildMessage())), receiptOf(await send(buildMessage()))];
    const [first, second] = receipts.map((receipt) => buildMessage([resolved(receipt)]));
    slack.limit('chat.update', 30);
    expect(await send(first ?? buildMessage())).toMatchObject({ owed: { afterMs: 30_000 } });
    const calls = slack.posts.length;
    const { owed } = Object(await send(second ?? buildMessage()));
    expect(owed.afterMs).toBeGreaterThan(20_000);
    expect(owed).not.toHaveProperty('isForAll', true);
    expect(slack.posts.slice(calls).map(({ path }) => path)).toEqual(['/api/chat.postMessage']);
  });

  it('asks for no edit again that Slack refuses for good', async () => {
    const receipt = receiptOf(await send(buildMessage()));
    slack.refuse('chat.update', 'cant_update_message');
    const delivery = await send(buildMessage([buildItem({ kinds: ['worse'], receipt })]));
    expect(delivery).toMatchObject({ kind: 'delivered' });
    expect(delivery).not.toHaveProperty('owed');
  });

  it.each([
    ['invalid_auth', 'dead', /check "botToken"/],
    ['not_in_channel', 'dead', /invite the bot/],
    ['a_word_of_tomorrow', 'dead', /a_word_of_tomorrow/],
    ['fatal_error', 'retry', /fatal_error/],
    ['ratelimited', 'retry', /ratelimited/],
    ['team_added_to_org', 'retry', /team_added_to_org/],
    ['org_login_required', 'retry', /org_login_required/],
  ])('takes %s for %s', async (word, kind, reason) => {
    slack.next.push(word);
    expect(await send(buildMessage())).toMatchObject({ kind, reason: expect.stringMatching(reason) });
  });

  it('waits as long as a 429 says and no longer, and does so itself', async () => {
    slack.next.push({ status: 429, headers: { 'retry-after': '2' } });
    expect(await send(buildMessage())).toMatchObject({
      kind: 'retry',
      certainty: 'refused',
      afterMs: 2000,
    });
    expect(slack.posts).toHaveLength(1);
  });

  it('follows no redirect, which would carry the token away', async () => {
    slack.next.push({ status: 302, headers: { location: 'http://127.0.0.1:9/' } });
    expect(await send(buildMessage())).toMatchObject({
      kind: 'dead',
      reason: expect.stringMatching(/redirect/),
    });
  });

  it('shows its token nowhere', async () => {
    await channel.close();
    channel = openBot({ botToken: `${apiToken}-wrong` });
    const delivery = await send(buildMessage());
    expect(delivery).toMatchObject({ kind: 'dead' });
    expect(JSON.stringify(delivery)).not.toContain('very-secret');
    expect(await channel.preview(buildMessage())).not.toContain('very-secret');
    expect(slack.posts.every(({ body }) => !body.includes('very-secret'))).toBe(true);
  });
});
