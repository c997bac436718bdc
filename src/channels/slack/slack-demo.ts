import { receivePosts } from '../listen-on-loopback.ts';
import { describeSlackPayload } from './describe-payload.ts';
import type { SlackPayload } from './render-slack.ts';

/** Takes what Slack would take at an incoming webhook, and answers as Slack does. */
export const slackDemoReceiver = receivePosts({
  channel: (origin) => ({ type: 'slack', webhookUrl: `${origin}/services/DEMO` }),
  show: (body) => {
    // Nobody but the demo's own channel knows this address.
    const payload: SlackPayload = JSON.parse(body);
    return { title: 'Slack  #ops', lines: describeSlackPayload(payload) };
  },
  answer: { status: 200, body: 'ok' },
});
