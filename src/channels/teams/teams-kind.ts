import type * as z from 'zod';
import { hostOf } from '../describe-address.ts';
import { keysAtHost } from '../keys-at-host.ts';
import type { ChannelKind } from '../kind.ts';
import { teamsAnswers } from './teams-answers.ts';
import { buildTeams, type TeamsSettings, teamsSchema } from './teams-settings.ts';

/** Microsoft Teams by a Workflows webhook. */
export const teamsKind: ChannelKind<z.output<typeof teamsSchema>, TeamsSettings> = {
  type: 'teams',
  schema: teamsSchema,
  build: buildTeams,
  keysAt: keysAtHost(/\.(?:logic\.azure|powerplatform)\.com$/),
  describe: ({ webhookUrl }) => hostOf(webhookUrl),
  // More than 4 a second are throttled (learn.microsoft.com, webhooks and connectors); a workflow of its own may allow less.
  pace: ({ webhookUrl }) => ({ minGapMs: 1000, paceKey: webhookUrl.reveal() }),
  answers: teamsAnswers.rows,
  async openSender(settings, dependencies) {
    const { openTeamsSender } = await import('./teams-sender.ts');
    return openTeamsSender({ settings, ...dependencies });
  },
  async openDemoReceiver() {
    const { teamsDemoReceiver } = await import('./teams-demo.ts');
    return teamsDemoReceiver;
  },
};
