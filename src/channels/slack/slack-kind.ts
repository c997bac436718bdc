import type * as z from 'zod';
import { commonAnswers } from '../answers.ts';
import { hostOf, keysAtHost } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { slackAnswers, slackBotAnswers } from './slack-answers.ts';
import { buildSlack, type SlackSettings, slackSchema } from './slack-settings.ts';

/** Slack by an incoming webhook, or by a bot that answers in threads. */
export const slackKind: ChannelKind<z.output<typeof slackSchema>, SlackSettings> = {
  type: 'slack',
  schema: slackSchema,
  build: buildSlack,
  keysAt: keysAtHost(/^hooks\.slack\.com$/),
  describe: ({ by }) => ('webhookUrl' in by ? hostOf(by.webhookUrl) : `${by.channel} by a bot`),
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
      return openSlackSender({ settings: { ...by, mention }, ...dependencies });
    }
    const { openSlackBotSender } = await import('./slack-bot-sender.ts');
    return openSlackBotSender({ settings: { ...by, mention }, ...dependencies });
  },
  /** Takes what Slack would take at an incoming webhook, and answers as Slack does. */
  async openDemoReceiver() {
    const [{ receivePosts }, { describeSlackPayload }] = await Promise.all([
      import('../listen-on-loopback.ts'),
      import('./slack-blocks.ts'),
    ]);
    return receivePosts({
      channel: (origin) => ({ type: 'slack', webhookUrl: `${origin}/services/DEMO` }),
      // Nobody but the demo's own channel knows this address.
      show: (body) => ({ title: 'Slack  #ops', lines: describeSlackPayload(JSON.parse(body)) }),
      answer: { status: 200, body: 'ok' },
    });
  },
};
