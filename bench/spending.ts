/**
 * What knowing the spending of a balance costs, in processor time and bytes: a year of readings every five minutes with the shape of
 * office hours, a top-up a week. Best of several rounds, because all else that the machine does only adds.
 *
 *     node bench/spending.ts
 */
import type { Reading } from '../src/domain/reading.ts';
import { AccountSpending } from '../src/spending/account-spending.ts';
import { LocalWeek } from '../src/spending/local-week.ts';

const stepMs = 300_000;
const start = Date.UTC(2026, 0, 5);
const rounds = 9;
const timezone = 'Europe/Berlin';

const readings = yearOfReadings();
const settings = { announced: [], week: weekOf(), balances: [], floorMicros: 0 };

console.log(`${'what'.padEnd(60)} ${'reached'.padStart(12)}   aim`);
row('a reading taken in, the ends of hours among them', perReading(learn), '<= 2 µs');
row('the same, and a forecast made of each', perReading(predict), '-');
const stored = learn().bytes() ?? new Uint8Array();
console.log(
  `${'state of one balance'.padEnd(60)} ${`${(stored.length / 1024).toFixed(1)} KB`.padStart(12)}   <= 4 KB`,
);

function weekOf(): LocalWeek {
  return new LocalWeek({ timezone, holidays: [] });
}

function learn(): AccountSpending {
  const spending = new AccountSpending('otp', settings);
  for (const reading of readings) spending.read(reading);
  return spending;
}

function predict(): AccountSpending {
  const spending = new AccountSpending('otp', settings);
  for (const reading of readings) {
    spending.read(reading);
    spending.forecast('sms', reading.balances.sms ?? 0);
  }
  return spending;
}

/** Microseconds of processor time a reading. */
function perReading(once: () => AccountSpending): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    once();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / readings.length);
  }
  return best;
}

function yearOfReadings(): Reading[] {
  const found: Reading[] = [];
  let sms = 1e12;
  for (let slot = 0; slot < 105_120; slot++) {
    const at = start + slot * stepMs;
    found.push({ at, balances: { sms, voip: 0 }, currency: 'EUR' });
    const hour = new Date(at).getUTCHours();
    const busy = hour >= 8 && hour < 18 ? 10 : 1;
    sms -= Math.round(busy * (0.5 + ((slot * 7919) % 1000) / 1000) * 80_000);
    if (slot % 2016 === 0) sms += 1e9;
  }
  return found;
}

function row(what: string, micros: number, aim: string): void {
  console.log(`${what.padEnd(60)} ${`${micros.toFixed(2)} µs`.padStart(12)}   ${aim}`);
}
