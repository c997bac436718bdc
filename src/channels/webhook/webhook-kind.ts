import type * as z from 'zod';
import { hostOf, isUnencrypted } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { webhookAnswers } from './webhook-answers.ts';
import { buildWebhook, type WebhookSettings, webhookSchema } from './webhook-settings.ts';

/** JSON by POST to whatever stands behind an address. */
export const webhookKind: ChannelKind<z.output<typeof webhookSchema>, WebhookSettings> = {
  type: 'webhook',
  schema: webhookSchema,
  build: buildWebhook,
  keysAt: ({ protocol, href }) =>
    /^https?:$/.test(protocol) ? { keys: { url: href }, isCertain: false } : null,
  describe: ({ url, secret }) => `${hostOf(url)}, ${secret === null ? 'unsigned' : 'signed'}`,
  findWarnings: ({ url }) =>
    isUnencrypted(url) ? [{ key: 'url', message: 'messages travel unencrypted over http://' }] : [],
  pace: () => ({ minGapMs: 0 }),
  answers: webhookAnswers.rows,
  async openSender(settings, { clock }) {
    const { openWebhookSender } = await import('./webhook-sender.ts');
    return openWebhookSender({ settings, clock });
  },
  async openDemoReceiver() {
    const { webhookDemoReceiver } = await import('./webhook-demo.ts');
    return webhookDemoReceiver;
  },
};
