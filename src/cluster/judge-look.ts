import type { ClusterLook } from '../ports/cluster.ts';

/** The phase of a process that has the accounts, from when it took them (`owned-accounts.ts`). */
export type Phase = 'loading' | 'owner' | 'giving' | 'released' | 'alone';

export type Verdict =
  | { readonly kind: 'keep' }
  /** Its lease is over, or the database lost batches, and nobody took the accounts: it takes them again, as the same member or a new one. */
  | { readonly kind: 'regain' | 'rejoin' | 'restore' }
  /** Nobody has the accounts, or its own claim got no answer, and what is stored may be readable now: it begins as if it had just come. */
  | { readonly kind: 'claim' | 'take' }
  | { readonly kind: 'lose'; readonly why: string };

interface Standing {
  readonly phase: Phase;
  readonly incarnation: string;
  /** The epoch under which it took the accounts. */
  readonly epoch: number;
  /** The number of batches that were known to be stored when the look was sent. */
  readonly stored: number;
  /** It let go of the accounts, and others may take them first. */
  readonly waits: boolean;
  /** It acts by the configuration alone, because it could not read what is stored. */
  readonly isBlind: boolean;
}

export const keep: Verdict = { kind: 'keep' };
export const lose = (why: string): Verdict => ({ kind: 'lose', why });

/**
 * The meaning of a look for a daemon that has the accounts, or has let go of them but still knows of them. The first row that fits counts.
 *
 * | epoch of the database        | owner         | phase                    | verdict                       |
 * | ---------------------------- | ------------- | ------------------------ | ----------------------------- |
 * | any                          | another       | any, blind               | lose                          |
 * | any                          | none          | any, blind               | claim                         |
 * | newer                        | itself        | any, blind               | take                          |
 * | older, or of fewer batches   | another       | any but loading          | lose                          |
 * | older, or of fewer batches   | itself, none  | any but loading          | restore: what is lost again   |
 * | the own                      | itself        | any                      | keep                          |
 * | any                          | another       | any                      | lose                          |
 * | another                      | none          | any                      | lose                          |
 * | any                          | itself, none  | loading                  | lose                          |
 * | the own                      | none          | released, others' turn   | keep                          |
 * | the own, or one claimed unheard | itself, none | owner, giving, released, alone | regain               |
 *
 * If its own lease is over, a daemon becomes a new incarnation before it may restore, regain, claim or take: rejoin.
 */
export function judgeLook(standing: Standing, look: ClusterLook & { readonly renewed: boolean }): Verdict {
  const verdict = (standing.isBlind ? judgeBlind(standing, look) : null) ?? judgeEpoch(standing, look);
  return look.renewed || verdict.kind === 'keep' || verdict.kind === 'lose' ? verdict : { kind: 'rejoin' };
}

/** Judges a blind daemon; null if the rows for the others apply. */
function judgeBlind({ incarnation, epoch }: Standing, look: ClusterLook): Verdict | null {
  if (look.owner === null) return { kind: 'claim' };
  if (look.owner !== incarnation) return lose('another daemon took the accounts');
  return look.epoch > epoch ? { kind: 'take' } : null;
}

function judgeEpoch(standing: Standing, look: ClusterLook): Verdict {
  const { phase, epoch, waits } = standing;
  const isOwn = look.owner === standing.incarnation;
  const isForeign = !isOwn && look.owner !== null;
  if (isBehind(standing, look) && phase !== 'loading')
    return isForeign
      ? lose('the database lost its last commits, and another daemon took the accounts')
      : { kind: 'restore' };
  if (isOwn && look.epoch === epoch) return keep;
  if (isForeign || (!isOwn && look.epoch !== epoch)) return lose('another daemon took the accounts');
  if (phase === 'loading') return lose('the lease ended before everything was read');
  return phase === 'released' && waits ? keep : { kind: 'regain' };
}

/** Whether the database lost batches that are known to have been stored. */
export function isBehind({ epoch, stored }: Pick<Standing, 'epoch' | 'stored'>, look: ClusterLook): boolean {
  return look.epoch < epoch || (look.epoch === epoch && look.batch !== null && look.batch < stored);
}
