interface OpenRequestsDependencies {
  /** Whether an account that was asked still is, or the database does not know how that ended. */
  readonly isOpen: (id: string) => boolean;
  /** Whether more may be asked than the database knows of. */
  readonly mayActUnpersisted: () => boolean;
}

/**
 * Keeps one request of a group open at a time, from its beginning until the database knows how it ended: who takes over asks again what
 * it does not know of.
 */
export class OpenRequests {
  readonly #dependencies: OpenRequestsDependencies;
  /** Of each group the accounts that were asked and may be open: mostly one. */
  readonly #asked = new Map<string, readonly string[]>();
  /** Accounts whose turn came while one of their group was open, each with its group. */
  readonly #held = new Map<string, string>();

  constructor(dependencies: OpenRequestsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether this account may be asked now, which opens its request. Whoever may not is among those that `takeFreed` gives. */
  begin(id: string, group: string): boolean {
    const open = this.#openOf(group);
    if (open.length > 0 && !this.#dependencies.mayActUnpersisted()) {
      this.#held.set(id, group);
      return false;
    }
    this.#held.delete(id);
    this.#asked.set(group, open.includes(id) ? open : [...open, id]);
    return true;
  }

  /** Whether somebody waits for this group. */
  isAwaited(group: string): boolean {
    for (const held of this.#held.values()) if (held === group) return true;
    return false;
  }

  /** Who was held and is no longer: to be asked whether it may begin, since only one of a group may. */
  takeFreed(): readonly string[] {
    const freed = [...this.#held].flatMap(([id, group]) => (this.#openOf(group).length === 0 ? [id] : []));
    for (const id of freed) this.#held.delete(id);
    return freed;
  }

  #openOf(group: string): readonly string[] {
    return this.#asked.get(group)?.filter((id) => this.#dependencies.isOpen(id)) ?? [];
  }
}
