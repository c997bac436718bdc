import { cleanText } from '../../domain/plain-text.ts';
import type { Delivery } from '../../domain/ports.ts';
import type { DocumentedAnswer } from '../answers.ts';
import { errorCodes } from '../error-codes.ts';
import { echoesSecret } from './echoed-secret.ts';

/** RFC 6647 asks to wait a few minutes when greylisted; 5 is what common greylists want at least. */
const greylistWaitMs = 5 * 60 * 1000;

/** How far the exchange had come when it failed. */
export interface SmtpProgress {
  /**
   * The server had asked for the message: from here on a lost answer leaves it unknown whether the message
   * was taken.
   */
  readonly dataStarted: boolean;
  readonly expired: boolean;
  readonly gaveUp: boolean;
  /** What was sent to log in: a server that echoes it must not carry it into messages and the database. */
  readonly secrets: readonly string[];
}

/** What a mail server answers, and what nodemailer says where it does not. */
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
    answer: '450, 451',
    means: 'refused',
    note: 'greylisting: again after five minutes',
    source: 'RFC 6647, 5',
  },
  { answer: 'other 4xx', means: 'refused', source: 'RFC 5321, 4.2.1' },
  {
    answer: 'no reply before the message was asked for',
    means: 'refused',
    note: 'nothing was handed over',
    source: 'RFC 5321, 4.1.1.4',
  },
  { answer: 'no reply after that', means: 'unknown', source: 'RFC 5321, 4.1.1.4' },
];

/** What a failure of nodemailer means, as the table above says. */
export function classifySmtpError(error: unknown, progress: SmtpProgress): Delivery {
  const failure = describe(error, progress.secrets);
  const replied = failure.responseCode !== null;
  if (!replied) return classifySilence(failure, progress);
  const said = `the mail server answered ${failure.reply}`;
  const temporary = failure.permanent === false || failure.someTemporary;
  if (temporary) {
    const greylisted = failure.responseCode === 450 || failure.responseCode === 451 || failure.someTemporary;
    return {
      kind: 'retry',
      certainty: 'refused',
      reason: said,
      ...(greylisted ? { afterMs: greylistWaitMs } : {}),
    };
  }
  if (failure.code === 'ETLS')
    return {
      kind: 'dead',
      reason: `${said}: it offers no encryption (STARTTLS). Use smtps://, or set "allowInsecure" if clear text is acceptable`,
    };
  if (failure.code === 'EAUTH')
    return { kind: 'dead', reason: `${said}: the login is refused. Check user and password of "smtpUrl"` };
  return { kind: 'dead', reason: said };
}

function classifySilence(failure: Failure, progress: SmtpProgress): Delivery {
  const certainty = progress.dataStarted ? 'unknown' : 'refused';
  const retry = (reason: string): Delivery => ({ kind: 'retry', certainty, reason });
  if (progress.expired)
    return retry(
      progress.dataStarted
        ? 'the mail server did not confirm the message in time'
        : 'the mail server did not answer in time',
    );
  if (progress.gaveUp) return retry('given up because lowwater is stopping');
  if (failure.code === 'EAUTH' || failure.code === 'EOAUTH2') return classifyLogin(failure, retry);
  if (failure.code === 'EMESSAGE')
    return { kind: 'dead', reason: 'the message is larger than the mail server allows' };
  if (failure.code === 'EENVELOPE')
    return { kind: 'dead', reason: 'an address of sender or recipients is not usable' };
  const known = failure.codes.map((code) => connectionReasons[code]).find((reason) => reason !== undefined);
  if (known !== undefined) return retry(known);
  if (failure.codes.some((code) => /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ALTNAME/.test(code))) {
    return retry('the certificate of the mail server is not trusted');
  }
  if (failure.code === 'ETLS') return retry('the encrypted connection to the mail server failed');
  return retry(
    progress.dataStarted
      ? 'the connection was lost before the mail server confirmed the message'
      : 'the connection to the mail server was lost',
  );
}

/** A login that failed without a reply of the mail server: unusable settings, or the token endpoint of OAuth 2. */
function classifyLogin(failure: Failure, retry: (reason: string) => Delivery): Delivery {
  // RFC 6749, 5.2: what the endpoint says when asking again is of no use.
  if (/^(invalid_|unauthorized_client|unsupported_grant_type|access_denied)/.test(failure.message)) {
    return { kind: 'dead', reason: 'no access token: the OAuth 2 client or its refresh token is refused' };
  }
  if (failure.oauth2) return retry('no access token could be had from the OAuth 2 server');
  return { kind: 'dead', reason: 'the mail server offers no way to log in that fits the settings' };
}

const connectionReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the mail server refuses the connection',
  EDNS: 'the host name of the mail server cannot be looked up',
  ENOTFOUND: 'the host name of the mail server is not known',
  ETIMEDOUT: 'the mail server did not answer in time',
  EHOSTUNREACH: 'the mail server cannot be reached',
  ENETUNREACH: 'the mail server cannot be reached',
};

/** What is used of nodemailer's errors; their messages are not, for they may quote what was sent. */
interface Failure {
  readonly code: string | null;
  readonly codes: readonly string[];
  readonly message: string;
  readonly oauth2: boolean;
  readonly responseCode: number | null;
  readonly permanent: boolean | null;
  /** At least one recipient was refused for now only. */
  readonly someTemporary: boolean;
  /** The reply as one line, cut. */
  readonly reply: string;
}

function describe(error: unknown, secrets: readonly string[]): Failure {
  const fields: Readonly<Record<string, unknown>> = error instanceof Error ? { ...error } : {};
  const codes = errorCodes(error);
  const original = fields.originalCode;
  const rejected: readonly unknown[] = Array.isArray(fields.rejectedErrors) ? fields.rejectedErrors : [];
  return {
    code: typeof fields.code === 'string' ? fields.code : null,
    codes: typeof original === 'string' ? [original, ...codes] : codes,
    message: error instanceof Error ? error.message : '',
    oauth2: fields.code === 'EOAUTH2' || fields.command === 'AUTH XOAUTH2',
    responseCode: typeof fields.responseCode === 'number' ? fields.responseCode : null,
    permanent: typeof fields.permanent === 'boolean' ? fields.permanent : null,
    someTemporary: rejected.some(
      (each) => each instanceof Error && 'permanent' in each && each.permanent === false,
    ),
    reply: typeof fields.response === 'string' ? quoteReply(fields.response, secrets) : '',
  };
}

/** The reply as it may be shown: of one that repeats a secret only the code. */
function quoteReply(reply: string, secrets: readonly string[]): string {
  return cleanText(echoesSecret(reply, secrets) ? reply.slice(0, 3) : reply, 160);
}
