import { getOrMake } from '../domain/get-or-make.ts';
import type { MonitorState } from './state.ts';

/** Groups that have to wait, each with the access that its accounts share. Asked for before accounts are removed. */
export function waitingGroups(state: MonitorState): ReadonlyMap<string, string> {
  const waiting = new Map<string, string>();
  for (const { group, strikes, until } of state.backoffs.values()) {
    const access = accessOf(state, group);
    if (access !== null && (strikes > 0 || until > 0)) waiting.set(group, access);
  }
  return waiting;
}

/**
 * Accounts that share an address and a key share the provider's limit. A group has its first account's name: no secret is stored. One
 * whose first account changed, and so its name, waits as long as before.
 */
export function groupAccounts(state: MonitorState, waiting: ReadonlyMap<string, string>): void {
  const firsts = new Map<string, string>();
  state.groups.clear();
  for (const { id } of state.settings.accounts) {
    const first = getOrMake(firsts, accessOf(state, id) ?? id, () => id);
    if (first !== id) state.groups.set(id, first);
  }
  const renamed = [...waiting].flatMap(([old, access]) => {
    const [group, wait] = [firsts.get(access), state.backoffs.get(old)];
    return group === undefined || group === old || wait === undefined ? [] : [{ old, group, wait }];
  });
  // A row that is gone would stay in the database: it is stored as one that waits no more.
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

/** Address and key of a watched account as one text, without showing either; null before it was watched. A reload may rename a group, never this. */
export function accessOf({ polled }: MonitorState, id: string): string | null {
  const { address, key } = polled.get(id)?.purse ?? {};
  return key === undefined ? null : `${address} ${key}`;
}
