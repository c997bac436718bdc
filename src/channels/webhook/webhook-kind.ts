import type * as z from 'zod';
import { hostOf, isLoopback, isUnencrypted } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { webhookAnswers } from './webhook-answers.ts';
import { buildWebhook, type WebhookSettings, webhookSchema } from './webhook-settings.ts';

/** JSON by POST to any address. */
export const webhookKind: ChannelKind<z.output<typeof webhookSchema>, WebhookSettings> = {
  type: 'webhook',
  schema: webhookSchema,
  build: buildWebhook,
  keysAt: ({ protocol, href }) =>
    /^https?:$/.test(protocol) ? { keys: { url: href }, isCertain: false } : null,
  describe: ({ url, secret, template }) =>
    `${hostOf(url)}, ${secret === null ? 'unsigned' : 'signed'}${template === undefined ? '' : ', own body'}`,
  findWarnings: ({ url }, { providerHosts }) => [
    ...(isUnencrypted(url) ? [{ key: 'url', message: 'messages travel unencrypted over http://' }] : []),
    ...(providerHosts.includes(URL.parse(url.reveal())?.hostname ?? '') && !isLoopback(url)
      ? [
          {
            key: 'url',
            message:
              'is the provider whose balances are watched: an alert that is sent by the balance that is gone reaches nobody',
          },
        ]
      : []),
  ],
  pace: () => ({ minGapMs: 0 }),
  answers: webhookAnswers(null).rows,
  async openSender(settings, dependencies) {
    const { openWebhookSender } = await import('./webhook-sender.ts');
    return openWebhookSender({ settings, ...dependencies });
  },
  async openDemoReceiver() {
    const { webhookDemoReceiver } = await import('./webhook-demo.ts');
    return webhookDemoReceiver;
  },
};
