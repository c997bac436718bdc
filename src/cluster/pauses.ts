import { StorageError } from '../domain/operator-error.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { DatabaseLink } from './database-link.ts';

/** The wait doubles each time, up to the maximum. */
const firstWaitMs = 1000;
const maxWaitMs = 5000;

/** The kinds of failure that waiting cannot mend. */
const finalKinds: readonly string[] = ['unfit', 'corrupt'];

/** Waits for the database as long as it takes: machines that lost power come back one by one. Rejects if waiting would not help. */
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
    /** Resolves after `ms`, or at once when the loop is to end, to whether to go on. */
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

/** The number of renewals sent in a lease … */
const renewalsPerLease = 4;
/** … and a standby looks this often, or this many times in a lease if that is more often. */
const lookMs = 1000;
const looksPerLease = 8;

/** The pause between two looks. A lost renewal is made up for before the lease that it should have extended is over. */
export function roundMs(leaseMs: number, renews: boolean): number {
  return renews ? leaseMs / renewalsPerLease : Math.min(lookMs, leaseMs / looksPerLease);
}
