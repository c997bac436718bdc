import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatStatus } from '../../src/cli/commands/status.ts';
import { createStyle } from '../../src/cli/terminal/output.ts';
import { formatBare } from '../../src/domain/money.ts';
import type { ProviderEntry } from '../../src/domain/provider-entry.ts';
import { renderText } from '../../src/messages/render-text.ts';
import { providerKinds } from '../../src/providers/registry.ts';
import { balanceName } from '../../src/wording/quantity-wording.ts';
import { minuteMs } from '../support/account-facts.ts';
import { makeAccount } from '../support/settings.ts';
import { serveWorld } from '../support/web-server.ts';
import { World } from '../support/world.ts';
import { accessOf, entryOfKind } from '../torture/draw-kinds.ts';

const entries = providerKinds.map(({ type }) => entryOfKind(type)).filter(({ polled }) => polled);

/** The balances of a fleet, each with an amount that no other has. */
function fleetOf(chosen: readonly ProviderEntry[]) {
  return chosen.map((entry, place) => ({
    entry,
    account: makeAccount(`a-${entry.type}`, {
      ...accessOf(entry, `key-of-${entry.type}`),
      baseUrl: `https://${entry.type}.example.com`,
      currency: 'EUR',
    }),
    amounts: Object.fromEntries(
      entry.balances.map(({ id }, index) => [id, (100 + 10 * place + index) * 1_010_000]),
    ),
  }));
}

type Fleet = ReturnType<typeof fleetOf>;

async function surfacesOf(fleet: Fleet) {
  const world = new World({
    providers: Object.fromEntries(fleet.map(({ entry }) => [entry.name, entry])),
    accounts: fleet.map(({ account }) => account),
    reports: [{ id: 'weekly', cron: '* * * * *', timezone: 'UTC', channels: ['ops'] }],
  });
  for (const { account, amounts } of fleet)
    world.provider.answer(account.id, { balances: amounts, currency: 'EUR' });
  world.daemon.start();
  await world.pass(7 * minuteMs);
  const { url } = await serveWorld(world);
  const get = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
  const reports = world.channel('ops').attempts.map(({ message }) => message);
  const report = reports.findLast(({ kind }) => kind === 'report');
  const output = { write: async () => {}, isTerminal: false, columns: 200, style: createStyle(false) };
  const status = formatStatus(await world.views.summary(100), {
    stdout: output,
    timezone: 'UTC',
    now: world.now,
  });
  return { get, report: report === undefined ? '' : renderText(report, 100_000), status };
}

test('an account of any kind shows its own balances, and none that its provider does not have', async () => {
  const chosen = fc.subarray(entries, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(chosen, async (some) => {
      const fleet = fleetOf(some);
      const { get, report, status } = await surfacesOf(fleet);
      const { accounts } = JSON.parse(await get('/api/v1/accounts'));
      const metrics = await get('/metrics');
      const overview = await get('/');
      for (const { account, amounts } of fleet) {
        const ids = Object.keys(amounts);
        const api = accounts.find(({ id }: { readonly id: string }) => id === account.id);
        for (const perBalance of [api.balances, api.burnPerDay, api.runwaySeconds])
          expect(Object.keys(perBalance)).toEqual(ids);
        const csv = await get(`/api/v1/accounts/${account.id}/history.csv`);
        expect(csv.split('\r\n', 1)).toEqual([['at', ...ids, 'currency'].join(',')]);
        const measured = [...metrics.matchAll(/^lowwater_balance\{(.*)\}/gm)]
          .map(([, labels = '']) => labels)
          .filter((labels) => labels.includes(`account="${account.id}"`))
          .map((labels) => /balance="([^"]*)"/.exec(labels)?.[1]);
        expect(measured).toEqual(ids);
        const page = await get(`/accounts/${account.id}`);
        const tiles = [...page.matchAll(/<section class="tile"><h2>([^<]*)<\/h2>/g)].map(([, name]) => name);
        const names = account.balances.map(({ label }) => balanceName(label));
        expect(tiles.filter((name) => name !== 'Reading')).toEqual(names);
        for (const micros of Object.values(amounts))
          for (const surface of [overview, status, report])
            expect(surface).toContain(formatBare(micros, 'EUR'));
      }
      // No amount is made up for a balance that an account does not have.
      expect(status).not.toMatch(/(?<![\d.,])0\.00(?!\d)/);
      const reported = [...report.matchAll(/^ {4}(.*?) [\d.,]+ EUR; spent/gm)].map(([, label]) => label);
      expect(reported.toSorted()).toEqual(
        fleet.flatMap(({ account }) => account.balances.map(({ label }) => label)).toSorted(),
      );
    }),
    { numRuns: 6, seed: 26 },
  );
});
