/** Codes along the chain of causes, aggregated errors of several addresses included. */
export function errorCodes(error: unknown): readonly string[] {
  const codes: string[] = [];
  const queue: unknown[] = [error];
  for (let step = 0; step < 20 && queue.length > 0; step += 1) {
    const next = queue.shift();
    if (!(next instanceof Error)) continue;
    if ('code' in next && typeof next.code === 'string') codes.push(next.code);
    if (next instanceof AggregateError) queue.push(...next.errors);
    queue.push(next.cause);
  }
  return codes;
}
