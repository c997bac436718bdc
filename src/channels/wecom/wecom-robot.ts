import type { Robot } from '../robot-kind.ts';
import { renderWecom, type WecomPayload } from './render-wecom.ts';

export const wecomRobot: Robot = {
  render: renderWecom,
  demo: {
    path: '/cgi-bin/webhook/send?key=demo',
    title: 'WeCom',
    lines(body) {
      // Nobody but the demo's own channel knows this address.
      const payload: WecomPayload = JSON.parse(body);
      return (payload.msgtype === 'markdown' ? payload.markdown.content : payload.text.content).split(/\n+/);
    },
    answer: { status: 200, body: '{"errcode":0,"errmsg":"ok"}' },
  },
};
