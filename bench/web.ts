/**
 * What people who look at lowwater cost: pages and API of 14, 1,000 and 10,000 accounts in the engine, each with a day of 5-minute
 * readings. Printed are bytes on the wire, milliseconds to the last byte, and the longest turn of the event loop meanwhile in CPU
 * time (aim: 30 ms); what an open overview moves in 30 s while every account is polled once a minute (aim: 20 KB at 1,000); how
 * long a reload holds everything up (aim: 30 ms). The client is a process of its own; memory is measured by memory.ts, on the program
 * as it ships. Run: node bench/web.ts
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createHistoryLoader } from '../src/daemon/history-loader.ts';
import { inSlices } from '../src/daemon/slices.ts';
import type { AccountState, Reading } from '../src/domain/reading.ts';
import { Secret } from '../src/domain/secret.ts';
import type { Settings } from '../src/domain/settings.ts';
import { batchStored, takeBatch } from '../src/engine/batch.ts';
import { accountsAtOnce } from '../src/engine/changed-accounts.ts';
import { observePoll } from '../src/engine/observe.ts';
import { followAccounts, reconfigure } from '../src/engine/reconfigure.ts';
import { startMonitor } from '../src/engine/restore.ts';
import type { MonitorState } from '../src/engine/state.ts';
import { endTurn } from '../src/engine/turn.ts';
import { readParts } from '../src/http/page/live.ts';
import { startWebServer } from '../src/http/server.ts';
import type { StoreReader } from '../src/ports/store.ts';
import { cronCalendar } from '../src/system/calendar.ts';
import { systemClock } from '../src/system/clock.ts';
import { systemRandom } from '../src/system/random.ts';
import { createViews } from '../src/views/create-views.ts';
import { CurrentViews } from '../src/views/current-views.ts';
import { emptyReader, nothingStored } from '../src/views/empty-reader.ts';
import { FakeViews } from '../test/support/fake-views.ts';
import { makeAccount, makeSettings } from '../test/support/settings.ts';
import { noTrials } from '../test/support/web-server.ts';

interface Asked {
  readonly url: string;
  /** Listens so long, instead of until the end. */
  readonly forMs?: number;
}

interface Answered {
  readonly ms: number;
  readonly bytes: number;
}

const everyMs = 300_000;
const idleMs = 30_000;
const rounds = 5;

if (process.send === undefined) await main();
else {
  process.on('message', (asked: Asked) => void ask(asked).then((answered) => process.send?.(answered)));
}

async function main(): Promise<void> {
  const client = fork(fileURLToPath(import.meta.url));
  for (const count of [14, 1_000, 10_000]) await measure(count, client);
  client.kill();
}

async function measure(count: number, client: ChildProcess): Promise<void> {
  const startedAt = systemClock.now();
  const settings = settingsOf(count);
  const reader = readerOfADay(settings, startedAt);
  const state = startMonitor({
    settings,
    calendar: cronCalendar,
    random: systemRandom,
    stored: await reader.load(),
    now: startedAt,
  });
  const historyLoader = createHistoryLoader(state, reader, systemClock.now);
  await historyLoader.ofAll(state.accounts.keys());
  for (const { id } of settings.accounts) poll(state, id, startedAt);
  const fake = new FakeViews();
  const views = Object.assign(
    fake,
    createViews(() => ({ state, reader, historyLoader, now: systemClock.now, nextPollAt: () => null })),
  );
  const quiet = (): void => {};
  const server = await startWebServer({
    views: new CurrentViews(views),
    trials: noTrials,
    clock: systemClock,
    random: systemRandom,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet },
    ackKey: Buffer.alloc(32),
    database: () => null,
    timezone: 'UTC',
    reports: { ids: () => [], compose: async () => null, send: async () => null },
    settings: {
      host: '127.0.0.1',
      port: 0,
      publicUrl: null,
      token: null,
      allowUnauthenticated: false,
      openMetrics: false,
      viewerToken: null,
      trustedProxy: null,
    },
  });
  console.log(`\n${count.toLocaleString('en')} accounts`);
  // The first page of a process loads what pages are made by, here from sources that have yet to be compiled.
  await notify(client, { url: server.url });
  const paths = ['/', '/?sort=burn&q=account', '/alerts', '/silences', '/accounts/account-1', '/metrics'];
  for (const path of [...paths, '/api/v1/accounts', '/api/v1/accounts?limit=100', '/api/v1/alerts']) {
    await report(path, () => notify(client, { url: server.url + path }));
  }
  await reportReload(state, settings);
  await reportIdle(state, server.url, client, fake);
  await server.close();
}

async function report(name: string, work: () => Promise<Answered>): Promise<void> {
  const turns = watchTurns();
  const answers: Answered[] = [];
  for (let round = 0; round < rounds; round += 1) answers.push(await work());
  const ms = answers.map((answer) => answer.ms).toSorted((left, right) => left - right)[rounds >> 1] ?? 0;
  console.log(
    `  ${name.padEnd(28)} ${kilobytes(answers[0]?.bytes ?? 0).padStart(9)}, ${ms.toFixed(0).padStart(5)} ms, longest turn ${turns().toFixed(1)} ms`,
  );
}

/** The same accounts with another threshold: every one is judged again. */
async function reportReload(state: MonitorState, settings: Settings): Promise<void> {
  const turns = watchTurns();
  const rules = settings.rules.map((rule) => ({ ...rule, forMs: 1_000 }));
  await sleep(50);
  const rest = reconfigure(state, { ...settings, rules }, systemClock.now());
  endTurn(state, systemClock.now());
  for await (const part of inSlices(rest, accountsAtOnce)) {
    followAccounts(state, part, systemClock.now());
    endTurn(state, systemClock.now());
  }
  await sleep(50);
  console.log(`  reload                       longest turn ${turns().toFixed(1)} ms`);
}

async function reportIdle(
  state: MonitorState,
  url: string,
  client: ChildProcess,
  views: FakeViews,
): Promise<void> {
  const page = await (await fetch(`${url}/`)).text();
  const have = readParts(page).map(({ digest }) => digest);
  const turns = watchTurns();
  const ended = notify(client, {
    url: `${url}/events?${new URLSearchParams({ page: '/', have: have.join('.') })}`,
    forMs: idleMs,
  });
  const ids = [...state.accounts.keys()];
  const tickMs = 1_000;
  let polled = 0;
  for (let tick = 0; tick < idleMs / tickMs; tick += 1) {
    await sleep(tickMs);
    const due = (ids.length * (tick + 1) * tickMs) / 60_000;
    for (; polled < due; polled += 1) poll(state, ids[polled % ids.length] ?? '', systemClock.now());
    views.change();
  }
  const { bytes } = await ended;
  console.log(
    `  an open overview, 30 s       ${kilobytes(bytes).padStart(9)}, ${polled} polls, longest turn ${turns().toFixed(1)} ms`,
  );
}

/** The longest turn of the event loop since, in milliseconds of CPU: a busy machine does not show in it. */
function watchTurns(): () => number {
  let longest = 0;
  let on = true;
  let last = cpuMs();
  const turn = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (on) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    on = false;
    return longest;
  };
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

async function notify(client: ChildProcess, asked: Asked): Promise<Answered> {
  client.send(asked);
  const [answered] = await once(client, 'message');
  return answered;
}

/** The bytes of an answer as they come, headers and all. */
function ask({ url, forMs }: Asked): Promise<Answered> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(url, {
      agent: false,
      headers: { 'accept-encoding': 'gzip', accept: 'text/html,*/*' },
    });
    request.on('response', (response) => {
      const end = (): void => {
        resolve({ ms: performance.now() - startedAt, bytes: response.socket.bytesRead });
        response.destroy();
      };
      response.on('end', end).resume();
      if (forMs !== undefined) setTimeout(end, forMs);
    });
    request.on('error', reject);
  });
}

/** Each account spends as much as its place says; a few are low. */
function poll(state: MonitorState, id: string, now: number): void {
  const account = state.accounts.get(id);
  const reading = account?.poll.reading;
  if (account === undefined || reading == null) throw new Error(`nothing is known of ${id}`);
  const { currency } = reading;
  const { sms = 0, voip = 0 } = reading.balances;
  const answer = { balances: { sms: sms - 10_000, voip }, currency };
  observePoll(state, account, { kind: 'ok', answer, durationMs: 10, usage: {} }, now);
  endTurn(state, now);
  const batch = takeBatch(state);
  if (batch !== null) batchStored(state, batch);
}

/** A database that remembers a day of readings of each account. */
function readerOfADay(settings: Settings, now: number): StoreReader {
  const dayOf = (id: string): readonly Reading[] => {
    const place = Number(id.slice('account-'.length));
    return Array.from({ length: 288 }, (_, index) => ({
      at: now - (288 - index) * everyMs,
      balances: {
        sms: 1_000_000 * (20 + ((place * 7_919) % 5_000)) - index * (place % 90) * 10_000,
        voip: 80_000_000,
      },
      currency: 'CNY',
    }));
  };
  const accounts = settings.accounts.map(({ id }): AccountState => {
    const day = dayOf(id);
    const last = day.at(-1) ?? null;
    return {
      account: id,
      firstSeenAt: now - 86_400_000,
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
    };
  });
  return {
    ...emptyReader,
    load: async () => ({ ...nothingStored, accounts }),
    async *readings({ account }) {
      yield dayOf(account);
    },
  };
}

function settingsOf(count: number): Settings {
  const authSecret = new Secret('the one key');
  const accounts = Array.from({ length: count }, (_, place) =>
    makeAccount(`account-${place}`, {
      name: `Account number ${place}`,
      authSecret,
      labels: { team: String(place % 12), region: place % 2 === 0 ? 'cn' : 'eu' },
      poll: { kind: 'every', everyMs: 60_000 },
    }),
  );
  return makeSettings({ accounts, routes: [] });
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(1)} kB`;
}
