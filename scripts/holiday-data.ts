import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Holidays from 'date-holidays';
import packageJson from 'date-holidays/package.json' with { type: 'json' };

/**
 * Writes `src/spending/holidays.json`: the public holidays of every country and region that date-holidays knows, as short texts that
 * `src/spending/public-holidays.ts` reads. The package itself has 45 MB and is not part of the program. Takes half a minute.
 *
 *     npx node scripts/holiday-data.ts
 */
const [firstYear, lastYear] = [2020, 2040];
const dayMs = 86_400_000;
const firstDay = Date.UTC(firstYear, 0, 1) / dayMs;
const years = Array.from({ length: lastYear - firstYear + 1 }, (_, index) => firstYear + index);

const lookup = new Holidays();
const regions: Record<string, string> = {};
for (const country of codes(lookup.getCountries('en'))) {
  const national = add([country], null);
  for (const state of codes(lookup.getStates(country, 'en'))) {
    const own = add([country, state], national);
    for (const region of codes(lookup.getRegions(country, state, 'en'))) add([country, state, region], own);
  }
}
const source = `date-holidays ${packageJson.version}, https://github.com/commenthol/date-holidays`;
const licence = 'CC-BY-3.0, https://creativecommons.org/licenses/by/3.0/';
const file = join(import.meta.dirname, '../src/spending/holidays.json');
writeFileSync(
  file,
  `${JSON.stringify({ source, licence, firstYear, lastYear, regions: sorted(regions) }, null, 2)}\n`,
);

function codes(names: Record<string, string> | undefined): string[] {
  return Object.keys(names ?? {});
}

/** Notes the days of a place, or by what they differ from those of `parent`. */
function add(place: [string, string?, string?], parent: ReadonlySet<number> | null): ReadonlySet<number> {
  const days = publicDays(place);
  const more = new Set([...days].filter((day) => !parent?.has(day)));
  const less = new Set([...(parent ?? [])].filter((day) => !days.has(day)));
  regions[place.join('-')] = encode(more) + (less.size > 0 ? `-${encode(less)}` : '');
  return days;
}

/** Local days since 1970, of which more than half is free. */
function publicDays(place: [string, string?, string?]): Set<number> {
  const calendar = new Holidays(...(place as [string]));
  const days = new Set<number>();
  for (const { type, date, start, end } of years.flatMap((year) => calendar.getHolidays(year))) {
    const length = Math.round((end.getTime() - start.getTime()) / dayMs);
    const from = Date.parse(`${date.slice(0, 10)}T00:00Z`) / dayMs;
    for (let day = from; type === 'public' && day < from + length; day++) days.add(day);
  }
  return days;
}

/** `MMDD` of days that are free every year, a blank, and the others: three digits of base 36, days since the first of January 2020. */
function encode(days: ReadonlySet<number>): string {
  const counts = new Map<string, number>();
  for (const day of days) counts.set(monthDay(day), (counts.get(monthDay(day)) ?? 0) + 1);
  const yearly = [...counts].flatMap(([name, count]) => (count === years.length ? [name] : [])).sort();
  const others = [...days].filter((day) => day >= firstDay && !yearly.includes(monthDay(day)));
  const rest = others
    .sort((left, right) => left - right)
    .map((day) => (day - firstDay).toString(36).padStart(3, '0'));
  return yearly.join('') + (rest.length > 0 ? ` ${rest.join('')}` : '');
}

function monthDay(day: number): string {
  return new Date(day * dayMs).toISOString().slice(5, 10).replace('-', '');
}

function sorted(record: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1)));
}
