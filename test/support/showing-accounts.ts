import type { LiveViews } from '../../src/views/live-views.ts';
import type { AccountView } from '../../src/views/views.ts';

/** The views of a world that show these accounts in place of its own: states that no world comes into at will. */
export function showingAccounts(views: LiveViews, shown: readonly AccountView[]): LiveViews {
  return {
    ...views,
    accounts: async (ids) => shown.filter(({ id }) => ids?.includes(id) ?? true),
    account: async (id) => shown.find((account) => account.id === id) ?? null,
    accountIds: () => shown.map(({ id }) => id),
    counts: () => ({
      accounts: shown.length,
      unread: shown.filter(({ outcome }) => outcome !== 'ok').length,
    }),
  };
}
