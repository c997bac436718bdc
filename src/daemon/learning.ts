import { StorageError } from '../domain/operator-error.ts';
import { LearnFromHistory } from '../engine/spending.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** Learned per slice, in a millisecond or two, before others have their turn. */
const readingsAtOnce = 1000;
/** Accounts that load together, in some milliseconds. */
const accountsAtOnce = 20;
const pauseMs = 20;

/**
 * Loads accounts that nobody has needed yet, then learns spending from stored history where none is stored:
 * after an upgrade or a change of the time zone. In slices, after polling began.
 */
export function createLearning({ state, store, clock, log, committer, historyLoader }: DaemonParts) {
  let lessons: AsyncGenerator<void> | null = null;
  let cancel = (): void => undefined;
  let isWorking = false;
  let isStopped = false;

  /** Continues until everything is learned; called again when accounts were added. */
  function start(now: number): void {
    if (isStopped || isWorking || state.unlearned.size + state.unloaded.size === 0) return;
    isWorking = true;
    cancel = clock.setTimer(pauseMs, async () => {
      if (state.unloaded.size > 0) await loadSome();
      else await learn(now);
      isWorking = false;
      start(now);
    });
  }

  async function learn(now: number): Promise<void> {
    try {
      lessons ??= learnAll(now);
      if ((await lessons.next()).done !== true) return;
      lessons = null;
      committer.schedule();
      if (state.unlearned.size === 0) log.info({}, 'spending learned from stored history');
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // Unreadable history must not stop learning from new readings.
      log.warn(
        { err: error, accounts: state.unlearned.size },
        'stored history cannot be read; learning spending from now on',
      );
      lessons = null;
      state.unlearned.clear();
    }
  }

  /** So that who needs all accounts does not wait for all at once. */
  async function loadSome(): Promise<void> {
    const some = [...state.unloaded.values().take(accountsAtOnce)];
    for (const id of some) if (!state.accounts.has(id)) state.unloaded.delete(id);
    await historyLoader.ofAll(some);
  }

  /** Yields after each slice. */
  async function* learnAll(now: number): AsyncGenerator<void> {
    for (const id of state.unlearned) {
      const account = state.accounts.get(id);
      if (account === undefined) {
        state.unlearned.delete(id);
        continue;
      }
      const subject = new LearnFromHistory(state, account, now);
      let taken = 0;
      for await (const chunk of store.readings(subject.query)) {
        if (subject.isOver) break;
        subject.take(chunk);
        taken += chunk.length;
        if (taken < readingsAtOnce) continue;
        taken = 0;
        yield;
      }
      subject.finish();
      committer.schedule();
      yield;
    }
  }

  return {
    start,
    stop(): void {
      isStopped = true;
      cancel();
    },
  };
}
