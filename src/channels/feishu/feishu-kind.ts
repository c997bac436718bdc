import type * as z from 'zod';
import { hostOf } from '../describe-address.ts';
import { keysAtHost } from '../keys-at-host.ts';
import type { ChannelKind } from '../kind.ts';
import { feishuAnswers } from './feishu-answers.ts';
import { buildFeishu, type FeishuSettings, feishuSchema } from './feishu-settings.ts';

/** A Feishu or Lark custom bot. */
export const feishuKind: ChannelKind<z.output<typeof feishuSchema>, FeishuSettings> = {
  type: 'feishu',
  schema: feishuSchema,
  build: buildFeishu,
  keysAt: keysAtHost(/^open\.(?:feishu\.cn|larksuite\.com)$/),
  describe: ({ webhookUrl, secret }) => `${hostOf(webhookUrl)}, ${secret === null ? 'unsigned' : 'signed'}`,
  // 100 messages a minute and 5 a second for each bot (open.feishu.cn, custom bots).
  pace: ({ webhookUrl }) => ({ minGapMs: 600, paceKey: webhookUrl.reveal() }),
  answers: feishuAnswers.rows,
  async openSender(settings, dependencies) {
    const { openFeishuSender } = await import('./feishu-sender.ts');
    return openFeishuSender({ settings, ...dependencies });
  },
  async openDemoReceiver() {
    const { feishuDemoReceiver } = await import('./feishu-demo.ts');
    return feishuDemoReceiver;
  },
};
