import type * as z from 'zod';
import { hostOf } from '../describe-address.ts';
import { keysAtHost } from '../keys-at-host.ts';
import type { ChannelKind } from '../kind.ts';
import { wecomAnswers } from './wecom-answers.ts';
import { buildWecom, type WecomSettings, wecomSchema } from './wecom-settings.ts';

/** 20 messages a minute and robot (developer.work.weixin.qq.com, group robots). */
const gapMs = 3000;

/** A WeCom group robot. */
export const wecomKind: ChannelKind<z.output<typeof wecomSchema>, WecomSettings> = {
  type: 'wecom',
  schema: wecomSchema,
  build: buildWecom,
  keysAt: keysAtHost(/^qyapi\.weixin\.qq\.com$/),
  describe: ({ webhookUrl }) => hostOf(webhookUrl),
  // A message that mentions people by number is two.
  pace: ({ webhookUrl, mention }) => ({
    minGapMs: Object.keys(mention).length === 0 ? gapMs : 2 * gapMs,
    paceKey: webhookUrl.reveal(),
  }),
  answers: wecomAnswers.rows,
  async openSender(settings, dependencies) {
    const { openWecomSender } = await import('./wecom-sender.ts');
    return openWecomSender({ settings, ...dependencies });
  },
  async openDemoReceiver() {
    const { wecomDemoReceiver } = await import('./wecom-demo.ts');
    return wecomDemoReceiver;
  },
};
