import { describe, expect, it } from 'vitest';
import data from '../../src/spending/holidays.json' with { type: 'json' };
import { holidayDays, isHolidayRegion, suggestRegions } from '../../src/spending/public-holidays.ts';
import { monday, officeHours, spendBy, spendingIn } from '../support/spending.ts';

const dayMs = 86_400_000;
const units = 1_000_000;

function datesIn(year: number, name: string): string[] {
  const dates = [...holidayDays([name])].map((day) => new Date(day * dayMs).toISOString());
  return dates.flatMap((date) => (date.startsWith(`${year}`) ? [date.slice(5, 10)] : [])).sort();
}

describe('the public holidays of a region', () => {
  // The law of Bavaria about Sundays and holidays (FTG), article 1; Easter was on 5 April.
  it('are those of its law', () => {
    expect(datesIn(2026, 'DE-BY').join(' ')).toBe(
      '01-01 01-06 04-03 04-06 05-01 05-14 05-25 06-04 10-03 11-01 12-25 12-26',
    );
  });

  it('are those of its country, with more and less', () => {
    expect(datesIn(2026, 'DE')).not.toContain('01-06');
    // Reformation Day is free in Saxony, and Repentance Day, the Wednesday before 23 November.
    expect(datesIn(2027, 'DE-SN')).toEqual([...datesIn(2027, 'DE'), '10-31', '11-17'].sort());
    // https://www.gov.uk/bank-holidays: Good Friday, no Easter Monday in Scotland.
    expect(datesIn(2026, 'GB-ENG')).toContain('04-06');
    expect(datesIn(2026, 'GB-SCT')).not.toContain('04-06');
  });

  it('are known for every region from 2024 to 2036 at least, in 130 KB', () => {
    const asked = Array.from({ length: 13 }, (_, index) => 2024 + index);
    expect(JSON.stringify(data).length).toBeLessThan(130_000);
    expect(data.licence).toContain('CC-BY');
    expect(Object.keys(data.regions).length).toBeGreaterThan(600);
    for (const [name, text] of Object.entries(data.regions)) {
      expect(text, name).toMatch(/^((\d{4})*( ([0-9a-z]{3})+)?)(-(\d{4})*( ([0-9a-z]{3})+)?)?$/);
      const years = new Set([...holidayDays([name])].map((day) => new Date(day * dayMs).getUTCFullYear()));
      if (!name.includes('-') && text !== '')
        expect(
          asked.filter((year) => !years.has(year)),
          name,
        ).toEqual([]);
    }
  });

  it('are suggested where the name is a little wrong, and those of the country where it is very wrong', () => {
    expect(isHolidayRegion('constructor')).toBe(false);
    expect(suggestRegions('de-by')).toEqual(['DE-BY']);
    expect(suggestRegions('USA')).toEqual(['US']);
    expect(suggestRegions('DE-XYZ')).toContain('DE-BY');
    expect(suggestRegions('QQ')).not.toContain('QQ');
  });

  it('have the spending of a Sunday in a forecast', () => {
    const goodFriday = Date.UTC(2026, 3, 3);
    const emptyAt = (holidays: readonly string[], left: number) => {
      const spending = spendingIn('UTC', holidays);
      for (const reading of spendBy(officeHours, { from: monday, to: goodFriday })) spending.read(reading);
      return spending.forecast('sms', left * units)?.emptyAt ?? 0;
    };
    // A Sunday takes 24 units.
    expect(emptyAt([], 24)).toBeLessThan(goodFriday + dayMs / 2);
    expect(emptyAt(['DE-BY'], 24)).toBeGreaterThan(goodFriday + 0.8 * dayMs);
  });
});
