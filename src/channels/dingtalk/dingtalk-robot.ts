import { createHmac } from 'node:crypto';
import type { Robot } from '../robot-kind.ts';
import { type DingtalkPayload, renderDingtalk } from './render-dingtalk.ts';

export const dingtalkRobot: Robot = {
  render: (message, mention) => [renderDingtalk(message, mention)],
  /**
   * In the address: base64 of HMAC-SHA256 over `timestamp\nsecret` (milliseconds) with the secret as the key, percent-encoded once
   * (open.dingtalk.com, custom robots, security settings).
   */
  sign({ url, body, key, now }) {
    const signed = new URL(url);
    const sign = createHmac('sha256', key.reveal()).update(`${now}\n${key.reveal()}`).digest('base64');
    signed.searchParams.set('timestamp', String(now));
    signed.searchParams.set('sign', sign);
    return { url: signed.href, body };
  },
  demo: {
    path: '/robot/send?access_token=demo',
    title: 'DingTalk',
    lines(body) {
      // Nobody but the demo's own channel knows this address.
      const { markdown }: DingtalkPayload = JSON.parse(body);
      return markdown.text.split(/\n+/);
    },
    answer: { status: 200, body: '{"errcode":0,"errmsg":"ok"}' },
  },
};
