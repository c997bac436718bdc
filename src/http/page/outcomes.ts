import type { OutcomeKind } from '../../domain/reading.ts';
import { say } from '../../wording/language.ts';
import { phrases } from '../../wording/phrase.ts';
import type { Frame } from './words.ts';

const says = phrases('outcome', {
  ok: 'ok',
  rate_limited: 'rate limited',
  auth_failed: 'auth failed',
  api_error: 'api error',
  invalid_response: 'invalid response',
  http_error: 'http error',
  timeout: 'timeout',
  network_error: 'network error',
});

/** What one poll came to, in a word or two. */
export function sayOutcome(outcome: OutcomeKind, frame: Frame): string {
  return say(says[outcome], frame);
}
