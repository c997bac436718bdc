import { getOrMake } from '../domain/get-or-make.ts';
import type { MonitorState } from './state.ts';

/** Groups that have to wait, each with the access that its accounts share. To be called before accounts are removed. */
export function waitingGroups(state: MonitorState): ReadonlyMap<string, readonly string[]> {
  const waiting = new Map<string, readonly string[]>();
  for (const { group, strikes, until } of state.backoffs.values())
    if (strikes > 0 || until > 0) waiting.set(group, sharedBy(state, group));
  return waiting;
}

/**
 * Accounts that share an address and a key share the provider's limit. A group has the name of its first account, so that no secret is stored. If
 * the first account changed, and so the name, the group still waits as long as before.
 */
export function groupAccounts(state: MonitorState, waiting: ReadonlyMap<string, readonly string[]>): void {
  const firsts = new Map<string, string>();
  state.groups.clear();
  for (const { id } of state.settings.accounts) {
    const [access = id, ...others] = sharedBy(state, id);
    const first = getOrMake(firsts, access, () => id);
    for (const other of others) getOrMake(firsts, other, () => first);
    if (first !== id) state.groups.set(id, first);
  }
  const renamed = [...waiting].flatMap(([old, shared]) => {
    const group = shared.map((each) => firsts.get(each)).find((each) => each !== undefined);
    const wait = state.backoffs.get(old);
    return group === undefined || group === old || wait === undefined ? [] : [{ old, group, wait }];
  });
  // The old row would stay in the database, so it is stored as one that no longer waits.
  for (const { old } of renamed) state.backoffs.set(old, { group: old, strikes: 0, until: 0 });
  for (const { group, wait } of renamed) {
    const { strikes = 0, until = 0 } = state.backoffs.get(group) ?? {};
    state.backoffs.set(group, {
      group,
      strikes: Math.max(strikes, wait.strikes),
      until: Math.max(until, wait.until),
    });
  }
}

/** Address and key of a watched account as one text that shows neither; null before it was watched. It changes only with the account's own entry. */
export function accessOf(state: MonitorState, id: string): string | null {
  return sharedBy(state, id)[0] ?? null;
}

/** The access of an account, and the same with the content of its entry as the address, because the entry may have another name. */
function sharedBy({ polled }: MonitorState, id: string): readonly string[] {
  const { address, key, entry } = polled.get(id)?.purse ?? {};
  if (key === undefined) return [];
  return [`${address} ${key}`, ...(entry === undefined ? [] : [`${entry} ${key}`])];
}
