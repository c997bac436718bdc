import type * as z from 'zod';
import { hostOf } from '../describe-address.ts';
import { keysAtHost } from '../keys-at-host.ts';
import type { ChannelKind } from '../kind.ts';
import { slackAnswers } from './slack-answers.ts';
import { buildSlack, type SlackSettings, slackSchema } from './slack-settings.ts';

/** Slack by an incoming webhook. */
export const slackKind: ChannelKind<z.output<typeof slackSchema>, SlackSettings> = {
  type: 'slack',
  schema: slackSchema,
  build: buildSlack,
  keysAt: keysAtHost(/^hooks\.slack\.com$/),
  describe: ({ webhookUrl }) => hostOf(webhookUrl),
  // One message a second per webhook (docs.slack.dev, rate limits).
  pace: ({ webhookUrl }) => ({ minGapMs: 1000, paceKey: webhookUrl.reveal() }),
  answers: slackAnswers(null).rows,
  async openSender(settings, dependencies) {
    const { openSlackSender } = await import('./slack-sender.ts');
    return openSlackSender({ settings, ...dependencies });
  },
  async openDemoReceiver() {
    const { slackDemoReceiver } = await import('./slack-demo.ts');
    return slackDemoReceiver;
  },
};
