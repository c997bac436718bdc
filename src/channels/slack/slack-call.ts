import type { FetchFunction } from '@slack/web-api';
import { type Dispatcher, fetch } from 'undici';
import type { HttpAnswer } from '../../net/http-answer.ts';

/**
 * One call of Slack's own clients with undici's `fetch`, over our connections and under our deadline. A redirect comes back as the
 * answer that it is. The answer is noted on the way, for the clients keep of a refusal neither how long to wait nor all that it says;
 * that they call it an error is no matter then.
 */
export async function callSlack(
  { signal, dispatcher }: { readonly signal: AbortSignal; readonly dispatcher: Dispatcher },
  call: (fetch: FetchFunction) => Promise<unknown>,
): Promise<HttpAnswer> {
  const answers: HttpAnswer[] = [];
  const noting: FetchFunction = async (address, { method = 'POST', headers = {}, body } = {}) => {
    if (typeof body !== 'string') throw new Error('Slack’s client posts something else than text.');
    const response = await fetch(address, { method, headers, body, signal, dispatcher, redirect: 'manual' });
    const text = await response.text();
    answers.push({ status: response.status, headers: Object.fromEntries(response.headers), body: text });
    return new Response(mayHaveBody(response.status) ? text : null, {
      status: response.status,
      headers: Object.fromEntries(response.headers),
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

/** Statuses whose answers have no body, not even an empty one (fetch.spec.whatwg.org, null body status). */
function mayHaveBody(status: number): boolean {
  return ![101, 103, 204, 205, 304].includes(status);
}
