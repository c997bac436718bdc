import type { IncomingMessage } from 'node:http';
import { StorageError } from '../domain/operator-error.ts';
import { type Answer, problemJson, problemMediaType, RequestError, refusals } from './refusal.ts';
import type { Site } from './web-env.ts';

/** A refusal as an answer: a problem for programs, a page for people. Any other error goes to the log. */
export async function renderRefusal(
  { log, clock, timezone, language: configured = 'en' }: Site,
  cause: unknown,
  request: IncomingMessage,
): Promise<Answer> {
  const error = toRequestError(cause);
  const target = request.url ?? '';
  if (error.code === 'internal')
    log.error({ err: cause, path: pathOf(target) }, 'answering a request failed');
  const isForPrograms = target.startsWith('/api/') || pathOf(target) === '/events';
  if (!isForPrograms && (request.headers.accept ?? '').includes('text/html')) {
    try {
      const { errorPage, signInDetour } = await import('./page/error.ts');
      const { languageOf } = await import('./page/reader-language.ts');
      const frame = { language: await languageOf(request, configured), now: clock.now(), timezone };
      return error.code === 'unauthorized' ? signInDetour(request, frame) : errorPage(error, request, frame);
    } catch (err) {
      // A process without free file descriptors cannot load the page's code. The plain answer loads nothing.
      log.error({ err, path: pathOf(target) }, 'a page about a refusal could not be made');
    }
  }
  return {
    status: error.status,
    headers: { 'content-type': problemMediaType, ...error.headers },
    body: `${JSON.stringify(problemJson(error))}\n`,
  };
}

export function toRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof StorageError) {
    const text = error.kind === 'fenced' ? error.message : refusals.noDatabase();
    return new RequestError('unavailable', text, { 'retry-after': '5' });
  }
  return new RequestError('internal', refusals.failed());
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}
