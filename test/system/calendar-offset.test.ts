import fc from 'fast-check';
import { expect, it } from 'vitest';
import { zoneOffsetMs } from '../../src/domain/time.ts';
import { cronCalendar } from '../../src/system/calendar.ts';

it('knows how far a zone is ahead at any instant, no matter what was asked before', () => {
  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'Pacific/Apia',
  ];
  const instant = fc.integer({ min: Date.UTC(2010, 0, 1), max: Date.UTC(2035, 0, 1) });
  fc.assert(
    fc.property(fc.constantFrom(...zones), instant, (zone, at) => {
      expect(cronCalendar.offsetMs(zone, at)).toBe(zoneOffsetMs(at, zone));
    }),
    { numRuns: 300 },
  );
});
