import { receivePosts } from '../listen-on-loopback.ts';
import type { DingtalkPayload } from './render-dingtalk.ts';

/** Takes what a robot takes, and answers as it does. */
export const dingtalkDemoReceiver = receivePosts({
  channel: (origin) => ({ type: 'dingtalk', webhookUrl: `${origin}/robot/send?access_token=demo` }),
  show: (body) => {
    // Nobody but the demo's own channel knows this address.
    const { markdown }: DingtalkPayload = JSON.parse(body);
    return { title: 'DingTalk', lines: markdown.text.split(/\n+/) };
  },
  answer: { status: 200, body: '{"errcode":0,"errmsg":"ok"}' },
});
