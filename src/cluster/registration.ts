import { onStorageError } from '../domain/operator-error.ts';
import type { MemberCard } from '../ports/cluster.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

export type Registration = ReturnType<typeof createRegistration>;

/**
 * The membership of this process, one incarnation at a time. A join with an unknown end is repeated with the same incarnation.
 * `describe`: what the process with this id says of itself now.
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
    /** The card, once joining has succeeded. Each incarnation has another object. */
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
    /** Makes the next join use a new incarnation. The present one may still be asked what became of its writes. */
    renounce,
    /** As `renounce`, but the present incarnation ends when the next one joins. */
    abandon,
    /** Ends it now, and a renounced one that `owned` the accounts, to free them. If that fails twice, it ends with the next join or its lease. */
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
