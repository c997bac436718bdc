/**
 * Keeps one request of a group open at a time, from its start until the outcome is stored: a new owner
 * repeats only what is not stored.
 */
export class OpenRequests {
  readonly #isOpen: (id: string) => boolean;
  readonly #mayActUnpersisted: () => boolean;
  /** Accounts of each group that were asked and may be open. */
  readonly #asked = new Map<string, readonly string[]>();
  /** Accounts that had to wait, with their group. */
  readonly #held = new Map<string, string>();

  /**
   * `isOpen`: whether the account is being asked, or the outcome is not stored yet; `mayActUnpersisted`: whether a group may
   * be asked before that is stored.
   */
  constructor(isOpen: (id: string) => boolean, mayActUnpersisted: () => boolean) {
    this.#isOpen = isOpen;
    this.#mayActUnpersisted = mayActUnpersisted;
  }

  /** Whether the account may be asked now, which opens its request. If not, it is among `takeFreed` later. */
  begin(id: string, group: string): boolean {
    const open = this.#openOf(group);
    if (open.length > 0 && !this.#mayActUnpersisted()) {
      this.#held.set(id, group);
      return false;
    }
    this.#held.delete(id);
    this.#asked.set(group, open.includes(id) ? open : [...open, id]);
    return true;
  }

  isAwaited(group: string): boolean {
    return this.#held.values().some((held) => held === group);
  }

  /**
   * Accounts that need not wait any longer: each has to call `begin` again, since only one of a group may.
   */
  takeFreed(): readonly string[] {
    const freed = [...this.#held.keys()].filter((id) => this.#openOf(this.#held.get(id) ?? '').length === 0);
    for (const id of freed) this.#held.delete(id);
    return freed;
  }

  #openOf(group: string): readonly string[] {
    return this.#asked.get(group)?.filter(this.#isOpen) ?? [];
  }
}
