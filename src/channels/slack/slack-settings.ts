import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { type Accept, acceptSchema } from '../accept.ts';

export const slackSchema = shape({
  type: z.literal('slack').meta({ description: 'Messages by a Slack incoming webhook.' }),
  webhookUrl: credentialAddress(
    'Address of the incoming webhook. It is a credential.',
    'a Slack incoming webhook',
  ),
  accept: acceptSchema.optional(),
});

export interface SlackSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
  /** For servers that only resemble Slack. */
  readonly accept: Accept | null;
}

export function buildSlack(name: string, config: z.output<typeof slackSchema>): SlackSettings {
  const { type, webhookUrl, accept = null } = config;
  return { type, name, place: webhookUrl, webhookUrl, accept };
}
