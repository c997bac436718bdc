import { describe, expect, it } from 'vitest';
import { hasBrowser, openPage, withPage } from '../support/browser.ts';
import { loadAxe, seriousFindings, useBrowser } from '../support/browser-bed.ts';

describe.skipIf(!hasBrowser())('the keys of the pages', () => {
  const bed = useBrowser();

  it('are listed by ?', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, bed.server.url);
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Close');
      await loadAxe(page);
      expect(await seriousFindings(page, null)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    });
  });

  it('can be turned off for a browser that types or speaks into the page, and on again without them', async () => {
    await withPage(bed.scripted, async (page) => {
      const choose = async () => {
        await page.getByRole('button', { name: 'Keys' }).click();
        await page.getByRole('checkbox', { name: 'Shortcuts of a single key' }).click();
        await page.keyboard.press('Escape');
      };
      const focused = () => page.evaluate("document.activeElement.closest('.alert') !== null");
      await openPage(page, `${bed.server.url}/alerts`);
      await choose();
      await openPage(page, `${bed.server.url}/alerts`);
      for (const key of ['j', '?', 'g', 'o']) await page.keyboard.press(key);
      expect(await focused()).toBe(false);
      expect(await page.getByRole('dialog').count()).toBe(0);
      expect(new URL(page.url()).pathname).toBe('/alerts');
      await choose();
      await page.keyboard.press('j');
      expect(await focused()).toBe(true);
    });
  });

  it('work, and can be turned off for the page, in a browser that blocks storage', async () => {
    const page = await bed.scripted.newPage();
    for (const kind of ['localStorage', 'sessionStorage'])
      await page.addInitScript(
        `Object.defineProperty(window, '${kind}', { get() { throw new DOMException('', 'SecurityError'); } })`,
      );
    await openPage(page, `${bed.server.url}/alerts`);
    await page.keyboard.press('?');
    await page.getByRole('checkbox', { name: 'Shortcuts of a single key' }).click();
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    expect(await page.evaluate("document.activeElement.closest('.alert') !== null")).toBe(false);
    await page.close();
  });

  it('walk through the alerts, and open their forms', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${bed.server.url}/alerts`);
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('k');
      await page.keyboard.press('x');
      expect(await page.locator('.alert').first().getByRole('checkbox').isChecked()).toBe(true);
      await page.keyboard.press('j');
      await page.keyboard.press('a');
      await page.keyboard.type('jas');
      const second = page.locator('.alert').nth(1);
      expect(await second.getByLabel('Your name').filter({ visible: true }).inputValue()).toBe('jas');
      await page.keyboard.press('Escape');
      await page.keyboard.press('s');
      expect(await second.getByRole('combobox', { name: 'For' }).isVisible()).toBe(true);
    });
  });

  it('stop once at an alert before its menu, and go on to its buttons by the arrows', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${bed.server.url}/alerts`);
      const focusedAlert = () =>
        page.evaluate(
          "[...document.querySelectorAll('.alert')].findIndex((alert) => alert.contains(document.activeElement))",
        );
      await page.keyboard.press('j');
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Ordered/);
      await page.keyboard.press('Tab');
      expect(await focusedAlert()).toBe(1);
      for (let press = 0; press < 2; press++) await page.keyboard.press('ArrowRight');
      expect(await focusedAlert()).toBe(1);
      await page.keyboard.press('Enter');
      expect(await page.locator('.alert').nth(1).locator('details[open]').count()).toBe(1);
    });
  });

  it('lead back from an account to the list as it was filtered', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${bed.server.url}/alerts?severity=critical`);
      await page.keyboard.press('j');
      await page.locator('.alert a[href^="/accounts/"]').first().click();
      // The script gives the link its list: before it has run, the link leads to the overview.
      await page.locator('.crumb a[href="/alerts?severity=critical"]').click();
      await page.waitForURL(/\/alerts\?severity=critical$/);
    });
  });

  it('go to a page, and into its search', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, bed.server.url);
      await page.keyboard.press('g');
      await page.keyboard.press('a');
      await page.waitForURL(/\/alerts$/);
      await page.keyboard.press('/');
      await page.keyboard.type('voice');
      await page.keyboard.press('Enter');
      await page.waitForURL(/q=voice/);
      expect(await page.locator('.alert').count()).toBe(1);
    });
  });
});
