import * as z from 'zod';
import { isUnencrypted } from '../../domain/addresses.ts';
import { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress, plainAddress } from '../../schema/addresses.ts';
import { filledList, shape } from '../../schema/shapes.ts';
import { secret, textLeaf } from '../../schema/texts.ts';
import { acceptSchema, commonAnswers } from '../answers.ts';
import { standingOf } from '../chats/keep-listening.ts';
import { hostOf, keysAtHost } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { type Mention, mentionSchema } from '../mention.ts';
import { slackAnswers, slackBotAnswers } from './slack-answers.ts';
import type { SlackBot } from './slack-bot.ts';
import type { SlackWebhook } from './slack-sender.ts';

export const slackSchema = shape({
  type: z
    .literal('slack')
    .describe('Messages by a Slack incoming webhook, or by a bot that answers in threads.'),
  webhookUrl: credentialAddress(
    'Address of the incoming webhook. It is a credential. Either this, or `botToken` and `channel`.',
    'a Slack incoming webhook',
  ).optional(),
  botToken: secret(
    'Token of a bot (`xoxb-…`) with the scope chat:write: later messages go into the thread of the first one, which is kept up to date.',
  ).optional(),
  appToken: secret(
    'App-level token (`xapp-…`) with the scope connections:write: people act in the channel, by buttons and commands (Socket Mode).',
  ).optional(),
  actors: filledList(
    'With `appToken`: the ids of those who may act. Default: everybody in the channel.',
    textLeaf({
      description: 'The id of a person.',
      allowed: 'must be the id of a person, such as "U012AB3CD"',
      examples: ['U012AB3CD'],
      read: (text) => (/^[UW][A-Z0-9]{5,20}$/.test(text) ? { value: text } : null),
    }),
    'must be a list of ids of people, such as ["U012AB3CD"]',
  ).optional(),
  channel: textLeaf({
    description: 'Where the bot posts: "#alerts", or the id of the channel, which survives a renaming.',
    allowed: 'must be a name such as "#alerts", or the id of a channel such as "C012AB3CD"',
    examples: ['#alerts', 'C012AB3CD'],
    read: (text) => (/^#?[^\s#@]{1,80}$/u.test(text) ? { value: text } : null),
  }).optional(),
  apiUrl: plainAddress('Where the bot finds Slack’s Web API, for GovSlack: "https://slack-gov.com/api".')
    .refine(
      (address) => !isUnencrypted(address),
      'must begin with https:// (http:// only to this machine itself): the token goes there',
    )
    .optional(),
  mention: mentionSchema({
    description:
      'Who is mentioned, by severity: "here", "channel", "everyone", or ids of people (U…) and user groups (S…).',
    pattern: /^(?:here|channel|everyone|[UWS][A-Z0-9]{5,20})$/,
    allowed:
      'must be "here", "channel", "everyone", or an id such as "U012AB3CD" (a person) or "S012AB3CD" (a user group)',
  }).optional(),
  accept: acceptSchema.optional(),
}).superRefine((config, context) => {
  type Key = keyof typeof config;
  const has = (key: Key): boolean => config[key] !== undefined;
  const refuseIf = (isWrong: boolean, key: Key, message: string): void => {
    if (isWrong) context.addIssue({ code: 'custom', path: [key], message });
  };
  if (has('webhookUrl')) {
    for (const key of ['botToken', 'channel', 'apiUrl', 'appToken', 'actors'] as const)
      refuseIf(has(key), key, 'not with "webhookUrl": a message goes one way or the other');
    return;
  }
  const neither = 'required: "webhookUrl" of an incoming webhook, or "botToken" and "channel" of a bot';
  refuseIf(!has('botToken') && !has('channel'), 'webhookUrl', neither);
  refuseIf(!has('botToken') && has('channel'), 'botToken', 'required with "channel"');
  refuseIf(has('botToken') && !has('channel'), 'channel', 'required with "botToken"');
  const isId = /^[CGD][A-Z0-9]{6,}$/.test(config.channel ?? '');
  const noId = 'with "appToken" it must be the id of the channel, such as "C012AB3CD": events name no other';
  refuseIf(has('appToken') && !isId, 'channel', noId);
  const noApp = 'only with "appToken": nobody acts in the channel without it';
  refuseIf(has('actors') && !has('appToken'), 'actors', noApp);
  refuseIf(has('accept'), 'accept', 'only with "webhookUrl": Slack itself says what a good answer is');
});

interface SlackSettings extends ChannelSettings {
  readonly by: SlackWebhook | SlackBot;
  readonly mention: Mention;
}

/** Throws if the configuration gives no way to send, which the schema refuses. */
export function buildSlack(name: string, config: z.output<typeof slackSchema>): SlackSettings {
  const { type, mention = {}, webhookUrl, botToken, channel, accept = null } = config;
  const { appToken, actors = null, apiUrl = 'https://slack.com/api' } = config;
  if (webhookUrl !== undefined) return { type, name, place: webhookUrl, by: { webhookUrl, accept }, mention };
  if (botToken === undefined || channel === undefined) throw new Error('a Slack channel without a way to it');
  const place = new Secret(`${channel} ${botToken.reveal()}`);
  const chat = appToken === undefined ? null : { appToken, actors };
  return { type, name, place, by: { botToken, channel, apiUrl, chat }, mention };
}

export const slackKind: ChannelKind<z.output<typeof slackSchema>, SlackSettings> = {
  type: 'slack',
  schema: slackSchema,
  build: buildSlack,
  keysAt: keysAtHost(/^hooks\.slack\.com$/),
  describe: ({ by }) =>
    'webhookUrl' in by
      ? hostOf(by.webhookUrl)
      : `${by.channel} by a bot${by.chat === null ? '' : ', people act there'}`,
  // One message a second per webhook, and per channel that a bot posts to (docs.slack.dev, rate limits).
  pace: ({ place }) => ({ minGapMs: 1000, paceKey: place.reveal() }),
  answers: [
    ...slackAnswers(null).rows.filter((row) => !commonAnswers.includes(row)),
    ...slackBotAnswers.rows.map((row) =>
      commonAnswers.includes(row) ? row : { ...row, answer: `bot: ${row.answer}` },
    ),
  ],
  async openSender({ by, mention }, dependencies) {
    if ('webhookUrl' in by) {
      const { openSlackSender } = await import('./slack-sender.ts');
      return openSlackSender({ ...by, mention }, dependencies);
    }
    const { openSlackBotSender } = await import('./slack-bot-sender.ts');
    return openSlackBotSender({ ...by, mention }, dependencies);
  },
  chatOf({ by }, dependencies) {
    if ('webhookUrl' in by || by.chat === null) return null;
    const { appToken, actors } = by.chat;
    return {
      bot: `${by.apiUrl} ${appToken.reveal()}`,
      // The people who are named as actors may also write to the bot alone.
      standing: async ({ chat, person: { id } }) =>
        standingOf(
          chat === by.channel || (chat.startsWith('D') && actors?.includes(id) === true),
          id,
          actors,
        ),
      async listen(answer) {
        const { openSlackListener } = await import('./slack-listener.ts');
        return openSlackListener({ ...by, appToken }, dependencies, answer);
      },
    };
  },
  openDemoChat: async (received) => (await import('../chats/demo-chats.ts')).openSlackDemo('slack', received),
  /** Takes what Slack would take at an incoming webhook, and answers as Slack does. */
  async openDemoReceiver(received) {
    const [{ receivePosts }, { describeSlackPayload }] = await Promise.all([
      import('../demo-receiver.ts'),
      import('./slack-blocks.ts'),
    ]);
    return receivePosts({
      channel: (origin) => ({ type: 'slack', webhookUrl: `${origin}/services/DEMO` }),
      received: (body) => received({ title: 'Slack  #ops', lines: describeSlackPayload(JSON.parse(body)) }),
      answer: { status: 200, body: 'ok' },
    });
  },
};
