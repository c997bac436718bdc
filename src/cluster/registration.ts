import { onStorageError } from '../domain/operator-error.ts';
import type { MemberCard } from '../ports/cluster.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

export type Registration = ReturnType<typeof createRegistration>;

/**
 * This process among the members, one incarnation at a time: a joining whose end is unknown is repeated as the same one.
 * `describe`: what this process, of this id, says of itself as it is now.
 */
export function createRegistration(
  { cluster, newIncarnation }: Pick<MembershipDependencies, 'cluster' | 'newIncarnation'>,
  describe: (process: string) => Omit<MemberCard, 'incarnation'>,
) {
  const process = newIncarnation();
  let incarnation = process;
  let joined: MemberCard | null = null;
  let gone: readonly string[] = [];

  function renounce(): void {
    joined = null;
    incarnation = newIncarnation();
  }

  function abandon(): void {
    if (joined !== null) gone = [...gone, joined.incarnation];
    renounce();
  }

  return {
    /** Since its joining succeeded; another object for each incarnation. */
    get card(): MemberCard | null {
      return joined;
    },
    /** The card with what the process says of itself now. */
    describe: (card: MemberCard): MemberCard => ({ ...card, ...describe(process) }),
    async join(): Promise<MemberCard> {
      const card = { incarnation, ...describe(process) };
      const ended = gone;
      await cluster.join(card, ended);
      gone = gone.filter((each) => !ended.includes(each));
      joined = card;
      return card;
    },
    /** The next one to join is a new incarnation; the present one may still say what became of its writes. */
    renounce,
    /** `renounce`, where the present one ends when the next one joins. */
    abandon,
    /** Ends it now, and the renounced one that `owned` accounts if it did, so that they are free; unheard twice, it ends when the next one joins, or with its lease. */
    async leave(owned = joined?.incarnation): Promise<void> {
      const leaving = new Set(
        [owned, joined?.incarnation].filter((each): each is string => each !== undefined && each !== ''),
      );
      abandon();
      for (const each of leaving) {
        const leave = (): Promise<boolean> => cluster.leave(each).then(() => true, onStorageError(false));
        if ((await leave()) || (await leave())) gone = gone.filter((other) => other !== each);
      }
    },
  };
}
