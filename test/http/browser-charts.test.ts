import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser, openPage, withPage } from '../support/browser.ts';
import { loadAxe, narrow, seriousFindings, useBrowser, widthOf } from '../support/browser-bed.ts';
import { dayMs, micros } from '../support/built-views.ts';
import { demoViews } from '../support/demo-views.ts';
import { trialsOn } from '../support/trials.ts';
import { runFakeServer } from '../support/web-server.ts';

describe.skipIf(!hasBrowser())('charts and trials in a browser', () => {
  const bed = useBrowser();

  it('the chart without a script draws line, thresholds, top-up, incident and projection', async () => {
    await withPage(bed.plain, async (page) => {
      await openPage(page, `${bed.server.url}/accounts/otp?range=7d`);
      for (const part of ['.line', '.threshold', '.top-up', '.shade', '.projection']) {
        expect(await page.locator(`.chart-svg ${part}`).count(), part).toBeGreaterThan(0);
      }
      // A gap where polls failed: the line takes the pen up.
      expect((await page.locator('.chart-svg .line').getAttribute('d'))?.match(/M/g)).toHaveLength(2);
    });
  });

  it('the chart with a script follows the pointer, draws news that come soon after it was drawn, and drags along no style that the policy forbids', async () => {
    await withPage(bed.scripted, async (page, complaints) => {
      await openPage(page, `${bed.server.url}/accounts/otp?range=24h`);
      const over = page.locator('.u-over');
      await over.hover({ position: { x: 300, y: 60 } });
      await expect.poll(() => page.locator('.u-legend').textContent()).toMatch(/\d+\.\d+ CNY/);
      const pointed = await page.locator('.u-legend').textContent();
      // Newer numbers leave the cursor where it is.
      let fetched = 0;
      page.on('response', (response) => {
        fetched += Number(response.url().includes('/chart?'));
      });
      await page.evaluate("document.dispatchEvent(new Event('lowwater:fresh'))");
      await expect.poll(() => fetched).toBeGreaterThan(0);
      await page.waitForTimeout(200);
      expect(await page.locator('.u-legend').textContent()).toBe(pointed);
      expect(complaints).toEqual([]);
    });
  });

  it('the amount under the pointer has its thousands apart, as on all of the page', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.setExtraHTTPHeaders({ 'accept-language': 'es' });
      await page.route('**/chart?*', async (route) => {
        const response = await route.fetch();
        const chart = (await response.json()) as { points: [number, number][] };
        const points = chart.points.map(([at]) => [at, 4321]);
        await route.fulfill({ response, json: { ...chart, points } });
      });
      await openPage(page, `${bed.server.url}/accounts/otp?range=24h`);
      await page.evaluate("document.dispatchEvent(new Event('lowwater:fresh'))");
      await page.locator('.u-over').hover({ position: { x: 300, y: 60 } });
      await expect.poll(() => page.locator('.u-legend').textContent()).toContain('4.321,00 CNY');
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.setExtraHTTPHeaders({});
    });
  });

  it('a reading between two that failed, and the first one after them, is a dot, as no line leads there', async () => {
    const page = await bed.scripted.newPage();
    await page.addInitScript(`
      window.dots = new Set();
      const { arc } = Path2D.prototype;
      Path2D.prototype.arc = function (x, ...rest) { window.dots.add(Math.round(x)); arc.call(this, x, ...rest); };
    `);
    await page.route('**/chart?*', async (route) => {
      const response = await route.fetch();
      const chart = (await response.json()) as { points: [number, number][] };
      const values = [null, 40, null, 30, 20, null, 10];
      const step = Math.floor(chart.points.length / values.length);
      const points = values.map((value, index) => [chart.points[index * step]?.[0], value]);
      await route.fulfill({ response, json: { ...chart, points, projection: [], topUps: [] } });
    });
    await openPage(page, `${bed.server.url}/accounts/otp?range=24h`);
    await page.locator('.u-over').first().waitFor();
    await expect.poll(() => page.evaluate('dots.size')).toBe(2);
    await page.close();
  });

  it('the script draws a chart once it comes into view, and loads until then nothing that draws', async () => {
    await withPage(bed.scripted, async (page) => {
      const fetched: string[] = [];
      page.on('request', (request) => fetched.push(request.url()));
      await page.setViewportSize({ width: 390, height: 500 });
      await page.goto(`${bed.server.url}/accounts/otp`);
      // What is in view is observed with the frames.
      await page.evaluate(
        'new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))',
      );
      expect(await page.locator('.chart-svg .line').count()).toBe(1);
      expect(fetched.filter((url) => url.includes('uplot.js'))).toEqual([]);
      await page.locator('.chart').scrollIntoViewIfNeeded();
      await page.locator('.uplot').waitFor();
    });
  });

  it('the zoom stands in the address, so that whoever is sent it sees the same', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${bed.server.url}/accounts/otp?range=30d`);
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await page.waitForURL(/since=.*until=/);
      const shared = page.url();
      expect(shared).not.toContain('range=');
      await page.getByRole('button', { name: 'Whole' }).click();
      await page.waitForURL(/\?range=30d$/);
      await openPage(page, shared);
      const since = new URL(shared).searchParams.get('since') ?? '';
      expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(since.slice(0, 10));
    });
  });

  it('the chart zooms by keys and by dragging, and keeps its zoom when it is fresh', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${bed.server.url}/accounts/otp?range=30d`);
      const zoomIn = page.getByRole('button', { name: 'Zoom in' });
      await zoomIn.waitFor();
      const picture = async () => (await picturesOf(page))[0];
      const whole = await picture();
      await zoomIn.focus();
      const closer = page.waitForResponse((response) => response.url().includes('&since='));
      await page.keyboard.press('+');
      await expect.poll(picture).not.toBe(whole);
      await closer;
      await page.waitForTimeout(200);
      const near = await picture();
      // The chart is fetched again every few seconds at most, so the event is repeated until it is.
      let fetched = 0;
      page.on('response', (response) => {
        fetched += Number(response.url().includes('/chart?'));
      });
      const notify = async () => {
        await page.evaluate("document.dispatchEvent(new Event('lowwater:fresh'))");
        return fetched;
      };
      await expect.poll(notify, { interval: 500 }).toBeGreaterThan(0);
      expect(await picture()).toBe(near);
      await page.keyboard.press('0');
      await expect.poll(picture).not.toBe(near);
      expect(await page.locator('[data-csv]').getAttribute('href')).toMatch(/since=30d$/);
      const again = await picture();
      const over = await page.locator('.u-over').boundingBox();
      if (over === null) throw new Error('the chart has no surface');
      await page.mouse.move(over.x + over.width * 0.3, over.y + 50);
      await page.mouse.down();
      await page.mouse.move(over.x + over.width * 0.6, over.y + 60, { steps: 4 });
      const finer = page.waitForResponse((response) => response.url().includes('&since='));
      await page.mouse.up();
      await expect.poll(picture).not.toBe(again);
      const { since, until, points } = (await (await finer).json()) as {
        since: number;
        until: number;
        points: unknown[];
      };
      // Three tenths of the chart, with as many points as the whole has.
      expect((until - since) / dayMs).toBeLessThan(12);
      expect(points.length).toBeGreaterThan(400);
      const csv = (await page.locator('[data-csv]').getAttribute('href')) ?? '';
      const { searchParams } = new URL(csv, bed.server.url);
      expect(Date.parse(searchParams.get('since') ?? '')).toBeCloseTo(since, -4);
      expect(Date.parse(searchParams.get('until') ?? '')).toBeCloseTo(until, -4);
    });
  });

  it('shows any two dates, and gives their readings as CSV, without a script', async () => {
    await withPage(bed.plain, async (page) => {
      await openPage(page, `${bed.server.url}/accounts/otp?balance=voip`);
      await page.getByLabel('From', { exact: true }).fill('2026-11-02');
      await page.getByLabel('to', { exact: true }).fill('2026-11-03');
      await page.getByRole('button', { name: 'Show' }).click();
      await page
        .getByRole('heading', { name: /^VoIP balance, Mon 2 Nov 00:00 UTC to Wed 4 Nov 00:00/ })
        .waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download as CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe('otp-2026-11-02-2026-11-03.csv');
      const lines = readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\r\n');
      expect(lines[0]).toBe('at,sms,voip,currency');
      expect(lines).toHaveLength(1 + 2 * 288);
    });
  });

  it.each(['with', 'without'])(
    'tries other thresholds before the file is edited, %s a script',
    async (how) => {
      await withPage(how === 'with' ? bed.scripted : bed.plain, async (page, complaints) => {
        await openPage(page, `${bed.server.url}/accounts/otp`);
        await page.getByRole('link', { name: 'Try other values of sms-low' }).click();
        expect(await page.getByLabel('thresholds.critical').inputValue()).toBe('50');
        await page.getByLabel('thresholds.critical').fill('700');
        await page.getByRole('button', { name: 'Try' }).click();
        await page.getByText('the threshold for critical must be lower than that for warning').waitFor();
        // More than this was never there, so that as it is it fired once and for all.
        await page.getByLabel('thresholds.info').fill('');
        await page.getByLabel('thresholds.critical').fill('35');
        await page.getByLabel('hysteresis').fill('');
        await page.getByLabel('Over the last').selectOption('30 days');
        await page.getByRole('button', { name: 'Try' }).click();
        const notified = 'In 30 days it would have fired 8 times; as it is now, once.';
        await page.getByRole('status').filter({ hasText: notified }).waitFor();
        expect(await page.getByRole('status').filter({ hasText: notified }).textContent()).toContain(
          'Compared with now: 7 new, 0 gone, 0 earlier, 1 later, 0 of another severity, 0 as before.',
        );
        expect(JSON.parse((await page.locator('.paste').textContent()) ?? '')).toEqual({
          id: 'sms-low',
          type: 'below',
          thresholds: { warning: 200, critical: 35 },
        });
        expect(await page.locator('.chart-svg .shade').count()).toBe(8);
        if (how === 'with') await loadAxe(page);
        if (how === 'with') expect(await seriousFindings(page)).toEqual([]);
        await page.setViewportSize(narrow);
        expect(await widthOf(page)).toBeLessThanOrEqual(narrow.width);
        expect(complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);
      });
    },
  );

  it('prints the chart in colours for paper, for a reader in the dark too, and draws it for the dark again afterwards', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await openPage(page, `${bed.server.url}/accounts/otp?range=7d`);
      await page.locator('.uplot').waitFor();
      const hasDarkLine = () =>
        page.evaluate(`(() => {
          const { width, height } = document.querySelector('.uplot canvas');
          const { data } = document.querySelector('.uplot canvas').getContext('2d').getImageData(0, 0, width, height);
          for (let at = 0; at < data.length; at += 4)
            if (data[at] === 0x7f && data[at + 1] === 0xd0 && data[at + 2] === 0xea) return true;
          return false;
        })()`);
      await expect.poll(hasDarkLine).toBe(true);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      await expect.poll(hasDarkLine).toBe(false);
      await page.emulateMedia({ media: null, colorScheme: 'dark' });
      await expect.poll(hasDarkLine).toBe(true);
      await page.emulateMedia({ colorScheme: null });
    });
  });

  it('tells nothing of a time of which nothing is stored', async () => {
    const views = demoViews();
    const trials = trialsOn(views);
    views.pollsByAccount.delete('otp');
    const own = await runFakeServer({ views, trials });
    await withPage(bed.plain, async (page) => {
      await openPage(page, `${own.url}/accounts/otp/try/sms-low`);
      await page.getByRole('button', { name: 'Try' }).click();
      await page.getByRole('alert').filter({ hasText: 'is not known' }).waitFor();
      expect(await page.getByText('would have fired').count()).toBe(0);
    });
    await own.close();
  });

  it('writes the amounts of its axis whole, however large they are', async () => {
    const views = demoViews();
    const own = await runFakeServer({ views });
    await withPage(bed.scripted, async (page) => {
      await page.addInitScript(`
      window.drawn = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { e } = this.getTransform();
        const width = this.textAlign === 'right' ? this.measureText(text).width : 0;
        window.drawn.push([text, Math.round(e + x - width)]);
        fillText.call(this, text, x, y);
      };
    `);
      const polls = views.pollsByAccount.get('otp') ?? [];
      const huge = polls.map((poll, index) =>
        poll.reading === null
          ? poll
          : { ...poll, reading: { ...poll.reading, balances: { sms: micros(-1e6 * (index + 1)) } } },
      );
      views.pollsByAccount.set('otp', huge);
      await openPage(page, `${own.url}/accounts/otp?range=24h`);
      await page.locator('.uplot').waitFor();
      const drawn = (await page.evaluate('window.drawn')) as [string, number][];
      expect(drawn.map(([text]) => text)).toContainEqual(expect.stringMatching(/^-\d{1,3}(?:,\d{3}){2,}$/));
      expect(drawn.filter(([, left]) => left < 0)).toEqual([]);
    });
    await own.close();
  });

  it('says next to the dates what is wrong with them', async () => {
    await withPage(bed.plain, async (page) => {
      await openPage(page, `${bed.server.url}/accounts/otp?since=2026-11-09&until=2026-11-02`);
      await page.getByRole('alert').filter({ hasText: 'since: it must lie before until' }).waitFor();
      expect(await page.locator('.chart-svg .line').count()).toBe(1);
    });
  });

  it('draws both balances under one another and zooms them together', async () => {
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${bed.server.url}/accounts/otp?balance=both&range=30d`);
      await expect.poll(() => page.locator('.uplot canvas').count()).toBe(2);
      const pictures = () => picturesOf(page);
      const [sms, voip] = await pictures();
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await expect.poll(async () => (await pictures())[0]).not.toBe(sms);
      expect((await pictures())[1]).not.toBe(voip);
    });
  });
});

/** What the charts show, each as a short text that is another one for another picture. */
function picturesOf(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.uplot canvas')].map((it) => {
    let sum = 0;
    for (const letter of it.toDataURL()) sum = (sum * 31 + letter.charCodeAt(0)) % 1000000007;
    return String(sum);
  })`);
}
