import { describe, expect, it } from 'vitest';
import { assignReadings, givenPast } from '../../../src/cli/replay/given-past.ts';
import { collect } from '../../../src/daemon/history-loader.ts';
import { PackedPolls } from '../../../src/store/runs/packed-polls.ts';
import { factsNoon, minuteMs, readingAt } from '../../support/account-facts.ts';
import { makeAccount } from '../../support/settings.ts';

function shelfOf(...minutes: readonly number[]): PackedPolls {
  const shelf = new PackedPolls();
  for (const minute of minutes) {
    const reading = readingAt(minute, minute);
    shelf.append({ at: reading.at, outcome: 'ok', reading });
  }
  return shelf;
}

describe('readings and the accounts they are of', () => {
  const accounts = [makeAccount('otp'), makeAccount('marketing')];
  const assign = (ids: readonly string[], chosen: string | null, known = accounts) =>
    assignReadings(
      new Map(ids.map((id) => [id, shelfOf(0)])),
      known,
      known.find(({ id }) => id === chosen) ?? null,
    ).map(({ account }) => account.id);

  it('belong to the accounts that the file names', () => {
    expect(assign(['marketing', 'otp'], null)).toEqual(['otp', 'marketing']);
  });

  it('are narrowed to the chosen account', () => {
    expect(assign(['marketing', 'otp', 'other'], 'otp')).toEqual(['otp']);
  });

  it('without a name belong to the chosen or the only account', () => {
    expect(assign([''], 'marketing')).toEqual(['marketing']);
    expect(assign([''], null, [makeAccount('otp')])).toEqual(['otp']);
  });

  it('without a name are refused where there are several accounts', () => {
    expect(() => assign([''], null)).toThrow(/say whose it is with --account \(otp, marketing\)/);
  });

  it('of an unknown account are refused, naming both sides', () => {
    expect(() => assign(['otp', 'sales'], null)).toThrow(
      /readings of "sales", the configuration only of otp, marketing/,
    );
  });

  it('without the chosen account are refused', () => {
    expect(() => assign(['otp'], 'marketing')).toThrow(/no readings of marketing, only of "otp"/);
  });
});

describe('the past that a file gives', () => {
  it('begins where it is asked to, and knows the readings from before', async () => {
    const past = givenPast(makeAccount('otp'), shelfOf(0, 5, 10), { since: factsNoon + 6 * minuteMs });
    expect((await collect(past.polls())).map(({ at }) => at)).toEqual([factsNoon + 10 * minuteMs]);
    expect(await past.before.readingBefore('otp', factsNoon + 10 * minuteMs)).toEqual(readingAt(5, 5));
    const query = { account: 'otp', since: 0, until: Number.MAX_SAFE_INTEGER };
    expect(await collect(past.before.readings(query))).toEqual([readingAt(0, 0), readingAt(5, 5)]);
  });
});
