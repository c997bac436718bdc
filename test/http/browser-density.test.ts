import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ofEach } from '../../src/domain/reading.ts';
import { hasBrowser, openPage, withPage } from '../support/browser.ts';
import { useBrowser, widthOf } from '../support/browser-bed.ts';
import { buildAccountView, buildPayment, hourMs, micros, viewsNow } from '../support/built-views.ts';
import { FakeViews } from '../support/fake-views.ts';
import { startCalmFleet, startFleetInCrisis } from '../support/fleet-world.ts';
import { type RunningServer, runFakeServer, runServer } from '../support/web-server.ts';

// Chromium shares the machine with the other test files.

const heightOf = (page: Page): Promise<number> => page.evaluate('document.documentElement.scrollHeight');

const isFocusInSight = `(() => {
  const { x, y, width, height } = document.activeElement.getBoundingClientRect();
  return document.activeElement.contains(document.elementFromPoint(x + width / 2, y + height / 2));
})()`;

describe.skipIf(!hasBrowser())('forty accounts', () => {
  const bed = useBrowser();
  const ends: (() => void)[] = [];
  let crisis: RunningServer;
  let calm: RunningServer;

  beforeAll(async () => {
    // Looking at the pages changes nothing, and three days of forty accounts cost more than all that is looked at.
    const atEnd = (end: () => void) => ends.push(end);
    crisis = await runServer({ world: await startFleetInCrisis(atEnd) });
    calm = await runServer({ world: await startCalmFleet(atEnd) });
  });

  afterAll(async () => {
    await Promise.all([crisis.close(), calm.close()]);
    for (const end of ends) end();
  });

  it('in a crisis fit on a few screens of a phone, whole', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      const heights = new Map<string, number>();
      for (const path of ['/', '/alerts', '/messages']) {
        await openPage(page, crisis.url + path);
        heights.set(path, await heightOf(page));
      }
      expect(heights.get('/')).toBeLessThanOrEqual(5_000);
      expect(heights.get('/alerts')).toBeLessThanOrEqual(6_000);
      expect(heights.get('/messages')).toBeLessThanOrEqual(6_000);
    });
  });

  it('have their names below each other, whatever their states are', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(crisis.url);
      const lefts = (await page.evaluate(
        "[...document.querySelectorAll('table.accounts tbody th a')].map((name) => name.getBoundingClientRect().left)",
      )) as number[];
      expect(lefts).toHaveLength(40);
      // One place in each of the two columns.
      expect(new Set(lefts.map(Math.round)).size).toBe(2);
    });
  });

  it.each([1280, 360])(
    'show the headers of the list while one of them has the focus, %i pixels wide',
    async (width) => {
      await withPage(bed.scripted, async (page) => {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(calm.url);
        await page.locator('table.accounts thead a').last().focus();
        expect(await page.evaluate(isFocusInSight)).toBe(true);
      });
    },
  );

  it('leave room for the name of one with several balances of long names', async () => {
    const views = new FakeViews();
    const labels = ['SMS', 'A rather long name of a balance', 'Voice minutes'];
    const balances = labels.map((label) => ({ id: label, label, alertsBelowZero: true }));
    const reading = { at: viewsNow, balances: ofEach(balances, () => micros(4_989)), currency: 'CNY' };
    const several = buildAccountView({ id: 'several', name: 'With units', balances, reading });
    const others = Array.from({ length: 39 }, (_, index) => buildAccountView({ id: `other-${index}` }));
    views.accountList = [several, ...others];
    const { url, close } = await runFakeServer({ views });
    await withPage(bed.scripted, async (page) => {
      for (const width of [1245, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(url);
        const row = page.locator('table.accounts tbody tr').filter({ hasText: 'With units' });
        const [name, amounts] = await Promise.all(
          [row.locator('th a'), row.locator('td.number').first()].map((part) => part.boundingBox()),
        );
        expect(name?.height, `at ${width} px`).toBeLessThan(60);
        expect((name?.x ?? 0) + (name?.width ?? 0)).toBeLessThanOrEqual(amounts?.x ?? 0);
      }
    });
    await close();
  });

  it('in calm fit on one screen of a laptop, with name and runway of each in sight', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await openPage(page, calm.url);
      // On a busy machine the stream may be cut once, and the page says so until it has asked.
      await page.locator('#lost').waitFor({ state: 'hidden' });
      expect(await heightOf(page)).toBeLessThanOrEqual(950);
      const rows = page.locator('table.accounts tbody tr');
      expect(await rows.count()).toBe(40);
      for (const cell of [rows.locator('th a'), rows.locator('.runway')])
        for (const one of await cell.all()) expect(await one.isVisible()).toBe(true);
    });
  });
});

describe.skipIf(!hasBrowser())('a payment with its pay run', () => {
  const bed = useBrowser();

  it('fits on the narrowest phone in a language of long words', async () => {
    const views = new FakeViews();
    const payment = { ...buildPayment(1_200, viewsNow + 40 * hourMs), runAt: viewsNow + hourMs };
    views.accountList = [buildAccountView({ payments: [payment] })];
    const { url, close } = await runFakeServer({ views });
    await withPage(bed.scripted, async (page) => {
      await page.setViewportSize({ width: 320, height: 740 });
      await page.setExtraHTTPHeaders({ 'accept-language': 'es' });
      await page.goto(`${url}/pay`);
      await page.getByText('en la remesa del').waitFor();
      expect(await widthOf(page)).toBeLessThanOrEqual(320);
      await page.setExtraHTTPHeaders({});
    });
    await close();
  });
});
