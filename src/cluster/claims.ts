import { StorageError } from '../domain/operator-error.ts';
import type { ClaimCondition } from '../ports/cluster.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

/** Asks the database for the accounts, and keeps why a daemon does not get them. */
export function createClaims({ cluster, log }: Pick<MembershipDependencies, 'cluster' | 'log'>) {
  /** Why the database refused at the last try; null where that was no fault. */
  let refusal: string | null = null;
  /** The session that keeps the accounts locked was ended at the last round. */
  let isEndingStuck = false;
  return {
    get why(): string {
      return refusal ?? 'somebody keeps them locked in the shared database';
    },
    /** The epoch; null where they cannot be taken, be it that the database refuses: it answers all the same. */
    async ask(incarnation: string, condition: ClaimCondition): Promise<number | null> {
      try {
        const epoch = await cluster.claim(incarnation, condition);
        refusal = null;
        return epoch;
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        if (error.message !== refusal) log.warn({ err: error }, 'the accounts cannot be taken');
        refusal = error.message;
        return null;
      }
    },
    /** Every second time ends the session that keeps the accounts locked, which lets the next claim through. */
    async endStuck(): Promise<boolean> {
      isEndingStuck = !isEndingStuck;
      if (isEndingStuck) await cluster.endStuck();
      return isEndingStuck;
    },
  };
}
