import { receivePosts } from '../listen-on-loopback.ts';
import { describeFeishu, type FeishuPayload } from './render-feishu.ts';

/** Takes what a bot takes, and answers as it does. */
export const feishuDemoReceiver = receivePosts({
  channel: (origin) => ({ type: 'feishu', webhookUrl: `${origin}/open-apis/bot/v2/hook/demo` }),
  show: (body) => {
    // Nobody but the demo's own channel knows this address.
    const payload: FeishuPayload = JSON.parse(body);
    return { title: 'Feishu', lines: describeFeishu(payload) };
  },
  answer: { status: 200, body: '{"code":0,"msg":"success","data":{}}' },
});
