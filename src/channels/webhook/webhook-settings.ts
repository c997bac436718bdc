import * as z from 'zod';
import type { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { secretAddress, signingKey } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';

export const webhookSchema = shape({
  type: z
    .literal('webhook')
    .meta({ description: 'Messages as JSON by POST, signed as in the Standard Webhooks specification.' }),
  url: secretAddress('Address that receives the POST. It is kept secret, since it may hold a token.'),
  secret: signingKey('Key that messages are signed with; without one they are sent unsigned.').optional(),
});

export interface WebhookSettings extends ChannelSettings {
  readonly url: Secret;
  /** Standard Webhooks key, base64 after `whsec_`; null sends unsigned. */
  readonly secret: Secret | null;
}

export function buildWebhook(name: string, config: z.output<typeof webhookSchema>): WebhookSettings {
  const { type, url, secret = null } = config;
  return { type, name, place: url, url, secret };
}
