import { StorageError } from '../domain/operator-error.ts';
import { dayMs, hourMs } from '../domain/time.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

const everyMs = hourMs;
/** Deletion goes in small steps, with this pause in which polls go on. */
const stepMs = 50;
/** Time for which a clock is not trusted after it changed or was far ahead of the stored data. */
const distrustMs = dayMs;
/** A longer pause between two runs may be a wrong clock. */
const longPauseMs = 30 * dayMs;
/** A jump by less than this part of the retention (a night asleep, seconds of standing still) costs this part of the history at most. */
const harmlessPart = 0.1;

/** Notes until when the clock is not trusted: a daemon that starts before then, by the same clock, waits for the rest of it. */
const distrustNote = 'retention-at';

/** Deletes old history, but not while the clock may be wrong: that must not cost the history. */
export function createRetention({ state, store, committer, timer, log }: DaemonParts, startedAt: number) {
  const noted = Number(state.notes.get(distrustNote)?.value ?? startedAt);
  // If the clock was set back, the note lies further ahead than the wait ever lasts.
  const isDoubtful = startedAt - state.lastRunEndedAt > longPauseMs || noted > startedAt + distrustMs;
  let nextAt = Math.max(startedAt + everyMs, noted);
  const wait = (until: number): void => {
    nextAt = until;
    state.notes.write(distrustNote, String(until));
  };
  if (isDoubtful) wait(startedAt + distrustMs);
  return {
    nextAt: () => nextAt,
    shift(jumpMs: number, now: number): void {
      const isHarmless = Math.abs(jumpMs) <= harmlessPart * state.settings.storage.retentionMs;
      if (!isHarmless) wait(now + distrustMs);
      else if (state.notes.has(distrustNote)) wait(nextAt + jumpMs);
      else nextAt += jumpMs;
    },
    /** Takes a step when one is due and the store is free. */
    start(now: number): void {
      if (now < nextAt) return;
      if (state.notes.has(distrustNote)) state.notes.delete(distrustNote);
      nextAt = now + everyMs;
      const olderThan = now - state.settings.storage.retentionMs;
      committer.alone(async () => {
        const isMore = await store.prune(olderThan).catch((error: unknown) => {
          if (!(error instanceof StorageError)) throw error;
          // Commits report all other failures. These two may concern only pages of the history, which commits never touch.
          if (error.kind === 'corrupt' || error.kind === 'unfit')
            log.error({ err: error }, 'what is older than storage.retention cannot be deleted');
          return false;
        });
        if (isMore) nextAt = Math.min(nextAt, now + stepMs);
        timer.wakeBy(nextAt);
      });
    },
  };
}
