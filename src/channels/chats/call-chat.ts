import { type DeadlineLimits, pauseOrEnd, startDeadline } from '../../net/deadline.ts';
import type { Clock } from '../../ports/clock.ts';

type Post<Answer> = (signal: AbortSignal) => Promise<Answer>;

/** A call that would have to wait longer than `maxWaitMs` is not made. It is tried up to `tries` times while the answer asks for a shorter wait. */
interface Patience {
  readonly maxWaitMs: number;
  readonly tries: number;
}

/** For a call without which nothing is heard: it waits as long as it has to, and its first answer is returned. */
export const patient: Patience = { maxWaitMs: Number.POSITIVE_INFINITY, tries: 1 };

interface Method<Answer> extends Patience {
  readonly method: string;
  readonly waitAskedBy: (answer: Answer) => number | null;
}

/** The calls of a chat's API. No method is called earlier than its last answer asked for. */
export class ChatCalls {
  readonly #clock: Clock;
  readonly #freeAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Each try has the whole time limit. Rejects if no answer came. */
  async call<Answer>(limits: DeadlineLimits, post: Post<Answer>, called: Method<Answer>): Promise<Answer> {
    const { method, waitAskedBy, maxWaitMs, tries } = called;
    const leftMs = (this.#freeAt.get(method) ?? 0) - this.#clock.monotonic();
    if (leftMs > maxWaitMs) throw new Error('the receiver asked to wait for longer');
    if (leftMs > 0) await pauseOrEnd(this.#clock, leftMs, limits.outer);
    const answer = await callChat(limits, post);
    const waitMs = waitAskedBy(answer);
    if (waitMs === null) return answer;
    this.#freeAt.set(method, this.#clock.monotonic() + waitMs);
    const isLast = tries === 1 || waitMs > maxWaitMs;
    return isLast ? answer : this.call(limits, post, { ...called, tries: tries - 1 });
  }
}

/** Rejects if no answer came. */
export async function callChat<Answer>(limits: DeadlineLimits, post: Post<Answer>): Promise<Answer> {
  const deadline = startDeadline(limits);
  try {
    return await deadline.within(post(deadline.signal));
  } finally {
    deadline.clear();
  }
}
