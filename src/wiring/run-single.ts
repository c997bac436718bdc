import { dirname } from 'node:path';
import type { Daemon } from '../daemon/daemon.ts';
import type { DaemonDependencies } from '../daemon/daemon-dependencies.ts';
import { keepPromise } from '../daemon/keep-promise.ts';
import { inTurns } from '../daemon/slices.ts';
import type { TakeOver } from '../domain/alert.ts';
import type { Settings } from '../domain/settings.ts';
import { restoreMonitor } from '../engine/restore.ts';
import type { MonitorState } from '../engine/state.ts';
import type { StoredState, StoreReader } from '../ports/store.ts';
import { openStore } from '../store/store.ts';
import { cronCalendar } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import type { SystemLog } from '../system/log.ts';
import { systemRandom } from '../system/random.ts';
import { watchPath } from '../system/watch-path.ts';
import { CurrentViews } from '../views/current-views.ts';
import { createLiveViews, type LiveViews } from '../views/live-views.ts';

/** Whether and for how long this process does the work of a daemon, and what it shows meanwhile. */
export interface Ownership {
  readonly views: CurrentViews;
  readonly reader: StoreReader;
  /** The id of a database that may be new, or out of reach at the start; null before it was opened. */
  databaseId?(): string | null;
  /** `fail` is called if the work turns out to be impossible until an operator changes something. */
  begin(fail: (why: unknown) => void): void;
  apply(settings: Settings): Promise<void>;
  refuse(text: string): void;
  /** Ends the work in order: everything known is stored. */
  end(): Promise<void>;
  close(): Promise<void>;
}

export type MakeDaemon = (
  it: Pick<DaemonDependencies, 'store' | 'state' | 'membership' | 'watchDatabase' | 'counting'>,
) => Daemon;

export interface OwnershipDependencies {
  readonly settings: Settings;
  readonly log: SystemLog;
  readonly version: string;
  readonly makeDaemon: MakeDaemon;
}

/** The single daemon of a SQLite file: it owns the accounts as long as it lives. */
export async function ownFile(path: string, parts: OwnershipDependencies): Promise<Ownership> {
  const { settings, log, version, makeDaemon } = parts;
  const store = openStore({ path, log, now: systemClock.now, program: `lowwater ${version}` });
  const stored = await store.load();
  const { damagedRecords = [] } = stored;
  for (const { source, key, reason } of damagedRecords)
    log.error({ source, key, reason }, 'a stored record cannot be read and is set aside');
  const state = await restore(settings, stored);
  const watchDatabase = (changed: () => void) => watchPath(dirname(path), changed);
  const daemon = makeDaemon({ store, state, watchDatabase });
  const views = createLiveViews(daemon, version);
  return {
    views: new CurrentViews(views),
    reader: daemon.reader,
    begin() {
      daemon.start();
      hearChats(daemon, views, log);
    },
    apply: (next) => daemon.reload(next),
    refuse: (text) => daemon.reportInvalidConfiguration(text),
    end: () => daemon.stop(),
    close: () => store.close(),
  };
}

/** Lets people act in the chats of a daemon's channels. The code for answers is loaded at the first use. */
export function hearChats(daemon: Daemon, views: LiveViews, log: SystemLog): void {
  const answers = keepPromise(async () => {
    const { createChatAnswers } = await import('../channels/chats/answer-chat.ts');
    return createChatAnswers(daemon.state, views, () => daemon.now());
  });
  daemon.listen(async (event) => {
    try {
      return await (await answers())(event);
    } catch (err) {
      log.error({ err, channel: event.channel }, 'what somebody pressed or wrote in a chat was not answered');
      return { text: '', isPublic: false };
    }
  });
}

/** The state with which a daemon begins. It is made in slices, between which the page answers. */
export function restore(
  settings: Settings,
  stored: StoredState,
  takeOver: TakeOver | null = null,
): Promise<MonitorState> {
  const [calendar, random, now] = [cronCalendar, systemRandom, systemClock.now()];
  return inTurns(restoreMonitor({ settings, calendar, random, stored, now, takeOver }));
}
