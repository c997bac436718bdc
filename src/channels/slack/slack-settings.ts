import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { type Accept, acceptSchema } from '../accept.ts';
import { type Mention, mentionSchema } from '../mention.ts';

export const slackSchema = shape({
  type: z.literal('slack').meta({ description: 'Messages by a Slack incoming webhook.' }),
  webhookUrl: credentialAddress(
    'Address of the incoming webhook. It is a credential.',
    'a Slack incoming webhook',
  ),
  mention: mentionSchema({
    description:
      'Who is mentioned, by severity: "here", "channel", "everyone", or ids of people (U…) and user groups (S…).',
    pattern: /^(?:here|channel|everyone|[UWS][A-Z0-9]{5,20})$/,
    allowed:
      'must be "here", "channel", "everyone", or an id such as "U012AB3CD" (a person) or "S012AB3CD" (a user group)',
  }).optional(),
  accept: acceptSchema.optional(),
});

export interface SlackSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
  readonly mention: Mention;
  /** For servers that only resemble Slack. */
  readonly accept: Accept | null;
}

export function buildSlack(name: string, config: z.output<typeof slackSchema>): SlackSettings {
  const { type, webhookUrl, mention = {}, accept = null } = config;
  return { type, name, place: webhookUrl, webhookUrl, mention, accept };
}
