import { StorageError } from '../domain/operator-error.ts';
import type { ClaimCondition } from '../ports/cluster.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

/** Asks the database for the accounts, and remembers why a daemon does not get them. */
export function createClaims({ cluster, log }: Pick<MembershipDependencies, 'cluster' | 'log'>) {
  /** Why the database refused the last try; null if that was no fault. */
  let refusal: string | null = null;
  /** Whether the last round ended the session that keeps the accounts locked. */
  let isEndingStuck = false;
  return {
    get why(): string {
      return refusal ?? 'somebody keeps them locked in the shared database';
    },
    /** The epoch; null if the accounts cannot be taken, even because the database refuses: its refusal is an answer too. */
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
    /** Every second call ends the session that keeps the accounts locked, so that the next claim succeeds. */
    async endStuck(): Promise<boolean> {
      isEndingStuck = !isEndingStuck;
      if (isEndingStuck) await cluster.endStuck();
      return isEndingStuck;
    },
  };
}
