import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { credentialAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';

export const teamsSchema = shape({
  type: z.literal('teams').meta({ description: 'Messages to Microsoft Teams by a Workflows webhook.' }),
  webhookUrl: credentialAddress(
    'Address of the workflow "When a Teams webhook request is received". It is a credential.',
    'a Teams workflow',
  ).refine((address) => !/(^|\.)webhook\.office\.com$/.test(URL.parse(address.reveal())?.hostname ?? ''), {
    error:
      'is an Office connector, which Microsoft has retired: make a workflow "When a Teams webhook request is received"',
  }),
});

export interface TeamsSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
}

export function buildTeams(name: string, config: z.output<typeof teamsSchema>): TeamsSettings {
  const { type, webhookUrl } = config;
  return { type, name, place: webhookUrl, webhookUrl };
}
