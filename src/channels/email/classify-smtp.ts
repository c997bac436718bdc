import type { NodemailerError } from 'nodemailer';
import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { minuteMs } from '../../domain/time.ts';
import { errorCodes, explainConnectError, sayHandshakeFailed, sayStopping } from '../../net/connect-error.ts';
import type { Delivery } from '../../ports/channel.ts';
import { sentences } from '../../wording/phrase.ts';
import type { DocumentedAnswer } from '../answers.ts';

/** RFC 6647 asks to wait a few minutes when greylisted; 5 is what common greylists want at least. */
const greylistWaitMs = 5 * minuteMs;

const told = sentences('mailServer', {
  answered: 'the mail server answered {reply}',
  noEncryption:
    'the mail server answered {reply}: it offers no encryption (STARTTLS). Use smtps://, or set "allowInsecure" if clear text is acceptable',
  refused: 'the mail server answered {reply}: the login is refused. Check user and password of "smtpUrl"',
  refusedToken:
    'the mail server answered {reply}: the login is refused. Check "oauth2", and that its user may send mail',
  unfitLogin: 'the mail server answered {reply}: it offers no way to log in that fits the settings',
  foreign: 'the answer is not that of a mail server: {reply}',
  silent: 'the mail server did not answer in time',
  unconfirmed: 'the mail server did not confirm the message in time',
  tooLarge: 'the message is larger than the mail server allows',
  badAddress: 'an address of sender or recipients is not usable',
  unknownHost: 'the host name cannot be looked up (DNS)',
  insecure: 'the encrypted connection to the mail server failed',
  lostUnconfirmed: 'the connection was lost before the mail server confirmed the message',
  lost: 'the connection to the mail server was lost',
  tokenRefused: 'no access token: the OAuth 2 client or its refresh token is refused',
  noToken: 'no access token could be had from the OAuth 2 server',
  noPassword: 'the mail server asks for a login, and "smtpUrl" has a user without a password',
  stray: 'the mail server said yes before it had the message',
});

/** A server that sends a stray reply does so every time: after some tries people should know. */
export const strayReply: Delivery = { kind: 'retry', certainty: 'refused', tries: 3, reason: told.stray() };

export type ReplyTexts = Pick<ForeignTexts, 'clean'>;

export interface SmtpProgress {
  /** The server had asked for the message: a lost answer leaves it unknown whether it was taken. */
  readonly dataStarted: boolean;
  readonly expired: boolean;
  readonly gaveUp: boolean;
  /** The filter of a reply before anybody sees it. */
  readonly texts: ReplyTexts;
}

/** The answers of a mail server, and the codes of nodemailer if the server gives none. */
export const emailAnswers: readonly DocumentedAnswer[] = [
  { answer: '2xx after the message', means: 'delivered', source: 'RFC 5321, 4.2.1' },
  { answer: '5xx, at any stage', means: 'dead', note: 'with the reply', source: 'RFC 5321, 4.2.1' },
  {
    answer: 'login refused, STARTTLS missing',
    means: 'dead',
    note: 'with a hint',
    source: 'RFC 4954, 6; RFC 3207, 4',
  },
  {
    answer: 'some recipients refused, others accepted',
    means: 'delivered',
    note: '4xx: tried again for these alone; 5xx: reported as `channel-failed`',
    source: 'RFC 5321, 4.5.3.1.10',
  },
  {
    answer: 'some recipients refused for good, the others for now',
    means: 'refused',
    note: 'tried again for those alone; no other message waits for it',
    source: 'RFC 5321, 4.2.1',
  },
  {
    answer: '552, 534, a text about size, or larger than the server says',
    means: 'refused',
    note: 'sent once more at once, without its charts',
    source: 'RFC 1870, 6',
  },
  {
    answer: '450, 451',
    means: 'refused',
    note: 'greylisting: again after five minutes',
    source: 'RFC 6647, 5',
  },
  { answer: 'other 4xx', means: 'refused', source: 'RFC 5321, 4.2.1' },
  {
    answer: 'no reply, or a line without a code, before the message was asked for',
    means: 'refused',
    note: 'nothing was handed over',
    source: 'RFC 5321, 4.1.1.4',
  },
  {
    answer: 'no reply after that',
    means: 'unknown',
    note: 'after ten minutes for the final dot, five for a command: only then it is sent again',
    source: 'RFC 5321, 4.1.1.4 and 4.5.3.2',
  },
  {
    answer: '2xx before the whole message was sent',
    means: 'refused',
    note: 'it answers nothing that was sent; three times at most',
    source: 'RFC 5321, 4.1.1.4',
  },
  {
    answer: '3xx where none belongs, or a line without a code after that',
    means: 'unknown',
    note: 'the replies are out of step; three times at most',
    source: 'RFC 5321, 4.2.1',
  },
];

/** Some recipients were refused: 5xx is for good, 4xx for now, "too many recipients" (452) too (RFC 5321, 4.5.3.1.10). */
export function classifyRefusedRecipients(
  errors: readonly NodemailerError[],
  texts: ReplyTexts,
): Pick<Extract<Delivery, { kind: 'delivered' }>, 'refusedRecipients' | 'refusal' | 'owed'> {
  const refused = refusedRecipientsOf(errors);
  const later = refused.filter(({ code }) => isTemporary(code));
  const never = refused.filter(({ code }) => !isTemporary(code));
  return {
    ...(never.length === 0
      ? {}
      : {
          refusedRecipients: never.map(({ address }) => address),
          refusal: told.answered({ reply: quoteReply(never[0]?.reply ?? '', texts) }),
        }),
    ...(later.length === 0
      ? {}
      : {
          owed: {
            recipients: later.map(({ address }) => address),
            reason: told.answered({ reply: quoteReply(later[0]?.reply ?? '', texts) }),
            ...waitAfter(later.map(({ code }) => code)),
          },
        }),
  };
}

/**
 * Whether the message was too large, so that it may pass without its pictures. These replies say so: 552 (RFC 1870, 6.1), 534 of some
 * servers, and any permanent refusal with an enhanced code for size (RFC 3463: 5.2.3, 5.3.4) or with words for it. If nothing was answered,
 * nodemailer itself found the message larger than the server allows.
 */
export function isTooLarge(error: unknown): boolean {
  const { code, responseCode, reply } = describe(error, { clean: (text) => text });
  if (responseCode === null) return code === 'EMESSAGE' && reply === '';
  // For a login, 534 means that a stronger one is needed.
  if (code === 'EAUTH') return false;
  if (responseCode === 552 || responseCode === 534) return true;
  return responseCode >= 500 && /\b5\.(?:2\.3|3\.4)\b|too (?:large|big)|\bsize\b/i.test(reply);
}

function isTemporary(code: number | null): code is number {
  return code !== null && code >= 400 && code < 500;
}

function waitAfter(codes: readonly number[]): { readonly afterMs?: number } {
  return codes.some((code) => code === 450 || code === 451) ? { afterMs: greylistWaitMs } : {};
}

function refusedRecipientsOf(errors: readonly NodemailerError[]) {
  return errors.flatMap(({ recipient, responseCode = 550, response = '' }) =>
    recipient === undefined ? [] : [{ address: recipient, code: responseCode, reply: response }],
  );
}

/** The meaning of a failure of nodemailer, by the table above. */
export function classifySmtpError(error: unknown, progress: SmtpProgress): Delivery {
  const failure = describe(error, progress.texts);
  const { reply, responseCode } = failure;
  if (responseCode === null) return classifySilence(failure, progress);
  const said = told.answered({ reply });
  const { refusedRecipients, refusal, owed } = classifyRefusedRecipients(failure.recipients, progress.texts);
  // Nobody took it: some refused for good, others for now.
  if (owed !== undefined && refusedRecipients !== undefined) {
    const { recipients: others, ...later } = owed;
    const refused = { recipients: refusedRecipients, others, refusal };
    return { kind: 'retry', certainty: 'refused', ...later, refused };
  }
  const codes = [responseCode, ...refusedRecipientsOf(failure.recipients).map(({ code }) => code)];
  const temporary = codes.filter(isTemporary);
  if (responseCode < 400) return { kind: 'retry', certainty: 'unknown', tries: 3, reason: said };
  if (temporary.length > 0)
    return { kind: 'retry', certainty: 'refused', reason: said, ...waitAfter(temporary) };
  // A server that does not know EHLO has no extensions, and so no STARTTLS. Where STARTTLS is not required, HELO follows.
  if (failure.code === 'ETLS' || (failure.command === 'EHLO' && responseCode < 504))
    return { kind: 'dead', reason: told.noEncryption({ reply }) };
  // 504: the server does not know this way to log in (RFC 5321, 4.2.2), such as one that takes only access tokens.
  if (failure.code === 'EAUTH') {
    const refused = failure.oauth2 ? told.refusedToken : told.refused;
    return { kind: 'dead', reason: (responseCode === 504 ? told.unfitLogin : refused)({ reply }) };
  }
  return { kind: 'dead', reason: said };
}

function classifySilence(failure: Failure, { dataStarted, expired, gaveUp }: SmtpProgress): Delivery {
  const [certainty, limit] = dataStarted ? (['unknown', { tries: 3 }] as const) : (['refused', {}] as const);
  const retry = (reason: string): Delivery => ({ kind: 'retry', certainty, reason });
  // A line without a code, from a web server for example, or replies out of step. It says nothing about the message.
  if (failure.reply !== '') return { ...retry(told.foreign({ reply: failure.reply })), ...limit };
  if (expired) return retry(dataStarted ? told.unconfirmed() : told.silent());
  if (gaveUp) return retry(sayStopping());
  const { code } = failure;
  if (code === 'EAUTH' || code === 'EOAUTH2') return classifyLogin(failure, retry);
  if (code === 'EMESSAGE') return { kind: 'dead', reason: told.tooLarge() };
  if (code === 'EENVELOPE') return { kind: 'dead', reason: told.badAddress() };
  return retry(explainConnectError(failure.codes) ?? sayLost(failure, dataStarted));
}

function sayLost({ code, codes }: Failure, dataStarted: boolean): string {
  if (code === 'EDNS') return told.unknownHost();
  if (code === 'ETIMEDOUT') return told.silent();
  const tls = codes.find((each) => each.startsWith('ERR_SSL_'));
  if (tls !== undefined && !dataStarted) return sayHandshakeFailed({ code: tls });
  if (code === 'ETLS') return told.insecure();
  return dataStarted ? told.lostUnconfirmed() : told.lost();
}

/** A login that failed without a reply of the mail server: the settings are unusable, or the token endpoint of OAuth 2 failed. */
function classifyLogin(failure: Failure, retry: (reason: string) => Delivery): Delivery {
  // The errors of the endpoint after which asking again is of no use (RFC 6749, 5.2).
  if (/^(invalid_|unauthorized_client|unsupported_grant_type|access_denied)/.test(failure.message)) {
    return { kind: 'dead', reason: told.tokenRefused() };
  }
  if (failure.oauth2) return retry(told.noToken());
  return { kind: 'dead', reason: told.noPassword() };
}

type Failure = ReturnType<typeof describe>;

/** The parts of nodemailer's errors that are used. Nobody sees their messages, because they may quote what was sent. */
function describe(error: unknown, texts: ReplyTexts) {
  const seen: Partial<NodemailerError> = error instanceof Error ? error : {};
  const { code, message = '', command, responseCode = null, response = '', originalCode } = seen;
  return {
    code,
    command,
    codes: [...(originalCode === undefined ? [] : [originalCode]), ...errorCodes(error)],
    message,
    oauth2: code === 'EOAUTH2' || command === 'AUTH XOAUTH2',
    responseCode,
    recipients: seen.rejectedErrors ?? [],
    reply: response === '' ? '' : quoteReply(response, texts),
  };
}

/** A reply as it may be shown: its code always and only once, because the rest may be withheld. */
export function quoteReply(reply: string, texts: ReplyTexts): string {
  const [, code = '', text = ''] = /^(\d{3}(?=\D|$))?[ -]?(.*)$/s.exec(reply) ?? [];
  // Each further line repeats the code, and most servers also repeat that of RFC 3463.
  const said = texts.clean(text.replaceAll(/\n\d{3}[ -](?:\d\.\d+\.\d+ )?/g, ' '), 160);
  return `${code} ${said}`.trim();
}
