import type { FetchFunction } from '@slack/web-api';
import type { Dispatcher } from 'undici';
import type { HttpAnswer } from '../../net/http-answer.ts';
import { postOnce } from '../../net/http-post.ts';
import type { Clock } from '../../ports/clock.ts';

/**
 * One call of Slack's own clients over our connections and under our deadline. A redirect comes back as the answer that it is.
 * The clients keep of a refusal neither how long to wait nor all that it says, and may call a good answer an error: they are told
 * that all is well, and what the answer means is for our tables to say.
 */
export async function callSlack(
  way: { readonly signal: AbortSignal; readonly dispatcher: Dispatcher; readonly clock: Clock },
  call: (fetch: FetchFunction) => Promise<unknown>,
): Promise<HttpAnswer> {
  const answers: HttpAnswer[] = [];
  await call(async (address, { headers, body } = {}) => {
    if (typeof body !== 'string') throw new Error('Slack’s client posts something else than text.');
    const sent = Object.fromEntries(new Headers(headers));
    answers.push(await postOnce({ ...way, url: String(address), headers: sent, body }));
    return new Response('{"ok":true}');
  });
  const [answer] = answers;
  if (answer === undefined) throw new Error('Slack’s client did not post.');
  return answer;
}

/** Waits. Where the exchange ends before, what was to follow never comes. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', clock.setTimer(ms, resolve), { once: true });
  });
}
