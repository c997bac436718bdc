import * as z from 'zod';
import { Secret } from '../../domain/secret.ts';
import type { ChannelSettings, Mailbox } from '../../domain/settings.ts';
import { mailbox, plainAddress, smtpAddress } from '../../schema/addresses.ts';
import { filledList, flag, shape } from '../../schema/shapes.ts';
import { oneLine, secret } from '../../schema/texts.ts';

const oauth2 = shape({
  user: oneLine('The mail account that signs in.'),
  clientId: oneLine('Id of the application that was granted access.'),
  clientSecret: secret('Secret of that application.'),
  refreshToken: secret('Token from which access tokens are made.'),
  accessUrl: plainAddress('Where access tokens are asked for.'),
}).meta({ description: 'XOAUTH2 access, instead of a password in `smtpUrl`.' });

export const emailSchema = shape({
  type: z.literal('email').meta({ description: 'Messages by mail.' }),
  smtpUrl: smtpAddress(
    'Mail server: smtps:// is encrypted from the start, smtp:// by STARTTLS. User and password stand in it, percent-encoded.',
  ),
  from: mailbox('Sender, such as "Lowwater <lowwater@example.com>".'),
  to: filledList('Recipients.', mailbox('A recipient.'), 'must be a list with at least one mail address'),
  allowInsecure: flag('Send also when the connection to another machine cannot be encrypted.').default(false),
  oauth2: oauth2.optional(),
});

export interface EmailSettings extends ChannelSettings {
  readonly smtpUrl: Secret;
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly allowInsecure: boolean;
  /** XOAUTH2 access, instead of a password in the URL. */
  readonly oauth2: OAuth2Settings | null;
}

interface OAuth2Settings {
  readonly user: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly refreshToken: Secret;
  readonly accessUrl: string;
}

export function buildEmail(name: string, config: z.output<typeof emailSchema>): EmailSettings {
  const { type, smtpUrl, from, to, allowInsecure } = config;
  const place = new Secret([smtpUrl.reveal(), ...to.map(({ address }) => address)].join(' '));
  return { type, name, place, smtpUrl, from, to, allowInsecure, oauth2: config.oauth2 ?? null };
}
