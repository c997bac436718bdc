import { type DeadlineLimits, pauseOrEnd, startDeadline } from '../../net/deadline.ts';
import type { Clock } from '../../ports/clock.ts';

type Post<Answer> = (signal: AbortSignal) => Promise<Answer>;

interface Patience<Answer> {
  readonly method: string;
  readonly waitAskedBy: (answer: Answer) => number | null;
  /** A call that would have to wait for longer is not made. */
  readonly maxWaitMs: number;
}

/** The calls of a chat's API: each method no sooner than its last answer asked for. */
export class ChatCalls {
  readonly #clock: Clock;
  readonly #freeAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Once more where the answer asks to wait. Each call has the whole time. Rejects where no answer came. */
  async call<Answer>(
    limits: DeadlineLimits,
    post: Post<Answer>,
    patience: Patience<Answer>,
    triesLeft = 2,
  ): Promise<Answer> {
    const { method, waitAskedBy, maxWaitMs } = patience;
    const leftMs = (this.#freeAt.get(method) ?? 0) - this.#clock.monotonic();
    if (leftMs > maxWaitMs) throw new Error('the receiver asked to wait for longer');
    if (leftMs > 0) await pauseOrEnd(this.#clock, leftMs, limits.outer);
    const answer = await callChat(limits, post);
    const waitMs = waitAskedBy(answer);
    if (waitMs === null) return answer;
    this.#freeAt.set(method, this.#clock.monotonic() + waitMs);
    const isLast = triesLeft === 1 || waitMs > maxWaitMs;
    return isLast ? answer : this.call(limits, post, patience, triesLeft - 1);
  }
}

/** Rejects where no answer came. */
export async function callChat<Answer>(limits: DeadlineLimits, post: Post<Answer>): Promise<Answer> {
  const deadline = startDeadline(limits);
  try {
    return await deadline.within(post(deadline.signal));
  } finally {
    deadline.clear();
  }
}
