import type { StoreReader } from '../../src/ports/store.ts';
import { createTrials, type Trials } from '../../src/replay/trial.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import { viewsNow } from './built-views.ts';
import type { FakeViews } from './fake-views.ts';
import { makeAccount, makeSettings } from './settings.ts';

/** Tries rules on the polls that made-up views hold. */
export function trialsOn(views: FakeViews): Trials {
  const reader: StoreReader = {
    ...emptyReader,
    polls: async function* ({ account, since, until }) {
      yield await views.polls(account, since, until);
    },
  };
  const settings = makeSettings({ accounts: views.accountIds().map((id) => makeAccount(id)) });
  return createTrials({
    settings: () => settings,
    reader,
    calendar: cronCalendar,
    clock: { now: () => viewsNow, monotonic: () => performance.now(), setTimer: () => () => undefined },
  });
}
