import type { FetchFunction } from '@slack/web-api';
import type { Dispatcher } from 'undici';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { postOnce } from '../../net/http-post.ts';
import type { Clock } from '../../ports/clock.ts';

/** Statuses whose answers have no body, not even an empty one (fetch.spec.whatwg.org, null body status). */
const withoutBody = [101, 103, 204, 205, 304];

/**
 * One call of Slack's own clients over our connections and under our deadline. A redirect comes back as the answer that it is.
 * The answer is noted on the way: the clients keep of a refusal neither how long to wait nor all that it says, and may call a
 * good answer an error.
 */
export async function callSlack(
  way: { readonly signal: AbortSignal; readonly dispatcher: Dispatcher; readonly clock: Clock },
  call: (fetch: FetchFunction) => Promise<unknown>,
): Promise<HttpAnswer> {
  const answers: HttpAnswer[] = [];
  const noting: FetchFunction = async (address, { headers = {}, body } = {}) => {
    if (typeof body !== 'string') throw new Error('Slack’s client posts something else than text.');
    const answer = await postOnce({
      ...way,
      url: String(address),
      headers: Object.fromEntries(new Headers(headers)),
      body,
    });
    answers.push(answer);
    return new Response(withoutBody.includes(answer.status) ? null : answer.body, {
      status: answer.status,
      headers: headersOf(answer),
    });
  };
  try {
    await call(noting);
  } catch (error) {
    if (answers.length === 0) throw error;
  }
  const answer = answers.at(-1);
  if (answer === undefined) throw new Error('Slack’s client did not post.');
  return answer;
}

function headersOf({ headers }: HttpAnswer): Headers {
  const all = new Headers();
  for (const [name, value = []] of Object.entries(headers))
    for (const each of [value].flat()) all.append(name, each);
  return all;
}

/** Waits, unless the exchange ends before: then it rejects. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.setTimer(ms, () => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      reject(new Error('stopped'));
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
