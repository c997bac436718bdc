import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { type Mention, mentionSchema } from '../mention.ts';

export const teamsSchema = shape({
  type: z.literal('teams').meta({ description: 'Messages to Microsoft Teams by a Workflows webhook.' }),
  webhookUrl: credentialAddress(
    'Address of the workflow "When a Teams webhook request is received". It is a credential.',
    'a Teams workflow',
  ).refine((address) => !/(^|\.)webhook\.office\.com$/.test(URL.parse(address.reveal())?.hostname ?? ''), {
    error:
      'is an Office connector, which Microsoft has retired: make a workflow "When a Teams webhook request is received"',
  }),
  mention: mentionSchema({
    description: 'Who is mentioned, by severity: sign-in names such as "mei@example.com", or object ids.',
    pattern:
      /^(?:[^\s<>@"]{1,64}@[A-Za-z0-9.-]{1,190}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$/,
    allowed:
      'must be a sign-in name (UPN) such as "mei@example.com", or the object id of a person in Entra ID',
  }).optional(),
});

export interface TeamsSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
  readonly mention: Mention;
}

export function buildTeams(name: string, config: z.output<typeof teamsSchema>): TeamsSettings {
  const { type, webhookUrl, mention = {} } = config;
  return { type, name, place: webhookUrl, webhookUrl, mention };
}
