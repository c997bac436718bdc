import { type DeadlineLimits, pauseOrEnd, startDeadline } from '../../net/deadline.ts';

type Post<Answer> = (signal: AbortSignal) => Promise<Answer>;

/** Calls the API of a chat, and once more where its answer asks to wait. Each call has the whole time. Rejects where no answer came. */
export async function callChat<Answer>(
  limits: DeadlineLimits,
  post: Post<Answer>,
  waitAskedBy: (answer: Answer) => number | null = () => null,
): Promise<Answer> {
  const answer = await callOnce(limits, post);
  const waitMs = waitAskedBy(answer);
  if (waitMs === null) return answer;
  await pauseOrEnd(limits.clock, waitMs, limits.outer);
  return callOnce(limits, post);
}

async function callOnce<Answer>(limits: DeadlineLimits, post: Post<Answer>): Promise<Answer> {
  const deadline = startDeadline(limits);
  try {
    return await deadline.within(post(deadline.signal));
  } finally {
    deadline.clear();
  }
}
