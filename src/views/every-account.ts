import { inSlices } from '../daemon/slices.ts';
import type { AccountView } from './views.ts';

/** More at once would outlive the young objects' space while they wait for a commit, and be garbage among the old ones. */
const sliceOfAccounts = 100;

/** The accounts, or those of the given ids, some at a time, with a turn for the rest of the daemon in between. */
export async function* everyAccount(
  views: {
    accountIds(): readonly string[];
    accounts(ids: readonly string[]): Promise<readonly AccountView[]>;
  },
  ids = views.accountIds(),
) {
  for await (const slice of inSlices(ids, sliceOfAccounts)) yield views.accounts(slice);
}
