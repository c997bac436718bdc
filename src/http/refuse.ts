import type { IncomingMessage } from 'node:http';
import { StorageError } from '../domain/operator-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { type Answer, problemJson, problemMediaType, RequestError } from './refusal.ts';

export interface Refusing {
  readonly log: Log;
  readonly clock: Clock;
  readonly timezone: string;
}

/** A refusal as an answer: a problem for programs, a page for people. What is no refusal goes to the log. */
export async function renderRefusal(
  { log, clock, timezone }: Refusing,
  failed: { readonly error: unknown; readonly request: IncomingMessage },
): Promise<Answer> {
  const { request } = failed;
  const error = toRequestError(failed.error);
  const target = request.url ?? '';
  if (error.code === 'internal')
    log.error({ err: failed.error, path: pathOf(target) }, 'answering a request failed');
  if (wantsPage(request, target)) {
    const { errorPage, signInDetour } = await import('./page/error.ts');
    const frame = { now: clock.now(), timezone };
    return error.code === 'unauthorized' ? signInDetour(request, frame) : errorPage(error, request, frame);
  }
  return {
    status: error.status,
    headers: { 'content-type': problemMediaType, ...error.headers },
    body: `${JSON.stringify(problemJson(error))}\n`,
  };
}

function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof StorageError) {
    const text = error.kind === 'fenced' ? error.message : 'The database cannot be read just now.';
    return new RequestError('unavailable', text, {
      'retry-after': '5',
    });
  }
  return new RequestError('internal', 'Something went wrong here; the log says what.');
}

function wantsPage({ headers }: IncomingMessage, target: string): boolean {
  if (target.startsWith('/api/') || pathOf(target) === '/events') return false;
  return (headers.accept ?? '').includes('text/html');
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}
