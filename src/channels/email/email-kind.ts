import * as z from 'zod';
import { Secret } from '../../domain/secret.ts';
import type { Mailbox } from '../../domain/settings.ts';
import { mailbox, plainAddress, smtpAddress } from '../../schema/addresses.ts';
import { filledList, flag, shape } from '../../schema/shapes.ts';
import { oneLine, secret } from '../../schema/texts.ts';
import { hostOf } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { emailAnswers } from './classify-smtp.ts';
import type { EmailSettings } from './email-sender.ts';

const oauth2Schema = shape({
  user: oneLine('The mail account that signs in.'),
  clientId: oneLine('Id of the application that was granted access.'),
  clientSecret: secret('Secret of that application.'),
  refreshToken: secret('Token from which access tokens are made.'),
  accessUrl: plainAddress('Where access tokens are asked for.'),
}).describe('XOAUTH2 access, instead of a password in `smtpUrl`.');

const emailSchema = shape({
  type: z.literal('email').describe('Messages by mail.'),
  smtpUrl: smtpAddress(
    'Mail server: smtps:// is encrypted from the start, smtp:// by STARTTLS. User and password stand in it, percent-encoded.',
  ),
  from: mailbox('Sender, such as "Lowwater <lowwater@example.com>".'),
  to: filledList('Recipients.', mailbox('A recipient.'), 'must be a list with at least one mail address'),
  allowInsecure: flag('Send also when the connection to another machine cannot be encrypted.').default(false),
  oauth2: oauth2Schema.optional(),
});

export const emailKind: ChannelKind<z.output<typeof emailSchema>, EmailSettings> = {
  type: 'email',
  schema: emailSchema,
  build(name, { oauth2 = null, ...config }) {
    const addresses = config.to.map(({ address }) => address);
    return { ...config, name, place: new Secret([config.smtpUrl.reveal(), ...addresses].join(' ')), oauth2 };
  },
  check({ read }) {
    const address = read('smtpUrl');
    const hasPassword = typeof address === 'string' && (URL.parse(address)?.password ?? '') !== '';
    return hasPassword && read('oauth2') !== undefined
      ? [{ key: 'oauth2', message: 'either oauth2 or a password in smtpUrl, not both' }]
      : [];
  },
  keysAt: ({ protocol, username, hostname, href }) => {
    if (!/^smtps?:$/.test(protocol)) return null;
    const user = decodeURIComponent(username);
    const from = user.includes('@') ? user : `lowwater@${hostname}`;
    return {
      keys: { smtpUrl: href, from },
      recipients: { key: 'to', question: 'Who gets the mails?' },
      isCertain: true,
    };
  },
  describe: ({ to, from, smtpUrl }) =>
    `${to.map(describeMailbox).join(', ')} from ${describeMailbox(from)} by ${hostOf(smtpUrl)}`,
  // A server may take ten minutes for a mail (RFC 5321, 4.5.3.2), and the next one is not to wait for that.
  pace: () => ({ minGapMs: 0, maxConcurrent: 10 }),
  threadsBySubject: true,
  drawsAlerts: true,
  answers: emailAnswers,
  async openSender(settings, dependencies) {
    const { openEmailSender } = await import('./email-sender.ts');
    return openEmailSender({ settings, ...dependencies });
  },
  async openDemoReceiver(received) {
    const { openMailDemo } = await import('./email-demo.ts');
    return openMailDemo(received);
  },
};

function describeMailbox({ name, address }: Mailbox): string {
  return name === '' ? address : `${name} <${address}>`;
}
