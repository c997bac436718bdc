import * as z from 'zod';
import { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { secretAddress, signingKey } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { textLeaf } from '../../schema/texts.ts';
import { type Accept, acceptSchema } from '../accept.ts';
import { type Template, templateSchema } from './template-schema.ts';

/** Names of header fields (RFC 9110, 5.6.2) but those that the connection sets by itself. */
const headerName =
  /^(?!(?:host|content-length|transfer-encoding|connection|expect)$)[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const headerNameForm =
  'must be the name of a header that is not the connection’s own, such as "Authorization"';

const headerValue = textLeaf({
  description: 'The value. It is kept secret, since it may hold a token.',
  isSecret: true,
  allowed: 'must be a string on one line, in the characters of ISO 8859-1',
  read: (text) => (/^[\t\x20-\x7e\xa0-\xff]*$/.test(text) ? { value: new Secret(text) } : null),
});

export const webhookSchema = shape({
  type: z.literal('webhook').meta({
    description:
      'Messages as JSON by POST, signed as in the Standard Webhooks specification, or in a body of your own.',
  }),
  url: secretAddress('Address that receives the POST. It is kept secret, since it may hold a token.'),
  secret: signingKey('Key that messages are signed with; without one they are sent unsigned.').optional(),
  headers: z
    .record(z.string().regex(headerName), headerValue, {
      error: (issue) => (issue.code === 'invalid_key' ? headerNameForm : 'must be an object of headers'),
    })
    .meta({ description: 'More headers to send, such as "Authorization". Credentials belong here.' })
    .optional(),
  template: templateSchema.optional(),
  accept: acceptSchema.optional(),
});

export interface WebhookSettings extends ChannelSettings {
  readonly url: Secret;
  /** Standard Webhooks key, base64 after `whsec_`; null sends unsigned. */
  readonly secret: Secret | null;
  readonly headers: Readonly<Record<string, Secret>>;
  /** Undefined sends lowwater's own JSON; null is a template too. */
  readonly template: Template | undefined;
  /** Null takes any 2xx for a yes. */
  readonly accept: Accept | null;
}

export function buildWebhook(name: string, config: z.output<typeof webhookSchema>): WebhookSettings {
  const { type, url, secret = null, headers = {}, template, accept = null } = config;
  return { type, name, place: url, url, secret, headers, template, accept };
}
