import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { hasBrowser, openPage, withPage } from '../support/browser.ts';
import { token, useBrowser } from '../support/browser-bed.ts';
import { buildAlertView, minuteMs } from '../support/built-views.ts';
import { demoViews } from '../support/demo-views.ts';
import { startDemoWorld } from '../support/demo-world.ts';
import { runFakeServer, serveWorld } from '../support/web-server.ts';

const arabic = 'حساب 123';

describe.skipIf(!hasBrowser())('names and words of every direction', () => {
  const bed = useBrowser();

  it('an alert runs as its language does, and the name in it as the name does', async () => {
    const own = await runFakeServer({ views: demoViews() });
    own.views.alertList = [
      buildAlertView({ accountName: arabic, summary: `${arabic}: SMS balance -18.38 CNY, below zero` }),
    ];
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${own.url}/alerts`);
      const [first, ...others] = (await page.evaluate(`(() => {
        const link = document.querySelector('.alert-what a');
        const texts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
        const letters = [];
        for (let text = texts.nextNode(); text; text = texts.nextNode())
          for (let at = 0; at < text.data.length; at += 1) {
            const range = document.createRange();
            range.setStart(text, at);
            range.setEnd(text, at + 1);
            letters.push([text.data[at], range.getBoundingClientRect().x]);
          }
        const sentence = letters.slice(${arabic.length});
        return [letters.slice(0, ${arabic.length}), sentence].map((part) =>
          part.toSorted((one, two) => one[1] - two[1]).map(([letter]) => letter).join(''));
      })()`)) as string[];
      expect(first).toBe('123 باسح');
      expect(others).toEqual([': SMS balance -18.38 CNY, below zero']);
    });
    await own.close();
  });

  it('two buttons that cancel for one account, or end sessions of one browser, have names of their own', async () => {
    const own = await serveWorld(await startDemoWorld(), { settings: { token: new Secret(token) } });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    for (const day of [21, 22]) {
      const topUp = { account: 'otp', amount: '1400', by: 'Wei', arrivesBy: `2026-11-${day}T12:00:00Z` };
      const api = `${own.url}/api/v1/expected-top-ups`;
      const seen = ((await (await fetch(api, { headers })).json()) as { expected: { id: string }[] })
        .expected;
      const body = JSON.stringify({ ...topUp, seen: seen.map(({ id }) => id) });
      expect((await fetch(api, { method: 'POST', headers, body })).status).toBe(201);
    }
    const context = await bed.browser.newContext();
    await withPage(context, async (page) => {
      for (const minutes of [0, 1]) {
        own.clock.aheadMs = minutes * minuteMs;
        await page.context().clearCookies();
        await page.goto(`${own.url}/pay`);
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('heading', { level: 1, name: 'Pay' }).waitFor();
      }
      for (const day of ['21', '22'])
        expect(
          await page.getByRole('button', { name: new RegExp(`^Cancel OTP production.* ${day} Nov`) }).count(),
        ).toBe(1);
      await page.goto(`${own.url}/sessions`);
      const names = await page.locator('tbody button').allTextContents();
      expect(new Set(names).size).toBe(2);
    });
    await context.close();
  });

  it.each(['/', '/accounts/otp?balance=both', '/pay', '/review'])(
    'what unfolds, and each table that the keyboard scrolls, has a name of its own (%s)',
    async (path) => {
      const { url } = await serveWorld(await startDemoWorld());
      await withPage(bed.scripted, async (page) => {
        await openPage(page, url + path);
        const names = await page.evaluate(`[...document.querySelectorAll('main summary, main [role=group]')]
          .map((each) => each.tagName + ' ' + (each.getAttribute('aria-label') ?? each.textContent.replace(/\\s+/g, ' ').trim()))`);
        expect(names).toEqual([...new Set(names as string[])]);
      });
    },
  );

  it('what stands in one cell is read as words apart, and each link to pay names its account', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.setViewportSize({ width: 1920, height: 900 });
      await openPage(page, bed.server.url);
      const names = await page.locator('table.accounts tbody th').allTextContents();
      expect(names).toContain('Billing notices auth failed, read 3 hours ago billing team=finance ');
      const pay = await page
        .locator('.alert')
        .getByRole('link', { name: /^Top up/ })
        .allTextContents();
      expect(pay).toContain('Top up OTP production');
    });
  });
});
