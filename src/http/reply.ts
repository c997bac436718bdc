import type { ServerResponse } from 'node:http';
import type { Html } from './html.ts';

/** What a handler answers. `stream` takes the response over; everything else is sent whole. */
export type Reply =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | Buffer;
    }
  | { readonly kind: 'stream'; readonly type: string; readonly start: (response: ServerResponse) => void };

export type ErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_now'
  | 'too_large'
  | 'unsupported_media_type'
  | 'too_many_attempts'
  | 'internal'
  | 'unavailable';

const statuses: Readonly<Record<ErrorCode, number>> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_now: 409,
  too_large: 413,
  unsupported_media_type: 415,
  too_many_attempts: 429,
  internal: 500,
  unavailable: 503,
};

/** A refusal of a request, thrown by handlers and caught by the server, which answers it as JSON or as a page. */
export class RequestError extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'RequestError';
    this.code = code;
    this.headers = headers;
  }

  get status(): number {
    return statuses[this.code];
  }
}

export function sendJson(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    kind: 'whole',
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: `${JSON.stringify(body)}\n`,
  };
}

export function sendJsonError(error: RequestError): Reply {
  return sendJson({ error: { code: error.code, message: error.message } }, error.status, error.headers);
}

export function sendPage(page: Html, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return {
    kind: 'whole',
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...headers },
    body: page.markup,
  };
}

/** Sends the browser on with GET, as after a form. `path` must be one of ours. */
export function sendOn(path: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return { kind: 'whole', status: 303, headers: { location: path, ...headers }, body: '' };
}
