import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccountSpending } from '../src/spending/account-spending.ts';
import { LocalWeek } from '../src/spending/local-week.ts';

// node scripts/forecast-picture.ts
// Draws docs/forecast.svg: an account of office hours on a Thursday at noon, what is predicted of it, and what came.

const stepMs = 300_000;
const dayMs = 86_400_000;
const from = Date.UTC(2026, 0, 5);
const now = from + 31.5 * dayMs;
const shownFrom = now - 4 * dayMs;
const until = now + 6.5 * dayMs;
const width = 800;
const height = 300;
const ground = height - 30;
const levels = 40;

const left = 620e6;
const readings = readAccount();
const spending = new AccountSpending('otp', {
  week: new LocalWeek({ timezone: 'UTC', holidays: [] }),
  balances: [],
  floorMicros: 0,
  announced: [],
});
for (const reading of readings)
  if (reading.at <= now)
    spending.read({ at: reading.at, balances: { sms: reading.sms, voip: 0 }, currency: reading.currency });

const reached = Array.from({ length: levels + 1 }, (_, step) => {
  const level = left * (1 - step / levels);
  const { emptyAt, earliest, latest } = spending.forecast('sms', left - level) ?? {};
  const at = (instant: number | null | undefined): string => point(instant ?? until, level);
  return { early: at(earliest), middle: at(emptyAt), late: at(latest) };
});
const seen = readings.filter(({ at }) => at >= shownFrom && at <= now);
const came = readings.filter(({ at, sms }) => at >= now && at <= until && sms >= 0);
const band = [...reached.map(({ early }) => early), ...reached.map(({ late }) => late).reverse()];
const days = Array.from({ length: 11 }, (_, day) => Math.ceil(shownFrom / dayMs) * dayMs + day * dayMs);

writeFileSync(
  join(import.meta.dirname, '../docs/forecast.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" fill="none" stroke-width="2">
<title>A balance until Thursday noon, the fan of what is predicted, and what came</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<path d="M0 ${ground}H${width}" stroke="#8a94a0" stroke-width="1"/>
${days.map((day) => `<text x="${x(day + dayMs / 2)}" y="${height - 10}" fill="#5a6470" text-anchor="middle">${weekday(day)}</text><path d="M${x(day)} ${ground}v6" stroke="#8a94a0" stroke-width="1"/>`).join('\n')}
<polygon points="${band.join(' ')}" fill="#2f6fde" fill-opacity="0.18"/>
<polyline points="${reached.map(({ middle }) => middle).join(' ')}" stroke="#2f6fde" stroke-dasharray="6 4"/>
<polyline points="${lineOf(came)}" stroke="#b4541a"/>
<polyline points="${lineOf(seen)}" stroke="#14181d"/>
<path d="M${x(now)} 10V${ground}" stroke="#8a94a0" stroke-width="1" stroke-dasharray="2 3"/>
<text x="${x(now) - 8}" y="22" fill="#14181d" text-anchor="end">balance</text>
<text x="${x(now) + 8}" y="22" fill="#2f6fde">predicted, with the 80 % range</text>
<text x="${x(now) + 8}" y="40" fill="#b4541a">what came</text>
</svg>
`,
);

/** Office hours, half as much to half as much again by a fixed sequence of chances, read every five minutes. */
function readAccount(): { at: number; sms: number; voip: number; currency: string }[] {
  const found = [];
  let seed = 11;
  let spent = 0;
  for (let at = from; at <= until; at += stepMs) {
    found.push({ at, sms: -spent, voip: 0, currency: 'EUR' });
    const time = new Date(at);
    const open = time.getUTCDay() % 6 !== 0 && time.getUTCHours() >= 8 && time.getUTCHours() < 18;
    if (at % 3_600_000 === 0) seed = (seed * 48_271) % 2_147_483_647;
    spent += ((open ? 14e6 : 1.5e6) * (0.5 + seed / 2_147_483_647)) / 12;
  }
  const then = found.find(({ at }) => at >= now)?.sms ?? 0;
  return found.map((reading) => ({ ...reading, sms: Math.round(reading.sms - then + left) }));
}

function lineOf(part: readonly { readonly at: number; readonly sms: number }[]): string {
  return part
    .filter((_, index) => index % 12 === 0)
    .map(({ at, sms }) => point(at, sms))
    .join(' ');
}

function point(at: number, micros: number): string {
  const top = Math.max(...readings.filter((reading) => reading.at >= shownFrom).map(({ sms }) => sms));
  return `${x(at)},${Math.round(ground - (micros / top) * (ground - 15))}`;
}

function x(at: number): number {
  return Math.round(((at - shownFrom) / (until - shownFrom)) * width);
}

function weekday(day: number): string {
  return new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' }).format(day);
}
