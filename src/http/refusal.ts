import * as z from 'zod';
import { notRead } from '../views/create-views.ts';
import type { LiveViews } from '../views/live-views.ts';
import { sentences } from '../wording/phrase.ts';

/** Why a request is refused: in English for programs, and translated on pages. */
export const refusals = sentences('requestRefusal', {
  noPage: 'There is nothing at this address.',
  noAsset: 'There is no such asset.',
  noSession: 'There is no such session.',
  noAccount: 'There is no account of that id.',
  noRule: 'No such rule applies to this account.',
  noReport: 'The configuration has no report of this id.',
  wrongMethod: 'This address takes {methods}.',
  failed: 'Something went wrong here; the log says what.',
  noDatabase: 'The database cannot be read just now.',
  notPolling: 'this daemon polls no more: ask again',
  otherHost: 'This server does not go by that name. Set server.publicUrl to the address that people use.',
  otherPage: 'Changes are only taken from pages of this server.',
  noPageNamed: 'This change does not say which page it comes from.',
  mayOnlyLook: 'This token may only look: changes need server.token.',
  wrongToken: 'The token is wrong.',
  tooManyTokens: 'The token is wrong, and too many wrong ones came. Answers are slow for {seconds} seconds.',
  badAddress: 'The address cannot be read.',
  brokenPercent: 'The address holds a broken percent sign.',
  tooLarge: 'The body may have at most {bytes} bytes.',
  ambiguous: 'The body holds a key twice, with different values.',
  noForm: 'The body must be application/x-www-form-urlencoded.',
  tooMuchHistory: 'There is too much history to add up: choose fewer accounts, or a shorter time.',
  field: '{name}: {problem}',
  duration: 'give a duration such as "90m" or "2h"',
  amount: 'The amount must be a number such as {example}.',
  instant: 'give an ISO 8601 time, or a duration ago such as "7d"',
  since: 'it must lie before {until}, and before now',
  wholeNumber: 'give a whole number from {least} to {most}',
  cursor: 'give the nextCursor of an answer',
});

const statuses = {
  bad_request: [400, 'Bad request'],
  unauthorized: [401, 'Not signed in'],
  forbidden: [403, 'Forbidden'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  not_now: [409, 'Not now'],
  changed: [409, 'Changed meanwhile'],
  too_large: [413, 'Too large'],
  unsupported_media_type: [415, 'Unsupported media type'],
  too_many_attempts: [429, 'Too many attempts'],
  internal: [500, 'Internal error'],
  unavailable: [503, 'Not available just now'],
} as const;

export type ErrorCode = keyof typeof statuses;

/** A refusal of a request, thrown by handlers; it is answered as a problem (RFC 9457) or as a page. */
export class RequestError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'RequestError';
    this.code = code;
    this.headers = headers;
  }

  get status(): (typeof statuses)[ErrorCode][0] {
    return statuses[this.code][0];
  }
}

/** `allow`: the methods as in the header, `HEAD, GET`. */
export function wrongMethod(allow: string): RequestError {
  return new RequestError('method_not_allowed', refusals.wrongMethod({ methods: allow }), { allow });
}

/** RFC 9457. The extension member `error` is the format used before. */
export const problemSchema = z
  .strictObject({
    type: z.literal('about:blank'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    error: z.strictObject({ code: z.string(), message: z.string() }),
  })
  .meta({
    id: 'Problem',
    description: 'Why a request was refused (RFC 9457)',
    examples: [
      {
        type: 'about:blank',
        title: 'Not found',
        status: 404,
        detail: 'There is no account of that id.',
        error: { code: 'not_found', message: 'There is no account of that id.' },
      },
    ],
  });

export const problemMediaType = 'application/problem+json';

export function problemJson({ code, message, status }: RequestError): z.infer<typeof problemSchema> {
  return { type: 'about:blank', title: statuses[code][1], status, detail: message, error: { code, message } };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The views, from which a list may be made. Throws `StorageError` if nothing was read yet: an empty list would be a wrong answer. */
export function known<Known extends Pick<LiveViews, 'isKnown'>>(views: Known): Known {
  if (views.isKnown()) return views;
  throw notRead();
}
