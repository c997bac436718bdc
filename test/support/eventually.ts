import { setTimeout as pause } from 'node:timers/promises';

/**
 * Asks again and again, ever more slowly (each 5 to 100 ms), until the answer is neither null nor false; gives it. Throws
 * with `what` in the end.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  withinMs = 120_000,
): Promise<T> {
  const endsAt = performance.now() + withinMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.3, 100)) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (performance.now() > endsAt) throw new Error(`${what}: not within ${withinMs} ms`);
    await pause(pauseMs);
  }
}
