import type * as z from 'zod';
import type { Mailbox } from '../../domain/settings.ts';
import { hostOf } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { emailAnswers } from './classify-smtp.ts';
import { buildEmail, type EmailSettings, emailSchema } from './email-settings.ts';

/** Mail by SMTP. */
export const emailKind: ChannelKind<z.output<typeof emailSchema>, EmailSettings> = {
  type: 'email',
  schema: emailSchema,
  build: buildEmail,
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
  async openDemoReceiver() {
    const { emailDemoReceiver } = await import('./email-demo.ts');
    return emailDemoReceiver;
  },
};

function describeMailbox({ name, address }: Mailbox): string {
  return name === '' ? address : `${name} <${address}>`;
}
