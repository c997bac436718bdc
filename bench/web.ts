import { startWebServer } from '../src/http/server.ts';
import { systemClock } from '../src/system/clock.ts';
import { systemRandom } from '../src/system/random.ts';
import type { AccountView } from '../src/views/views.ts';
import {
  buildAccountView,
  buildAlertView,
  buildOutlook,
  buildPolls,
  dayMs,
  FakeViews,
  micros,
  minuteMs,
} from '../test/support/fake-views.ts';

/**
 * Server time of the two heaviest answers, over a loopback connection, from the request to the last byte:
 * the overview with 1,000 accounts (aim: 50 ms), and a year of 5-minute readings (105,120; aim: 30 ms).
 * The views answers from memory: what the database adds is measured with it.
 */
const rounds = 40;
const now = systemClock.now();

const views = new FakeViews();
views.accountList = Array.from({ length: 1_000 }, (_, index) => buildAccount(index));
views.alertList = views.accountList
  .filter(({ firing }) => firing > 0)
  .map(({ id, name }) => buildAlertView({ account: id, accountName: name }));
const polls = buildPolls({
  since: now - 105_119 * 5 * minuteMs,
  until: now,
  everyMs: 5 * minuteMs,
  sms: (at) => 500 + 400 * Math.sin(at / dayMs),
});
views.pollsByAccount.set('account-1', polls);
const readings = polls.flatMap(({ reading }) => (reading === null ? [] : [reading]));
views.readings = () => readings;
const quiet = (): void => {};
const server = await startWebServer({
  views,
  clock: systemClock,
  random: systemRandom,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet },
  ackKey: Buffer.alloc(32),
  settings: {
    host: '127.0.0.1',
    port: 0,
    publicUrl: null,
    token: null,
    allowUnauthenticated: false,
    openMetrics: false,
  },
});

console.log(`readings: ${readings.length}, accounts: ${views.accountList.length}, rounds: ${rounds}`);
await measure('overview, 1,000 accounts', '/', 50);
await measure('overview, sorted and filtered', '/?q=team%3D3&sort=burn&order=desc&page=2', 50);
await measure('history, 1 year, 5,000 points', '/api/v1/accounts/account-1/history?since=366d', 30);
await measure(
  'history, 1 year, 1,000 points',
  '/api/v1/accounts/account-1/history?since=366d&points=1000',
  30,
);
await measure('account page, 1 year', '/accounts/account-1?range=1y', 50);
await measure('metrics, 1,000 accounts', '/metrics', 50);
await measure('accounts as JSON, 1,000', '/api/v1/accounts', 50);
await server.close();

async function measure(name: string, path: string, aimMs: number): Promise<void> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const response = await fetch(server.url + path);
    bytes = (await response.arrayBuffer()).byteLength;
    times.push(performance.now() - start);
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
  }
  times.sort((left, right) => left - right);
  const at = (share: number): string => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
  const kept = Number(at(0.5)) <= aimMs ? 'kept' : 'MISSED';
  console.log(
    `${name.padEnd(34)} p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, ${(bytes / 1024).toFixed(0)} KiB; aim ${aimMs} ms ${kept}`,
  );
}

function buildAccount(index: number): AccountView {
  const sms = 10 + ((index * 7919) % 5_000);
  const burn = 1 + (index % 90);
  return buildAccountView({
    id: `account-${index}`,
    name: `Account number ${index}`,
    labels: { team: String(index % 12), region: index % 2 === 0 ? 'cn' : 'eu' },
    reading: { at: now, sms: micros(sms), voip: micros(80), currency: 'CNY' },
    outlooks: {
      sms: buildOutlook({
        burnPerDay: micros(burn),
        runwayMs: (sms / burn) * dayMs,
        emptyAt: now + (sms / burn) * dayMs,
      }),
      voip: null,
    },
    worst: index % 50 === 0 ? 'critical' : null,
    firing: index % 50 === 0 ? 1 : 0,
    day: Array.from({ length: 96 }, (_, quarter) => ({
      at: now - dayMs + quarter * 15 * minuteMs,
      sms: micros(sms + burn * (1 - quarter / 96)),
      voip: micros(80),
      currency: 'CNY',
    })),
  });
}
