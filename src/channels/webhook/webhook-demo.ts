import { receivePosts } from '../listen-on-loopback.ts';

/** Takes what a webhook takes, and shows it as it came. */
export const webhookDemoReceiver = receivePosts({
  channel: (origin) => ({ type: 'webhook', url: `${origin}/hook` }),
  show: (body) => ({ title: 'Webhook', lines: JSON.stringify(JSON.parse(body), null, 2).split('\n') }),
  answer: { status: 204, body: '' },
});
