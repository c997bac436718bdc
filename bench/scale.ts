/**
 * What the number of accounts costs: the engine with 500, 5,000 and 50,000 accounts of one provider and one key, each with a day of
 * stored readings. Aims at 50,000: a first good poll after a failure and a poll that met the rate limit under 0.2 ms, staleness
 * 20 µs an account that changes, no turn over 50 ms, started in 2 s. Run: node bench/scale.ts
 */

import type { AccountState, Outcome, Reading } from '../src/domain/reading.ts';
import { Secret } from '../src/domain/secret.ts';
import type { Settings } from '../src/domain/settings.ts';
import { batchStored, takeBatch } from '../src/engine/batch.ts';
import { observePoll } from '../src/engine/observe.ts';
import { startMonitor } from '../src/engine/restore.ts';
import { loadHistory } from '../src/engine/spending.ts';
import type { MonitorState } from '../src/engine/state.ts';
import { endTurn } from '../src/engine/turn.ts';
import type { StoredState } from '../src/ports/store.ts';
import { cronCalendar } from '../src/system/calendar.ts';
import { systemRandom } from '../src/system/random.ts';
import { nothingStored } from '../src/views/empty-reader.ts';
import { makeAccount, makeSettings } from '../test/support/settings.ts';

const start = Date.UTC(2026, 0, 2);
const everyMs = 300_000;
const samples = 200;

const day: Reading[] = [];
for (let at = start - 86_400_000; at < start; at += everyMs) day.push({ at, ...balances(0) });

for (const count of [500, 5000, 50_000]) {
  const settings = settingsOf(count);
  const began = performance.now();
  const state = startMonitor({
    settings,
    calendar: cronCalendar,
    random: systemRandom,
    stored: storedDay(settings),
    now: start,
  });
  const startMs = performance.now() - began;
  const firstPoll = poll(state, 0, good(0), start + 1000);
  let now = start + 2000;
  for (let place = 1; place < count; place++) poll(state, place, good(place), now);
  store(state);
  now += 1000;
  for (let place = 0; place < samples; place++) poll(state, place, failed('timeout'), now);
  store(state);
  const recovered = times((place) => poll(state, place, good(place), now + 1000));
  const limited = times((place) => poll(state, place, failed('rate_limited'), now + 2000));
  const stale = goStale(state, now);
  console.log(
    `${count.toLocaleString('en')} accounts: started in ${startMs.toFixed(0)} ms, first poll of an account ${firstPoll.toFixed(2)} ms; ` +
      `first good poll after a failure ${recovered.toFixed(3)} ms; rate limited ${limited.toFixed(3)} ms; ` +
      `staleness ${((stale.totalMs / count) * 1000).toFixed(0)} µs an account, longest turn ${stale.maxMs.toFixed(1)} ms`,
  );
}

/** A poll and its turn, in milliseconds. */
function poll(state: MonitorState, place: number, outcome: Outcome, now: number): number {
  const account = state.accounts.get(`account-${place}`);
  if (account === undefined) throw new Error(`there is no account ${place}`);
  const began = performance.now();
  if (state.unloaded.has(account.id)) loadHistory(state, account, { readings: day, areAll: false });
  observePoll(state, account, outcome, now);
  endTurn(state, now);
  return performance.now() - began;
}

/** Every account goes stale at the same time: the turns until nothing is due any more. */
function goStale(state: MonitorState, now: number): { totalMs: number; maxMs: number } {
  const staleAt = now + 4 * everyMs;
  let totalMs = 0;
  let maxMs = 0;
  while (state.due.nextAt <= staleAt) {
    const began = busyMs();
    endTurn(state, staleAt);
    const tookMs = busyMs() - began;
    totalMs += tookMs;
    maxMs = Math.max(maxMs, tookMs);
  }
  return { totalMs, maxMs };
}

/** Processor time of this thread: what else the machine does shows less in it. */
function busyMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function times(work: (place: number) => number): number {
  const all = Array.from({ length: samples }, (_, place) => work(place)).toSorted(
    (left, right) => left - right,
  );
  return all[samples >> 1] ?? 0;
}

function store(state: MonitorState): void {
  for (let batch = takeBatch(state); batch !== null; batch = takeBatch(state)) batchStored(state, batch);
}

function good(place: number): Outcome {
  return { kind: 'ok', answer: balances(place), durationMs: 10, usage: {} };
}

function failed(kind: 'timeout' | 'rate_limited'): Outcome {
  return { kind, reason: 'as the benchmark says', durationMs: 10, usage: {} };
}

function balances(place: number): Omit<Reading, 'at'> {
  return { balances: { sms: 900_000_000 + place, voip: 500_000_000 }, currency: 'CNY' };
}

/** What is stored of accounts that were polled for a day. */
function storedDay(settings: Settings): StoredState {
  const last = day.at(-1) ?? null;
  const accounts = settings.accounts.map(
    ({ id }): AccountState => ({
      account: id,
      firstSeenAt: start - 86_400_000,
      polledAt: last?.at ?? null,
      outcome: 'ok',
      failure: null,
      failureCode: null,
      consecutiveFailures: 0,
      reading: last,
      previous: day.at(-2) ?? null,
      changedAt: null,
      unwatchedMs: 0,
      usage: {},
      retryAt: null,
      purse: null,
      seriesSince: 0,
    }),
  );
  return { ...nothingStored, accounts };
}

/** Accounts that share one key. */
function settingsOf(count: number): Settings {
  const authSecret = new Secret('the one key');
  const accounts = Array.from({ length: count }, (_, place) =>
    makeAccount(`account-${place}`, { authSecret }),
  );
  return makeSettings({ accounts, routes: [] });
}
