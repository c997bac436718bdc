import type * as z from 'zod';
import { Secret } from '../../domain/secret.ts';
import { isUnencrypted } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { pagerdutyAnswers } from './pagerduty-answers.ts';
import { buildPagerduty, type PagerdutySettings, pagerdutySchema } from './pagerduty-settings.ts';

/** PagerDuty by its Events API v2. */
export const pagerdutyKind: ChannelKind<z.output<typeof pagerdutySchema>, PagerdutySettings> = {
  type: 'pagerduty',
  schema: pagerdutySchema,
  build: buildPagerduty,
  describe: ({ baseUrl }) => baseUrl,
  findWarnings: ({ baseUrl }) =>
    isUnencrypted(new Secret(baseUrl))
      ? [{ key: 'baseUrl', message: 'the key travels unencrypted over http://' }]
      : [],
  // About 120 events a minute for each key (developer.pagerduty.com, Events API limits); a message may be several.
  pace: ({ routingKey }) => ({ minGapMs: 1000, paceKey: routingKey.reveal() }),
  answers: pagerdutyAnswers.rows,
  async openSender(settings, dependencies) {
    const { openPagerdutySender } = await import('./pagerduty-sender.ts');
    return openPagerdutySender({ settings, ...dependencies });
  },
  async openDemoReceiver() {
    const { pagerdutyDemoReceiver } = await import('./pagerduty-demo.ts');
    return pagerdutyDemoReceiver;
  },
};
