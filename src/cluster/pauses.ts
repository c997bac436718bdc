import { StorageError } from '../domain/operator-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { DatabaseLink } from './database-link.ts';

/** It waits twice as long each time, and no longer than this. */
const firstWaitMs = 1000;
const maxWaitMs = 5000;

/** Waiting mends none of these. */
const finalKinds: readonly string[] = ['unfit', 'corrupt'];

/** However long it takes: machines that lost power come back one by one. Rejects where waiting would not help. */
export async function openPatiently(
  cluster: Pick<Cluster, 'open'>,
  databaseLink: DatabaseLink,
  pause: (ms: number) => Promise<boolean>,
): Promise<void> {
  for (let waitMs = firstWaitMs; ; waitMs = Math.min(maxWaitMs, 2 * waitMs)) {
    try {
      return await cluster.open();
    } catch (error) {
      if (!(error instanceof StorageError) || finalKinds.includes(error.kind)) throw error;
      databaseLink.failed(error);
    }
    if (!(await pause(waitMs))) return;
  }
}

export function createPauses(clock: Clock) {
  let wake = (): void => undefined;
  let hasEnded = false;
  return {
    get ended(): boolean {
      return hasEnded;
    },
    /** Resolves after so long, or at once when the loop is to end; gives whether to go on. */
    async pause(ms: number): Promise<boolean> {
      if (hasEnded) return false;
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimer(ms, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      });
      return !hasEnded;
    },
    end(): void {
      hasEnded = true;
      wake();
    },
  };
}

/** A renewal is sent so many times in a lease … */
const renewalsPerLease = 4;
/** … and who stands by looks this often, or so many times. */
const lookMs = 1000;
const looksPerLease = 8;

/** The pause between two looks. A renewal of which nobody heard is made good before the lease that it was for is over. */
export function roundMs(leaseMs: number, renews: boolean): number {
  return renews ? leaseMs / renewalsPerLease : Math.min(lookMs, leaseMs / looksPerLease);
}
