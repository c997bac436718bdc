import * as z from 'zod';
import {
  mailbox,
  plainAddress,
  secretAddress,
  signingKey,
  slackAddress,
  smtpAddress,
} from '../../schema/addresses.ts';
import { filledList, flag, shape } from '../../schema/shapes.ts';
import { oneLine, secret } from '../../schema/texts.ts';
import { listWords } from '../../wording/lists.ts';

const slack = shape({
  type: z.literal('slack').meta({ description: 'Messages by a Slack incoming webhook.' }),
  webhookUrl: slackAddress('Address of the incoming webhook. It is a credential.'),
});

const oauth2 = shape({
  user: oneLine('The mail account that signs in.'),
  clientId: oneLine('Id of the application that was granted access.'),
  clientSecret: secret('Secret of that application.'),
  refreshToken: secret('Token from which access tokens are made.'),
  accessUrl: plainAddress('Where access tokens are asked for.'),
}).meta({ description: 'XOAUTH2 access, instead of a password in `smtpUrl`.' });

const email = shape({
  type: z.literal('email').meta({ description: 'Messages by mail.' }),
  smtpUrl: smtpAddress(
    'Mail server: smtps:// is encrypted from the start, smtp:// by STARTTLS. User and password stand in it, percent-encoded.',
  ),
  from: mailbox('Sender, such as "Lowwater <lowwater@example.com>".'),
  to: filledList('Recipients.', mailbox('A recipient.'), 'must be a list with at least one mail address'),
  allowInsecure: flag('Send also when the connection to another machine cannot be encrypted.').default(false),
  oauth2: oauth2.optional(),
});

const webhook = shape({
  type: z
    .literal('webhook')
    .meta({ description: 'Messages as JSON by POST, signed as in the Standard Webhooks specification.' }),
  url: secretAddress('Address that receives the POST. It is kept secret, since it may hold a token.'),
  secret: signingKey('Key that messages are signed with; without one they are sent unsigned.').optional(),
});

/** One channel as it stands in the file. */
export const channelSchema = z.discriminatedUnion('type', [slack, email, webhook], {
  error: (issue) =>
    issue.code === 'invalid_union'
      ? `must be ${listWords(['slack', 'email', 'webhook'])}`
      : 'must be an object in braces',
});
