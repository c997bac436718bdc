import type * as z from 'zod';
import { hostOf } from '../describe-address.ts';
import { keysAtHost } from '../keys-at-host.ts';
import type { ChannelKind } from '../kind.ts';
import { dingtalkAnswers } from './dingtalk-answers.ts';
import { buildDingtalk, type DingtalkSettings, dingtalkSchema } from './dingtalk-settings.ts';

/** A DingTalk group robot. */
export const dingtalkKind: ChannelKind<z.output<typeof dingtalkSchema>, DingtalkSettings> = {
  type: 'dingtalk',
  schema: dingtalkSchema,
  build: buildDingtalk,
  keysAt: keysAtHost(/^oapi\.dingtalk\.com$/),
  describe: ({ webhookUrl, secret }) => `${hostOf(webhookUrl)}, ${secret === null ? 'unsigned' : 'signed'}`,
  // 20 messages a minute and robot; beyond that it is silenced for ten minutes (open.dingtalk.com, custom robots).
  pace: ({ webhookUrl }) => ({ minGapMs: 3000, paceKey: webhookUrl.reveal() }),
  answers: dingtalkAnswers.rows,
  async openSender(settings, dependencies) {
    const { openDingtalkSender } = await import('./dingtalk-sender.ts');
    return openDingtalkSender({ settings, ...dependencies });
  },
  async openDemoReceiver() {
    const { dingtalkDemoReceiver } = await import('./dingtalk-demo.ts');
    return dingtalkDemoReceiver;
  },
};
