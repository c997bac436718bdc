import { receivePosts } from '../listen-on-loopback.ts';
import type { WecomPayload } from './render-wecom.ts';

/** Takes what a robot takes, and answers as it does. */
export const wecomDemoReceiver = receivePosts({
  channel: (origin) => ({ type: 'wecom', webhookUrl: `${origin}/cgi-bin/webhook/send?key=demo` }),
  show: (body) => {
    // Nobody but the demo's own channel knows this address.
    const payload: WecomPayload = JSON.parse(body);
    const text = payload.msgtype === 'markdown' ? payload.markdown.content : payload.text.content;
    return { title: 'WeCom', lines: text.split(/\n+/) };
  },
  answer: { status: 200, body: '{"errcode":0,"errmsg":"ok"}' },
});
