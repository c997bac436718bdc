import * as z from 'zod';
import { isUnencrypted } from '../../domain/addresses.ts';
import { Secret, textBehind } from '../../domain/secret.ts';
import { isSuccess } from '../../net/http-answer.ts';
import { secretAddress, signingKey } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import { textLeaf } from '../../schema/texts.ts';
import { sentences } from '../../wording/phrase.ts';
import { type Accept, type AnswerTable, acceptRows, acceptSchema, commonAnswers } from '../answers.ts';
import { hostOf, isAtProvider } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { templateSchema } from './template-schema.ts';
import type { WebhookSettings } from './webhook-sender.ts';

/** Names of header fields (RFC 9110, 5.6.2). Editors read this pattern too, and know no flags. */
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const ownHeaders = /^(?:host|content-length|transfer-encoding|connection|expect)$/i;
const headerNameForm =
  'must be the name of a header that is not the connection’s own, such as "Authorization"';

const headerValue = textLeaf({
  description: 'The value. It is kept secret, since it may hold a token.',
  isSecret: true,
  allowed: 'must be a string on one line, in the characters of ISO 8859-1',
  read: (text) => (/^[\t\x20-\x7e\xa0-\xff]*$/.test(text) ? { value: new Secret(text) } : null),
});

const webhookSchema = shape({
  type: z
    .literal('webhook')
    .describe(
      'Messages as JSON by POST, signed as in the Standard Webhooks specification, or in a body of your own.',
    ),
  url: secretAddress('Address that receives the POST. It is kept secret, since it may hold a token.'),
  secret: signingKey('Key that messages are signed with; without one they are sent unsigned.').optional(),
  headers: z
    .record(
      z
        .string()
        .regex(headerName)
        .refine((name) => !ownHeaders.test(name)),
      headerValue,
      {
        error: (issue) => (issue.code === 'invalid_key' ? headerNameForm : 'must be an object of headers'),
      },
    )
    .describe('More headers to send, such as "Authorization". Credentials belong here.')
    .optional(),
  template: templateSchema.optional(),
  accept: acceptSchema.optional(),
});

const told = sentences('webhook', { receiver: 'the receiver' });

/** The answers of a receiver of webhooks (Standard Webhooks, "Operational considerations"), or what `accept` says. */
export function webhookAnswers(accept: Accept | null): AnswerTable {
  return {
    receiver: told.receiver(),
    rows: [
      ...acceptRows(accept),
      {
        answer: '2xx, where there is no `accept`',
        fits: isSuccess,
        means: 'delivered',
        source: 'standardwebhooks.com, operational considerations',
      },
      ...commonAnswers,
    ],
  };
}

export const webhookKind: ChannelKind<z.output<typeof webhookSchema>, WebhookSettings> = {
  type: 'webhook',
  schema: webhookSchema,
  build(name, { type, url, secret = null, headers = {}, template, accept = null }) {
    return { type, name, place: url, url, secret, headers, template, accept };
  },
  keysAt: ({ protocol, href }) =>
    /^https?:$/.test(protocol) ? { keys: { url: href }, isCertain: false } : null,
  describe: ({ url, secret, template }) =>
    `${hostOf(url)}, ${secret === null ? 'unsigned' : 'signed'}${template === undefined ? '' : ', own body'}`,
  findWarnings: ({ url }, house) => {
    const atProvider =
      'is the provider whose balances are watched: an alert that is sent by the balance that is gone reaches nobody';
    return [
      ...(isUnencrypted(url.reveal())
        ? [{ key: 'url', message: 'messages travel unencrypted over http://' }]
        : []),
      ...(isAtProvider(url, house) ? [{ key: 'url', message: atProvider }] : []),
    ];
  },
  // Credentials belong in headers, so one address may take messages of several accounts, told apart by headers. Each has a limit of its own.
  pace: ({ url, headers }) => ({
    minGapMs: 0,
    paceKey: [url, ...Object.values(headers)].map(textBehind).join(' '),
  }),
  answers: webhookAnswers(null).rows,
  async openSender(settings, dependencies) {
    const { openWebhookSender } = await import('./webhook-sender.ts');
    return openWebhookSender(settings, { table: webhookAnswers(settings.accept), ...dependencies });
  },
  async openDemoReceiver(received) {
    const { receivePosts } = await import('../demo-receiver.ts');
    return receivePosts({
      channel: (origin) => ({ type: 'webhook', url: `${origin}/hook` }),
      received: (body) =>
        received({ title: 'Webhook', lines: JSON.stringify(JSON.parse(body), null, 2).split('\n') }),
      answer: { status: 204, body: '' },
    });
  },
};
