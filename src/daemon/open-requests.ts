interface OpenRequestsDependencies {
  /** Whether the account is being asked, or the outcome is not stored yet. */
  readonly isOpen: (id: string) => boolean;
  /** Whether it may be asked before that is stored. */
  readonly mayActUnpersisted: () => boolean;
}

/**
 * Keeps one request of a group open at a time, from its start until the outcome is stored: a new owner
 * repeats only what is not stored.
 */
export class OpenRequests {
  readonly #dependencies: OpenRequestsDependencies;
  /** Accounts of each group that were asked and may be open. */
  readonly #asked = new Map<string, readonly string[]>();
  /** Accounts that had to wait, with their group. */
  readonly #held = new Map<string, string>();

  constructor(dependencies: OpenRequestsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether the account may be asked now, which opens its request. If not, it is among `takeFreed` later. */
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

  isAwaited(group: string): boolean {
    for (const held of this.#held.values()) if (held === group) return true;
    return false;
  }

  /**
   * Accounts that need not wait any longer: each has to call `begin` again, since only one of a group may.
   */
  takeFreed(): readonly string[] {
    const freed = [...this.#held].flatMap(([id, group]) => (this.#openOf(group).length === 0 ? [id] : []));
    for (const id of freed) this.#held.delete(id);
    return freed;
  }

  #openOf(group: string): readonly string[] {
    return this.#asked.get(group)?.filter((id) => this.#dependencies.isOpen(id)) ?? [];
  }
}
