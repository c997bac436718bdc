import type { Calendar } from '../domain/ports.ts';
import type { PollRecord, Reading } from '../domain/reading.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { pollGap } from '../engine/poll-gaps.ts';
import { nextWindow } from '../engine/silencing.ts';
import { rulesForAccount } from '../rules/rules-for-account.ts';
import { AccountReplay } from './account-replay.ts';
import type { IncidentChange, ReplayedIncident } from './incident-book.ts';
import { countMessages, type ReplayedMessage } from './message-count.ts';
import { type GapReading, usualInterval, waitOf } from './poll-pauses.ts';

/** What is known of one account's past. */
export interface AccountHistory {
  readonly account: AccountSettings;
  /** Oldest first; two polls may share an instant. */
  readonly polls: readonly PollRecord[];
  /** Readings from before the replay begins, oldest first: rules look back on them. */
  readonly before: readonly Reading[];
  readonly gaps: GapReading;
  /** How long the account was watched after the last poll, at the most. */
  readonly until: number;
}

/** What the configured rules would have made of the past. */
export interface ReplayResult {
  /** Oldest first. */
  readonly incidents: readonly ReplayedIncident[];
  /** Oldest first. */
  readonly messages: readonly ReplayedMessage[];
}

/**
 * Runs the configured rules over the past of accounts: the same `evaluate` and `transition` as the daemon,
 * and the same decisions about messages. Writes nothing. Accounts are replayed one after the other as they
 * are added, so that only one history need be in memory; messages, which may join those of other accounts,
 * are counted at the end.
 */
export class HistoryReplay {
  readonly #settings: Settings;
  readonly #calendar: Calendar;
  readonly #changes: IncidentChange[] = [];
  readonly #incidents: ReplayedIncident[] = [];

  constructor(parts: { readonly settings: Settings; readonly calendar: Calendar }) {
    this.#settings = parts.settings;
    this.#calendar = parts.calendar;
  }

  /** Replays one account; each account once. */
  add(history: AccountHistory): void {
    const replay = replayAccount(history, this.#settings, this.#calendar);
    for (const change of replay.changes) this.#changes.push(change);
    for (const incident of replay.incidents) this.#incidents.push(incident);
  }

  /** The outcome, with the reminders of what is still open up to `until`. */
  finish(until: number): ReplayResult {
    const { channels, routes, silences } = this.#settings;
    const messages = countMessages(
      this.#changes.toSorted((left, right) => left.at - right.at),
      {
        channels: channels.map((channel) => channel.name),
        routes,
        silences,
        windowOf: (silence, at) => nextWindow(this.#calendar, silence, at),
      },
      until,
    );
    const incidents = this.#incidents.toSorted(
      (left, right) => left.incident.firedAt - right.incident.firedAt,
    );
    return { incidents, messages };
  }
}

function replayAccount(history: AccountHistory, settings: Settings, calendar: Calendar): AccountReplay {
  const { account, polls, gaps } = history;
  const { id, name, labels, currency, poll } = account;
  const schedule = {
    poll,
    calendar,
    backoff: settings.provider.backoff,
    intervalMs: usualInterval(history, calendar),
  };
  const replay = new AccountReplay({
    id,
    name,
    labels,
    currency,
    rules: rulesForAccount(settings, account),
    watchedSince: null,
    pollIntervalMs: schedule.intervalMs,
    pollGapAt: poll.kind === 'every' ? null : (at) => pollGap(calendar, poll, at),
  });
  for (const reading of history.before) replay.remember(reading);
  let last: PollRecord | null = null;
  for (const record of polls) {
    if (last !== null && record.at - last.at > schedule.intervalMs) {
      const waited = waitOf({ last, next: record, gaps, schedule });
      if (waited?.kind === 'unread') replay.fail(waited.since, 'network_error');
      if (waited?.kind === 'unwatched') replay.pause(record.at, record.at - waited.since);
    }
    if (record.reading !== null) replay.read(record.reading);
    else if (record.outcome !== 'ok') replay.fail(record.at, record.outcome);
    last = record;
  }
  if (last !== null) replay.finish(Math.max(last.at, Math.min(history.until, last.at + schedule.intervalMs)));
  return replay;
}
