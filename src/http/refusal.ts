import * as z from 'zod';

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

/** `allow` as in the header: `HEAD, GET`. */
export function wrongMethod(allow: string): RequestError {
  return new RequestError('method_not_allowed', `This address takes ${allow}.`, { allow });
}

/** RFC 9457, with `error` as it was before that as an extension member. */
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
  return {
    type: 'about:blank',
    title: statuses[code][1],
    status,
    detail: message,
    error: { code, message },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
