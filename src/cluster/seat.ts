import { StorageError } from '../domain/operator-error.ts';
import type { MemberCard } from '../ports/cluster.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

/**
 * This process among the members, one incarnation at a time: a joining whose end is unknown is repeated as the same one. `describe`: what
 * this process, of this id, says of itself as it is now.
 */
export function createSeat(
  { cluster, newIncarnation }: Pick<MembershipDependencies, 'cluster' | 'newIncarnation'>,
  describe: (process: string) => Omit<MemberCard, 'incarnation'>,
) {
  const process = newIncarnation();
  let incarnation = process;
  let gone: readonly string[] = [];
  let card: MemberCard | null = null;

  /** The next one to join is a new incarnation; the present one may still say what became of its writes. */
  function renounce(): void {
    card = null;
    incarnation = newIncarnation();
  }

  return {
    /** Since its joining succeeded; another object for each incarnation. */
    get card(): MemberCard | null {
      return card;
    },
    /** The card with what the process says of itself now. */
    describe: (known: MemberCard): MemberCard => ({ ...known, ...describe(process) }),
    async join(): Promise<MemberCard> {
      const joining = { incarnation, ...describe(process) };
      const ending = gone;
      await cluster.join(joining, ending);
      gone = gone.filter((other) => !ending.includes(other));
      card = joining;
      return joining;
    },
    renounce,
    /** As `renounce`, and the present one ends when the next one joins. */
    abandon(): void {
      if (card !== null) gone = [...gone, card.incarnation];
      renounce();
    },
    /** Ends it now, so that what it owned is free; unheard twice, that stays nobody's until the lease ends by itself. */
    async leave(): Promise<void> {
      const leaving = card?.incarnation;
      renounce();
      if (leaving === undefined) return;
      const unlessUnheard = (error: unknown): boolean => {
        if (!(error instanceof StorageError)) throw error;
        return false;
      };
      const leave = (): Promise<boolean> => cluster.leave(leaving).then(() => true, unlessUnheard);
      if (!(await leave())) await leave();
    },
  };
}
