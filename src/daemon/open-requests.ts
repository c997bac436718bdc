/**
 * Keeps one request of a group open at a time, from its start until the outcome is stored: a new owner
 * repeats only what is not stored. `isOpen`: whether the account is being asked, or the outcome is not stored yet;
 * `mayActUnpersisted`: whether a group may be asked before that is stored.
 */
export function createOpenRequests(isOpen: (id: string) => boolean, mayActUnpersisted: () => boolean) {
  /** Accounts of each group that were asked and may be open. */
  const asked = new Map<string, readonly string[]>();
  /** Accounts that had to wait, with their group. */
  const held = new Map<string, string>();
  const openOf = (group: string): readonly string[] => asked.get(group)?.filter(isOpen) ?? [];
  return {
    /** Whether the account may be asked now, which opens its request. If not, it is among `takeFreed` later. */
    begin(id: string, group: string): boolean {
      const open = openOf(group);
      if (open.length > 0 && !mayActUnpersisted()) {
        held.set(id, group);
        return false;
      }
      held.delete(id);
      asked.set(group, open.includes(id) ? open : [...open, id]);
      return true;
    },
    isAwaited: (group: string): boolean => held.values().some((other) => other === group),
    /** Accounts that need not wait any longer: each has to call `begin` again, since only one of a group may. */
    takeFreed(): readonly string[] {
      const freed = [...held].flatMap(([id, group]) => (openOf(group).length === 0 ? [id] : []));
      for (const id of freed) held.delete(id);
      return freed;
    },
  };
}
