import { onStorageError } from '../domain/operator-error.ts';
import type { MemberCard } from '../ports/cluster.ts';
import type { MembershipDependencies } from './membership-dependencies.ts';

/** This process among the members, one incarnation at a time: a joining whose end is unknown is repeated as the same one. */
export class Registration {
  /** Since its joining succeeded; another object for each incarnation. */
  card: MemberCard | null = null;
  readonly #dependencies: Pick<MembershipDependencies, 'cluster' | 'newIncarnation'>;
  readonly #describe: (process: string) => Omit<MemberCard, 'incarnation'>;
  readonly #process: string;
  #incarnation: string;
  #gone: readonly string[] = [];

  /** `describe`: what this process, of this id, says of itself as it is now. */
  constructor(
    dependencies: Pick<MembershipDependencies, 'cluster' | 'newIncarnation'>,
    describe: (process: string) => Omit<MemberCard, 'incarnation'>,
  ) {
    this.#dependencies = dependencies;
    this.#describe = describe;
    this.#process = dependencies.newIncarnation();
    this.#incarnation = this.#process;
  }

  /** The card with what the process says of itself now. */
  describe(card: MemberCard): MemberCard {
    return { ...card, ...this.#describe(this.#process) };
  }

  async join(): Promise<MemberCard> {
    const card = { incarnation: this.#incarnation, ...this.#describe(this.#process) };
    const gone = this.#gone;
    await this.#dependencies.cluster.join(card, gone);
    this.#gone = this.#gone.filter((incarnation) => !gone.includes(incarnation));
    this.card = card;
    return card;
  }

  /** The next one to join is a new incarnation; the present one may still say what became of its writes. */
  renounce(): void {
    this.card = null;
    this.#incarnation = this.#dependencies.newIncarnation();
  }

  /** `renounce`, where the present one ends when the next one joins. */
  abandon(): void {
    if (this.card !== null) this.#gone = [...this.#gone, this.card.incarnation];
    this.renounce();
  }

  /** Ends it now, so that what it owned is free; unheard twice, it ends when the next one joins, or with its lease. */
  async leave(): Promise<void> {
    const incarnation = this.card?.incarnation;
    if (incarnation === undefined) return;
    this.abandon();
    const { cluster } = this.#dependencies;
    const leave = (): Promise<boolean> => cluster.leave(incarnation).then(() => true, onStorageError(false));
    if ((await leave()) || (await leave())) this.#gone = this.#gone.filter((gone) => gone !== incarnation);
  }
}
