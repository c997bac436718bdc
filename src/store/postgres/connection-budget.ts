import { StorageError } from '../../domain/operator-error.ts';

/**
 * So many connections and no more, over all pools that come and go. One whose statement was given up counts until the server has ended it:
 * a server that answers nobody would be left without connections otherwise.
 */
export function createConnectionBudget(max: number) {
  let used = 0;
  let stuck = 0;
  const waiting: PromiseWithResolvers<void>[] = [];

  function give(): void {
    const next = waiting.shift();
    if (next === undefined) used -= 1;
    else next.resolve();
  }

  return {
    /** Waits until one is free. Rejects with `StorageError` where all are stuck. */
    async take(): Promise<void> {
      if (stuck === max) throw allStuck();
      if (used < max) used += 1;
      else {
        const turn = Promise.withResolvers<void>();
        waiting.push(turn);
        await turn.promise;
      }
    },
    give,
    giveAfter(ended: Promise<void>): void {
      stuck += 1;
      if (stuck === max) for (const { reject } of waiting.splice(0)) reject(allStuck());
      void ended.finally(() => {
        stuck -= 1;
        give();
      });
    },
  };
}

function allStuck(): StorageError {
  return new StorageError(
    'busy',
    'the PostgreSQL database: the server has not ended what was asked before on any connection',
  );
}
