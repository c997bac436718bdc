import { createHmac } from 'node:crypto';
import type { Robot } from '../robot-kind.ts';
import { describeFeishu, renderFeishu } from './render-feishu.ts';

export const feishuRobot: Robot = {
  render: (message, mention) => [renderFeishu(message, mention)],
  /**
   * Two members of the body: base64 of HMAC-SHA256 over nothing, with `timestamp\nsecret` (seconds) as the key (open.feishu.cn,
   * custom bots, signature verification).
   */
  sign({ url, body, key, now }) {
    const timestamp = String(Math.floor(now / 1000));
    const sign = createHmac('sha256', `${timestamp}\n${key.reveal()}`).digest('base64');
    return { url, body: `{"timestamp":"${timestamp}","sign":"${sign}",${body.slice(1)}` };
  },
  demo: {
    path: '/open-apis/bot/v2/hook/demo',
    title: 'Feishu',
    // Nobody but the demo's own channel knows this address.
    lines: (body) => describeFeishu(JSON.parse(body)),
    answer: { status: 200, body: '{"code":0,"msg":"success","data":{}}' },
  },
};
