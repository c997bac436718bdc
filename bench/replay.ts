/**
 * How fast the past is replayed, and in how much memory: ten accounts, a year of readings every five minutes, six rules
 * each, messages counted. Prints readings per second of processor time (a busy machine shows less in it) of the engine and of
 * reading a CSV file. Run: node bench/replay.ts
 */
import { Readable } from 'node:stream';
import { readHistoryCsv } from '../src/cli/replay/history-csv.ts';
import { formatMicros } from '../src/domain/money.ts';
import type { PollRecord } from '../src/domain/reading.ts';
import type { AccountSettings, Settings } from '../src/domain/settings.ts';
import type { AccountPast } from '../src/replay/past.ts';
import { createReplay } from '../src/replay/replay.ts';
import type { AnyRule } from '../src/rules/registry.ts';
import { cronCalendar } from '../src/system/calendar.ts';
import { emptyReader } from '../src/views/empty-reader.ts';
import { makeSettings } from '../test/support/settings.ts';

const accountCount = 10;
const readingCount = 105_120;
const everyMs = 300_000;
const start = Date.UTC(2026, 0, 1);
const runs = 5;

const units = (amount: number) => Math.round(amount * 1_000_000);
const common = {
  severity: 'warning',
  forMs: 0,
  recoverForMs: 0,
  match: {},
  builtIn: false,
  balance: null,
} as const;

const rules: readonly AnyRule[] = [
  {
    ...common,
    id: 'sms-low',
    type: 'below',
    balance: 'sms',
    thresholds: { info: units(500), warning: units(200), critical: units(50) },
    hysteresis: { kind: 'share', share: 0.1 },
  },
  {
    ...common,
    id: 'sms-negative',
    type: 'negative',
    balance: 'sms',
    severity: 'critical',
    hysteresisMicros: 0,
  },
  {
    ...common,
    id: 'runway',
    type: 'runway',
    balance: 'sms',
    afterLeadTime: [],
    thresholds: { warning: 3 * 86_400_000, critical: 86_400_000 },
    floorMicros: 0,
    lookbackMs: 86_400_000,
    minimumHistoryMs: 3_600_000,
    minimumHistoryGiven: false,
  },
  {
    ...common,
    id: 'drop',
    type: 'drop',
    balance: 'voip',
    by: { kind: 'share', share: 0.3 },
    windowMs: 3_600_000,
  },
  { ...common, id: 'top-up', type: 'top-up', balance: 'sms', severity: 'info', atLeastMicros: units(0.01) },
  { ...common, id: 'stale', type: 'stale', afterMs: null },
];

const accounts = Array.from({ length: accountCount }, (_, index) => `account-${index}`);
/** Without the built-in rules, so that the figures stay those of six. */
const settings: Settings = { ...makeSettings({ accounts, routes: [] }), rules };

const pasts = settings.accounts.map(makePast);
const total = accountCount * readingCount;
for (let run = 0; run < runs; run++) await report(`replay, ${rules.length} rules`, replayAll);
await report('reading CSV', readCsv);
console.log(`most memory: ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB`);

async function report(name: string, work: () => string | Promise<string>): Promise<void> {
  const begin = process.cpuUsage();
  const outcome = await work();
  const { user, system } = process.cpuUsage(begin);
  const ms = (user + system) / 1000;
  const rate = Math.round((total / ms) * 1000).toLocaleString('en');
  console.log(
    `${name}: ${rate} readings/s (${total.toLocaleString('en')} in ${Math.round(ms)} ms, ${outcome})`,
  );
}

async function replayAll(): Promise<string> {
  const replay = createReplay({ settings, calendar: cronCalendar, pasts });
  const result = await replay.advance(Number.POSITIVE_INFINITY);
  return `${result?.incidents.length} incidents, ${result?.messages.total} messages`;
}

async function readCsv(): Promise<string> {
  const balances = new Map(pasts.map(({ account: { id } }) => [id, ['sms', 'voip']]));
  const readings = await readHistoryCsv(Readable.from(csvText()), balances);
  return `${readings.size} accounts`;
}

function* csvText(): Generator<string> {
  yield 'at,sms,voip,currency,account\n';
  for (const [place, { account }] of pasts.entries()) {
    let piece = '';
    for (const { reading } of makePolls(place)) {
      if (reading === null) continue;
      const { at, balances } = reading;
      const { sms = 0, voip = 0 } = balances;
      piece += `${new Date(at).toISOString()},${formatMicros(sms)},${formatMicros(voip)},CNY,${account.id}\n`;
      if (piece.length < 65_536) continue;
      yield piece;
      piece = '';
    }
    yield piece;
  }
}

/** Spending at every poll, topped up some time after it got low. The same balances in every run; nothing is kept. */
function makePast(account: AccountSettings, place: number): AccountPast {
  return {
    account,
    polls: () => inParts(makePolls(place)),
    before: emptyReader,
    gaps: 'unread',
    until: null,
  };
}

/** As a store gives them. */
async function* inParts(polls: Iterable<PollRecord>): AsyncGenerator<readonly PollRecord[]> {
  const part: PollRecord[] = [];
  for (const poll of polls) if (part.push(poll) === 1000) yield part.splice(0);
  yield part;
}

function* makePolls(place: number): Generator<PollRecord> {
  const fraction = seededFractions(42 + place);
  let sms = units(900);
  let voip = units(500);
  for (let count = 0; count < readingCount; count++) {
    sms -= Math.floor(fraction() * 1_400_000);
    voip -= Math.floor(fraction() * 300_000);
    if (sms < units(100) && fraction() < 0.005) sms += units(1000);
    if (voip < units(50) && fraction() < 0.01) voip += units(500);
    const at = start + count * everyMs;
    yield { at, outcome: 'ok', reading: { at, balances: { sms, voip }, currency: 'CNY' } };
  }
}

/** A linear congruential generator. */
function seededFractions(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
