import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, openPage, shareBrowser, withPage } from '../support/browser.ts';
import { buildAccountView, hourMs, micros, viewsNow } from '../support/built-views.ts';
import { demoViews } from '../support/demo-views.ts';
import { type FakeServer, runFakeServer } from '../support/web-server.ts';

const present = hasBrowser();

describe.skipIf(!present)('what people do on the pages', () => {
  let scripted: BrowserContext;
  let plain: BrowserContext;
  let inShanghai: BrowserContext;
  let phone: BrowserContext;

  beforeAll(async () => {
    const shared = await shareBrowser();
    const { browser } = shared;
    ({ scripted, plain } = shared);
    inShanghai = await browser.newContext({ timezoneId: 'Asia/Shanghai' });
    phone = await browser.newContext({
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    });
  });

  afterAll(async () => {
    const own = [inShanghai, phone].map((context) => context.close());
    await Promise.all([...own, scripted.clearCookies(), plain.clearCookies()]);
  });

  async function withServer(use: (server: FakeServer) => Promise<void>): Promise<void> {
    const server = await runFakeServer({ views: demoViews() });
    try {
      await use(server);
    } finally {
      await server.close();
    }
  }

  it.each(['with', 'without'])(
    'a silence is ordered, changed, confirmed, extended and ended, %s a script',
    async (how) => {
      await withServer(async (server) => {
        await withPage(how === 'with' ? scripted : plain, async (page, complaints) => {
          await openPage(page, `${server.url}/silences`);
          await page.getByRole('combobox', { name: 'Account' }).selectOption({ label: 'OTP production' });
          await page.getByLabel('Begins').fill('2026-11-20T20:00');
          await page.getByLabel('Your name').fill('Wei');
          await page.getByRole('button', { name: 'Show what it would mute' }).click();
          await page.getByRole('heading', { level: 1, name: 'Silence account otp?' }).waitFor();
          await page.getByRole('heading', { name: '2 alerts that fire now would fall silent' }).waitFor();
          await page.getByRole('button', { name: 'Change it' }).click();
          expect(await page.getByLabel('Begins').inputValue()).toBe('2026-11-20T20:00');
          await page.getByLabel('For').selectOption('4h');
          await page.getByRole('button', { name: 'Show what it would mute' }).click();
          expect(server.views.given).toEqual([]);
          await page.getByRole('button', { name: 'Silence', exact: true }).click();
          await page.getByRole('status').filter({ hasText: 'Silenced.' }).waitFor();
          const startsAt = Date.UTC(2026, 10, 20, 20);
          expect(server.views.given).toMatchObject([
            { kind: 'silence', startsAt, endsAt: startsAt + 4 * hourMs, by: 'Wei' },
          ]);
          const row = page.getByRole('row').filter({ hasText: 'account otp' });
          await row.getByRole('button', { name: 'Extend by 2 h' }).click();
          await page.getByRole('status').filter({ hasText: 'lasts longer' }).waitFor();
          await row.getByRole('button', { name: 'End now' }).click();
          await page.getByRole('status').filter({ hasText: 'has ended' }).waitFor();
          expect(server.views.given.map(({ kind }) => kind)).toEqual(['silence', 'extend-silence', 'expire']);
          expect(complaints).toEqual([]);
        });
      });
    },
  );

  it('a silence with a mistake comes back with the reason next to its field', async () => {
    await withServer(async (server) => {
      server.views.refusal = { refused: 'invalid', why: 'there is no rule "x"', about: 'rule' };
      await withPage(plain, async (page) => {
        await openPage(page, `${server.url}/silences`);
        await page.getByLabel('Your name').fill('Wei');
        await page.getByRole('button', { name: 'Show what it would mute' }).click();
        const field = page.getByLabel('Rule');
        expect(await field.getAttribute('aria-invalid')).toBe('true');
        await page
          .locator('label', { has: field })
          .getByRole('alert')
          .filter({ hasText: 'no rule' })
          .waitFor();
      });
    });
  });

  it('times are shown in the zone of the reader after one click, and as configured after another', async () => {
    await withServer(async (server) => {
      await withPage(inShanghai, async (page) => {
        await openPage(page, `${server.url}/messages`);
        await page.getByRole('button', { name: 'Show Asia/Shanghai, as here' }).click();
        await page.getByText('times in Asia/Shanghai').waitFor();
        expect(new URL(page.url()).pathname).toBe('/messages');
        expect(await page.locator('footer').textContent()).toContain('Sat 21 Nov 02:41 UTC+8');
        await page.getByRole('button', { name: 'Show UTC, as configured' }).click();
        await page.getByText('times in UTC').waitFor();
      });
      await withPage(plain, async (page) => {
        await openPage(page, `${server.url}/alerts?severity=critical`);
        await page.getByRole('contentinfo').getByRole('link', { name: 'Change' }).click();
        await page.getByLabel('Show times in').selectOption('Europe/Berlin');
        await page.getByRole('button', { name: 'Show', exact: true }).click();
        await page.getByText('times in Europe/Berlin').waitFor();
        expect(page.url()).toContain('/alerts?severity=critical');
      });
    });
  });

  it('an open form moves no button', async () => {
    await withServer(async (server) => {
      for (const context of [scripted, phone]) {
        await withPage(context, async (page) => {
          await openPage(page, server.url);
          const places = () => eachOf(page, '.alerts summary', 'it.getBoundingClientRect().top');
          const before = await places();
          await page.locator('.alerts summary').first().click();
          await page.getByLabel('Your name').first().waitFor();
          expect(await places()).toEqual(before);
          const form = await page.locator('.act[open] form').boundingBox();
          const width = page.viewportSize()?.width ?? 0;
          expect(form?.x).toBeGreaterThanOrEqual(0);
          expect((form?.x ?? 0) + (form?.width ?? 0)).toBeLessThanOrEqual(width);
        });
      }
    });
  });

  it('a form is whole, also where long words leave the buttons a line of their own', async () => {
    await withServer(async (server) => {
      const name = 'Codes of the north '.repeat(6);
      const { accountList, alertList } = server.views;
      const acknowledged = { at: viewsNow, by: 'Wei', comment: '' };
      server.views.accountList = accountList.map((account) => ({
        ...account,
        name,
        topUpUrl: 'https://pay',
      }));
      server.views.alertList = alertList.map((alert) => ({ ...alert, acknowledged }));
      await withPage(scripted, async (page) => {
        for (const [path, width] of [
          ['/accounts/otp', 1280],
          ['/accounts/otp', 916],
          ['/alerts', 916],
        ] as const) {
          await page.setViewportSize({ width, height: 800 });
          await openPage(page, server.url + path);
          await page.locator('.acts summary').first().click();
          const form = await page.locator('.act[open] form').boundingBox();
          expect(form?.x).toBeGreaterThanOrEqual(0);
          expect((form?.x ?? 0) + (form?.width ?? 0)).toBeLessThanOrEqual(width);
        }
      });
    });
  });

  it('the form of the last payment is whole, also where its table is a row', async () => {
    await withServer(async (server) => {
      await withPage(scripted, async (page) => {
        await page.setViewportSize({ width: 1280, height: 1800 });
        await openPage(page, `${server.url}/pay`);
        await page.locator('td summary').last().click();
        const form = page.locator('.act[open] form');
        await form.getByRole('button').waitFor();
        const seen = `(form) => {
          const { left, right, top, bottom } = form.getBoundingClientRect();
          return [top + 4, bottom - 4].map((y) => form.contains(document.elementFromPoint((left + right) / 2, y)));
        }`;
        expect(await page.evaluate(`(${seen})(document.querySelector('.act[open] form'))`)).toEqual([
          true,
          true,
        ]);
      });
    });
  });

  it.each(['/', '/accounts/otp', '/alerts', '/silences', '/messages'])(
    'on a phone %s has nothing to touch that is lower than 44 px',
    async (path) => {
      await withServer(async (server) => {
        await withPage(phone, async (page) => {
          await openPage(page, server.url + path);
          expect(await page.evaluate(smallTargets)).toEqual([]);
        });
      });
    },
  );

  it('on a phone the list is sorted by what stands above it', async () => {
    await withServer(async (server) => {
      await withPage(phone, async (page) => {
        await openPage(page, server.url);
        await page.getByLabel('Sort by').selectOption('name');
        await page.getByRole('button', { name: 'Find' }).click();
        expect(await page.locator('.accounts tbody th a').first().textContent()).toBe('Batch jobs');
        expect(await page.getByLabel('Sort by').inputValue()).toBe('name');
      });
    });
  });

  it('an open overview takes over the rows that changed and leaves the others alone', async () => {
    await withServer(async (server) => {
      server.views.accountList = ['a', 'b'].map((id) => buildAccountView({ id, name: `Account ${id}` }));
      await withPage(scripted, async (page, complaints) => {
        await openPage(page, server.url);
        await page.getByText('Updates by itself.').waitFor();
        await eachOf(page, '.accounts tbody tr', "(it.dataset.seen = 'yes')");
        let fetched = 0;
        page.on('request', (request) => {
          fetched += Number(request.resourceType() === 'document' || request.resourceType() === 'fetch');
        });
        const [first, second] = server.views.accountList;
        if (first === undefined || second === undefined) throw new Error('two were made');
        const reading = { at: viewsNow, balances: { sms: micros(77), voip: 0 }, currency: 'CNY' };
        // Listed the other way round too: the row that stays is moved, not made again.
        server.views.accountList = [
          { ...second, name: 'Account 0' },
          { ...first, reading },
        ];
        server.views.change();
        await page.getByText('77.00 CNY').first().waitFor();
        const rows = await eachOf(page, '.accounts tbody tr', '[it.dataset.live, it.dataset.seen ?? null]');
        expect(rows).toEqual([
          ['account b', null],
          ['account a', null],
        ]);
        server.views.accountList = [
          ...server.views.accountList,
          buildAccountView({ id: 'c', name: 'Account c' }),
        ];
        await eachOf(page, '.accounts tbody tr', "(it.dataset.seen = 'yes')");
        server.views.change();
        await page.getByRole('link', { name: 'Account c' }).waitFor();
        expect(await eachOf(page, '.accounts tbody tr', 'it.dataset.seen ?? null')).toEqual([
          'yes',
          'yes',
          null,
        ]);
        expect(fetched).toBe(0);
        expect(complaints).toEqual([]);
      });
    });
  });

  it('prints what finance needs: tables, and no button', async () => {
    await withServer(async (server) => {
      await withPage(scripted, async (page) => {
        await openPage(page, server.url);
        await page.emulateMedia({ media: 'print' });
        // Paper is as narrow as a tablet.
        await page.setViewportSize({ width: 718, height: 1000 });
        expect(await page.locator('button:visible').count()).toBe(0);
        expect(await page.locator('.accounts thead').isVisible()).toBe(true);
        expect(await page.getByText('as of').isVisible()).toBe(true);
        const display = "getComputedStyle(document.querySelector('.accounts tbody tr')).display";
        expect(await page.evaluate(display)).toBe('table-row');
        expect(await widest(page)).toBeLessThanOrEqual(718);
      });
    });
  });
});

/** What can be touched and is lower than 44 px, but links within a sentence. */
const smallTargets = `[...document.querySelectorAll('a, button, input, select, summary')]
  .filter((it) => it.checkVisibility() && !it.closest('.skip, .hidden, p:not(.crumb, .alert-what), q, .facts'))
  .map((it) => [it.closest('label')?.contains(it) && it.type === 'checkbox' ? it.closest('label') : it, it])
  .filter(([box]) => box.getBoundingClientRect().height < 43.5)
  .map(([, it]) => it.outerHTML.slice(0, 120))`;

function widest(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth');
}

/** What an expression makes of each element, `it`. */
function eachOf(page: Page, selector: string, expression: string): Promise<unknown[]> {
  return page.evaluate(`[...document.querySelectorAll('${selector}')].map((it) => ${expression})`);
}
