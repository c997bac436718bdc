import { simpleParser } from 'mailparser';
import type { SMTPServerOptions } from 'smtp-server';
import { startSmtpReceiver } from './smtp-receiver.ts';

export interface ReceivedMail {
  readonly subject: string;
  readonly messageId: string;
  readonly inReplyTo: string | null;
  readonly references: readonly string[];
  readonly text: string;
  readonly to: readonly string[];
  readonly raw: string;
}

export interface MailSink {
  readonly port: number;
  readonly url: string;
  /** Mails that were accepted, parsed, oldest first. */
  mails(): Promise<readonly ReceivedMail[]>;
  readonly count: () => number;
  close(): Promise<void>;
}

/** A mail server on loopback; `options` decide what it refuses. */
export async function startMailSink(options: SMTPServerOptions = {}): Promise<MailSink> {
  const receiver = await startSmtpReceiver(options);
  return {
    port: receiver.port,
    url: `smtp://127.0.0.1:${receiver.port}`,
    mails: () =>
      Promise.all(receiver.received.map((raw, index) => read(raw, receiver.recipients[index] ?? []))),
    count: () => receiver.received.length,
    close: receiver.close,
  };
}

async function read(raw: string, to: readonly string[]): Promise<ReceivedMail> {
  const mail = await simpleParser(raw);
  const { references } = mail;
  return {
    subject: mail.subject ?? '',
    messageId: mail.messageId ?? '',
    inReplyTo: mail.inReplyTo ?? null,
    references: references === undefined ? [] : Array.isArray(references) ? references : [references],
    text: mail.text ?? '',
    to,
    raw,
  };
}
