import { nearestWord } from '../domain/nearest-word.ts';
import { ownOf } from '../domain/own.ts';
import { dayMs } from '../domain/time.ts';
import data from './holidays.json' with { type: 'json' };

/** Public holidays by country and region, made by `scripts/holiday-data.ts`, which says how the texts are written. */
const regions: Readonly<Record<string, string>> = data.regions;
const digits = 3;

/** Whether holidays of a country (`DE`) or region (`DE-BY`) are known, from 2020 to 2040. */
export function isHolidayRegion(name: string): boolean {
  return Object.hasOwn(regions, name);
}

/** The regions that an unknown name may have meant: the same in upper or lower case, those of its country, the nearest, or none. */
export function suggestRegions(name: string): readonly string[] {
  const names = Object.keys(regions);
  const written = name.toUpperCase();
  const country = written.slice(0, 2);
  const same = names.filter((region) => region.toUpperCase() === written);
  if (same.length > 0) return same;
  if (isHolidayRegion(country)) {
    const ofCountry = names.filter((region) => region.startsWith(`${country}-`));
    return written.includes('-') && ofCountry.length > 0 ? ofCountry : [country];
  }
  const nearest = nearestWord(name, names);
  return nearest === null ? [] : [nearest];
}

/** Days since 1970 of dates as `2026-12-25`, countries and regions. */
export function holidayDays(names: readonly string[]): ReadonlySet<number> {
  return new Set(names.flatMap((name) => (isHolidayRegion(name) ? [...regionDays(name)] : [dayOf(name)])));
}

function dayOf(date: string): number {
  return Date.parse(`${date}T00:00Z`) / dayMs;
}

/** The days of a region: those of the one that it lies in, with days added and taken away. */
function regionDays(name: string): Set<number> {
  const [more = '', less = ''] = (ownOf(regions, name) ?? '').split('-');
  const parent = name.slice(0, Math.max(0, name.lastIndexOf('-')));
  const days = parent === '' ? new Set<number>() : regionDays(parent);
  for (const day of decode(more)) days.add(day);
  for (const day of decode(less)) days.delete(day);
  return days;
}

function decode(text: string): number[] {
  const { firstYear, lastYear } = data;
  const [yearly = '', others = ''] = text.split(' ');
  const days: number[] = [];
  for (let offset = 0; offset < yearly.length; offset += 4)
    for (let year = firstYear; year <= lastYear; year++)
      days.push(dayOf(`${year}-${yearly.slice(offset, offset + 2)}-${yearly.slice(offset + 2, offset + 4)}`));
  for (let offset = 0; offset < others.length; offset += digits)
    days.push(dayOf(`${firstYear}-01-01`) + Number.parseInt(others.slice(offset, offset + digits), 36));
  return days;
}
