import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { describeSettings } from '../../src/config/describe-settings.ts';
import { sumUp } from '../../src/domain/one-sum.ts';
import { moneyOf, takeRates } from '../../src/engine/rates.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { createEntryClients } from '../../src/providers/transport/client.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { loadValid, now, sample } from '../config/sample.ts';
import { units } from '../support/account-facts.ts';
import { listenHttp } from '../support/loopback-provider.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** As the bank answers: the titles behind the value have commas in them. */
const table = [
  'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE,OBS_STATUS,OBS_CONF,TITLE',
  'EXR.D.CNY.EUR.SP00.A,D,CNY,EUR,SP00,A,2026-11-19,8.1994,A,F,"Chinese yuan renminbi/Euro, 2:15 pm"',
  'EXR.D.USD.EUR.SP00.A,D,USD,EUR,SP00,A,2026-11-19,1.1519,A,F,"US dollar/Euro, 2:15 pm"',
  '',
].join('\n');

test('the recipe for the rates of a bank makes sums of what its server answers', async () => {
  const server = await listenHttp((request, response) => {
    expect(request.url).toContain('/EXR/D.CNY+USD.EUR.SP00.A?lastNObservations=1');
    response.end(table);
  });
  onTestFinished(() => server.close());
  const recipes = readFileSync(join(import.meta.dirname, '../../docs/recipes.md'), 'utf8');
  const [, block = ''] = /```json\n("money": \{[\s\S]*?)```/.exec(recipes) ?? [];
  const { money } = JSON.parse(`{${block.replace('https://data-api.ecb.europa.eu', server.url)}}`);
  const { settings } = loadValid({ ...sample(), money });
  expect(describeSettings(settings).settings).toMatchObject({
    money: `sums in EUR at the rates of ${server.url}, read every 1d`,
  });
  const source = settings.money?.source;
  if (source == null) throw new Error('the recipe names no source');
  const client = createEntryClients(
    { provider: source.entry, providers: {} },
    { clock: systemClock, random: systemRandom },
  );
  const outcome = await client.readBalance(source.account, new AbortController().signal);
  await client.close();
  const state = startMonitor({
    ...{ settings, stored: nothingStored, calendar: cronCalendar, random: seededRandom(), now },
  });
  expect(takeRates(state, source, outcome, now)).toBe(true);
  const found = moneyOf(state);
  const sum = found && sumUp([{ currency: 'CNY', micros: units(819.94) }], found);
  expect(sum).toEqual({ currency: 'EUR', micros: units(100), date: '2026-11-19', missing: [] });
});
