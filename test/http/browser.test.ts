import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { signAcknowledgement } from '../../src/http/ack-link.ts';
import { hasBrowser, launchBrowser, listenToComplaints, openPage, withPage } from '../support/browser.ts';
import { demoViews } from '../support/demo-views.ts';
import { buildAccountView, buildAlertView, dayMs, hourMs, viewsNow } from '../support/fake-views.ts';
import { trialsOn } from '../support/trials.ts';
import { ackKey, type RunningServer, runServer } from '../support/web-server.ts';

const present = hasBrowser();
const token = 'browser-token';

// Chromium shares the machine with the other test files.
vi.setConfig({ testTimeout: 30_000 });

const link = `/ack?${signAcknowledgement(ackKey, { account: 'otp', rule: 'sms-low', incident: 'incident-1', expiresAt: viewsNow + hourMs })}`;
const pages = [
  ['overview', '/'],
  ['account', '/accounts/otp?range=7d'],
  ['account-voip', '/accounts/voice-alerts?balance=voip&range=30d'],
  ['account-both', '/accounts/otp?balance=both&since=2026-11-01&until=2026-11-18'],
  ['trial', '/accounts/otp/try/sms-low'],
  ['alerts', '/alerts'],
  ['alerts-past', '/alerts?state=past'],
  ['silences', '/silences'],
  ['messages', '/messages'],
  ['time-zone', '/time-zone'],
  ['acknowledge', link],
  ['sign-in', '/sign-in'],
] as const;
const wide = { width: 1280, height: 800 };
const narrow = { width: 360, height: 740 };
/** A phone, a tablet, a laptop, a screen on the wall. */
const widths = [360, 820, 1140, 1920];

interface Observations {
  readonly complaints: readonly string[];
  readonly findings: readonly string[];
  readonly facts: { readonly scripted: string; readonly plain: string };
  /** Widths at which it scrolls sideways; and how wide it is without a script on a phone. */
  readonly tooWide: { readonly scripted: readonly number[]; readonly plain: number };
}

/** Tabs that are used for one page after another. */
interface Lane {
  readonly page: Page;
  readonly plainPage: Page;
  /** Of the page open now. */
  readonly complaints: string[];
}

const nothing = (): void => undefined;

describe.skipIf(!present)('in a browser', () => {
  const axe = present
    ? readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    : '';
  let browser: Browser;
  let scripted: BrowserContext;
  let plain: BrowserContext;
  let server: RunningServer;
  let locked: RunningServer;
  const seen = new Map<string, Promise<Observations>>();

  beforeAll(async () => {
    browser = await launchBrowser();
    scripted = await browser.newContext({ viewport: wide });
    plain = await browser.newContext({ viewport: wide, javaScriptEnabled: false });
    const views = demoViews();
    server = await runServer({ views, trials: trialsOn(views) });
    locked = await runServer({ views: demoViews(), settings: { token: new Secret(token) } });
    await observeAll();
  }, 60_000);

  afterAll(async () => {
    await browser.close();
    await Promise.all([server.close(), locked.close()]);
  });

  describe.each(pages)('%s', (name) => {
    it('loads without a complaint of the console or the policy', async () => {
      expect((await look(name)).complaints).toEqual([]);
    });

    it('has nothing serious for axe at any width, in light and in dark', async () => {
      expect((await look(name)).findings).toEqual([]);
    });

    it('scrolls sideways at no width, with or without a script', async () => {
      const { tooWide } = await look(name);
      expect(tooWide.scripted).toEqual([]);
      expect(tooWide.plain).toBeLessThanOrEqual(narrow.width);
    });

    it('shows the same facts without a script', async () => {
      const { facts } = await look(name);
      expect(facts.plain.length).toBeGreaterThan(30);
      expect(facts.plain).toBe(facts.scripted);
    });
  });

  it('the chart without a script draws line, thresholds, top-up, incident and projection', async () => {
    await withPage(plain, async (page) => {
      await openPage(page, `${server.url}/accounts/otp?range=7d`);
      for (const part of ['.line', '.threshold', '.top-up', '.shade', '.projection']) {
        expect(await page.locator(`.chart-svg ${part}`).count(), part).toBeGreaterThan(0);
      }
      // A gap where polls failed: the line takes the pen up.
      expect((await page.locator('.chart-svg .line').getAttribute('d'))?.match(/M/g)).toHaveLength(2);
    });
  });

  it('the chart with a script follows the pointer and drags along no style that the policy forbids', async () => {
    await withPage(scripted, async (page, complaints) => {
      await openPage(page, `${server.url}/accounts/otp?range=24h`);
      const over = page.locator('.u-over');
      await over.hover({ position: { x: 300, y: 60 } });
      await expect.poll(() => page.locator('.u-legend').textContent()).toMatch(/\d+\.\d+ CNY/);
      const pointed = await page.locator('.u-legend').textContent();
      // Newer numbers leave the cursor where it is.
      let fetched = 0;
      page.on('response', (response) => {
        fetched += Number(response.url().includes('/chart?'));
      });
      const tell = async () => {
        await page.evaluate("document.dispatchEvent(new Event('lowwater:fresh'))");
        return fetched;
      };
      await expect.poll(tell, { timeout: 10_000, interval: 500 }).toBeGreaterThan(0);
      await page.waitForTimeout(200);
      expect(await page.locator('.u-legend').textContent()).toBe(pointed);
      expect(complaints).toEqual([]);
    });
  });

  it('the chart zooms by keys and by dragging, and keeps its zoom when it is fresh', async () => {
    await withPage(scripted, async (page) => {
      await openPage(page, `${server.url}/accounts/otp?range=30d`);
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
      // The chart is fetched again every few seconds at most, so it is told until it does.
      let fetched = 0;
      page.on('response', (response) => {
        fetched += Number(response.url().includes('/chart?'));
      });
      const tell = async () => {
        await page.evaluate("document.dispatchEvent(new Event('lowwater:fresh'))");
        return fetched;
      };
      await expect.poll(tell, { timeout: 10_000, interval: 500 }).toBeGreaterThan(0);
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
      const { searchParams } = new URL(csv, server.url);
      expect(Date.parse(searchParams.get('since') ?? '')).toBeCloseTo(since, -4);
      expect(Date.parse(searchParams.get('until') ?? '')).toBeCloseTo(until, -4);
    });
  });

  it('shows any two dates, and gives their readings as CSV, without a script', async () => {
    await withPage(plain, async (page) => {
      await openPage(page, `${server.url}/accounts/otp?balance=voip`);
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
      await withPage(how === 'with' ? scripted : plain, async (page, complaints) => {
        await openPage(page, `${server.url}/accounts/otp`);
        await page.getByRole('link', { name: 'Try other values of sms-low' }).click();
        expect(await page.getByLabel('thresholds.critical').inputValue()).toBe('50');
        await page.getByLabel('thresholds.critical').fill('700');
        await page.getByRole('button', { name: 'Try' }).click();
        await page.getByText('the threshold for critical must be lower than that for warning').waitFor();
        await page.getByLabel('thresholds.critical').fill('35');
        await page.getByLabel('hysteresis').fill('');
        await page.getByLabel('Over the last').selectOption('30 days');
        await page.getByRole('button', { name: 'Try' }).click();
        await page
          .getByRole('status')
          .filter({ hasText: /^In \d+ days it would have told \d+ times?;/ })
          .waitFor();
        expect(JSON.parse((await page.locator('.paste').textContent()) ?? '')).toEqual({
          id: 'sms-low',
          type: 'below',
          thresholds: { info: 500, warning: 200, critical: 35 },
        });
        expect(await page.locator('.chart-svg .shade').count()).toBeGreaterThan(1);
        if (how === 'with') await page.evaluate(axe);
        if (how === 'with') expect(await seriousFindings(page)).toEqual([]);
        await page.setViewportSize(narrow);
        expect(await widthOf(page)).toBeLessThanOrEqual(narrow.width);
        expect(complaints.filter((complaint) => !complaint.includes('400'))).toEqual([]);
      });
    },
  );

  it('says beside the dates what is wrong with them', async () => {
    await withPage(plain, async (page) => {
      await openPage(page, `${server.url}/accounts/otp?since=2026-11-09&until=2026-11-02`);
      await page.getByRole('alert').filter({ hasText: 'since: it must lie before until' }).waitFor();
      expect(await page.locator('.chart-svg .line').count()).toBe(1);
    });
  });

  it('draws both balances under one another and zooms them together', async () => {
    await withPage(scripted, async (page) => {
      await openPage(page, `${server.url}/accounts/otp?balance=both&range=30d`);
      await expect.poll(() => page.locator('.uplot canvas').count()).toBe(2);
      const pictures = () => picturesOf(page);
      const [sms, voip] = await pictures();
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await expect.poll(async () => (await pictures())[0]).not.toBe(sms);
      expect((await pictures())[1]).not.toBe(voip);
    });
  });

  it.each([360, 840, 920, 1140, 1920])(
    'at %i px runway, last reading and the link of each account are in sight',
    async (width) => {
      await withPage(scripted, async (page) => {
        await page.setViewportSize({ width, height: 900 });
        await openPage(page, server.url);
        for (const cell of [
          page.locator('table.accounts tbody tr').first().locator('[data-label=Runway]'),
          page.locator('table.accounts tbody tr').first().locator('[data-label=Read]'),
          page.locator('table.accounts tbody tr').first().locator('th a'),
        ]) {
          const box = await cell.boundingBox();
          expect(box === null ? Number.NaN : box.x + box.width).toBeLessThanOrEqual(width);
        }
      });
    },
  );

  it('the keyboard alone acknowledges', async () => {
    const own = await runServer({ views: demoViews() });
    await withPage(scripted, async (page) => {
      await openPage(page, own.url);
      await tabTo(page, 'Acknowledge sms-low of OTP production');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Wei');
      await page.keyboard.press('Tab');
      await page.keyboard.type('topping up now');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Acknowledged.' }).waitFor();
      expect(own.views.orders).toEqual([
        {
          kind: 'acknowledge',
          order: { account: 'otp', rule: 'sms-low', by: 'Wei', comment: 'topping up now' },
        },
      ]);
    });
    await own.close();
  });

  it('the keyboard alone silences, also without a script', async () => {
    const own = await runServer({ views: demoViews() });
    await withPage(plain, async (page) => {
      await openPage(page, `${own.url}/accounts/otp`);
      await tabTo(page, 'Silence all alerts of OTP production');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Wei');
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Silenced.' }).waitFor();
      const order = {
        match: { account: ['otp'] },
        startsAt: viewsNow,
        endsAt: viewsNow + 4 * hourMs,
        by: 'Wei',
        comment: '',
      };
      expect(own.views.orders).toEqual([{ kind: 'silence', order }]);
    });
    await own.close();
  });

  it('signs in, keeps the way, signs out', async () => {
    await withPage(scripted, async (page) => {
      await page.goto(`${locked.url}/accounts/otp`);
      await page.getByLabel('Token').fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').filter({ hasText: 'not the token' }).waitFor();
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'OTP production' }).waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByLabel('Token').waitFor();
    });
  });

  it('a link from another site finds the session that began here', async () => {
    const context = await browser.newContext();
    await withPage(context, async (page) => {
      const link = `data:text/html,<a href="${locked.url}/accounts/otp">open</a>`;
      await page.goto(link);
      await page.getByRole('link').click();
      await page.getByLabel('Token').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'OTP production' }).waitFor();
      await page.goto(link);
      await page.getByRole('link').click();
      await page.getByRole('heading', { level: 1, name: 'OTP production' }).waitFor();
    });
    await context.close();
  });

  it('acknowledges from a message without signing in', async () => {
    const own = await runServer({ views: demoViews(), settings: { token: new Secret(token) } });
    await withPage(scripted, async (page) => {
      await page.goto(own.url + link);
      await page.getByLabel('Your name').fill('Wei');
      await page.getByRole('button', { name: 'Acknowledge' }).click();
      await page.getByRole('heading', { name: 'Acknowledged' }).waitFor();
      expect(own.views.orders).toHaveLength(1);
    });
    await own.close();
  });

  it('keeps itself fresh, and leaves alone what somebody fills in', async () => {
    const own = await runServer({ views: demoViews() });
    await withPage(scripted, async (page) => {
      await openPage(page, own.url);
      await page.getByText('Updates by itself.').waitFor();
      own.views.channelList = [
        { name: 'brand-new', type: 'webhook', pending: 0, lastDeliveredAt: null, lastError: null },
      ];
      own.views.change();
      await page.getByRole('rowheader', { name: 'brand-new' }).waitFor();
      await page.locator('summary', { hasText: 'Acknowledge' }).first().click();
      await page.getByLabel('Your name').first().fill('We');
      own.views.alertList = [];
      own.views.channelList = [];
      own.views.change();
      await page.getByText('No channel is configured').waitFor();
      expect(await page.getByLabel('Your name').first().inputValue()).toBe('We');
    });
    await own.close();
  });

  it('says on top and in the title when the daemon is gone, and when it is back', async () => {
    const own = await runServer({ views: demoViews() });
    const { port } = new URL(own.url);
    await withPage(scripted, async (page) => {
      await openPage(page, own.url);
      await page.getByText('Updates by itself.').waitFor();
      await own.close();
      await page.getByRole('alert').getByText('No connection to lowwater').waitFor();
      expect(await page.title()).toMatch(/^Not connected · /);
      const back = await runServer({ views: demoViews(), settings: { port: Number(port) } });
      await page.getByText('Updates by itself.').waitFor();
      expect(await page.title()).not.toContain('Not connected');
      await back.close();
    });
  });

  it('notices within 15 s that the daemon hangs', async () => {
    // A server that shows no sign of life, though the connection stands.
    const own = await runServer({ views: demoViews(), limits: { heartbeatMs: 600_000 } });
    await withPage(scripted, async (page) => {
      await openPage(page, own.url);
      await page.getByRole('alert').getByText('No connection to lowwater').waitFor({ timeout: 15_000 });
      expect(await page.title()).toMatch(/^Not connected · /);
    });
    await own.close();
  });

  it.each([
    ['markup', '<img src=x onerror=alert(1)>"\'&\u202E<script>alert(2)</script>'],
    ['one endless word', 'N'.repeat(5_000)],
  ])('hostile names stay names: %s', async (_what, name) => {
    const own = await runServer({ views: demoViews() });
    own.views.accountList = [
      buildAccountView({
        name,
        // As much as is taken for a currency.
        currency: name.slice(0, 16),
        labels: { [name]: name },
        failure: name,
        usage: { [name]: name },
      }),
    ];
    own.views.alertList = [
      buildAlertView({
        summary: name,
        accountName: name,
        rule: name,
        acknowledged: { at: viewsNow, by: name, comment: name },
      }),
      buildAlertView({ summary: name, account: name, accountName: name, rule: name }),
    ];
    await withPage(scripted, async (page, complaints) => {
      for (const path of [
        '/',
        '/accounts/otp',
        '/silences',
        '/messages',
        `/?q=${encodeURIComponent(name.slice(0, 100))}`,
      ]) {
        await openPage(page, own.url + path);
        expect(await page.locator('main img, main script').count()).toBe(0);
        for (const size of [wide, narrow]) {
          await page.setViewportSize(size);
          expect(await widthOf(page), path).toBeLessThanOrEqual(size.width);
        }
      }
      expect(complaints).toEqual([]);
    });
    await own.close();
  });

  /** What was seen of a page, once for all the tests of it: loading and axe are what takes the time. */
  function look(name: string): Promise<Observations> {
    return seen.get(name) ?? Promise.reject(new Error(`nobody looked at ${name}`));
  }

  /** Begins to look at all pages, in two lanes, each with a tab for what runs scripts and one for what does not. */
  async function observeAll(): Promise<void> {
    const lanes = await Promise.all([openLane(), openLane()]);
    const ends = lanes.map(() => Promise.resolve());
    for (const [index, [name, path]] of pages.entries()) {
      const turn = index % lanes.length;
      const lane = lanes[turn];
      if (lane === undefined) continue;
      const url = (name === 'sign-in' ? locked : server).url + path;
      const observed = (ends[turn] ?? Promise.resolve()).then(() => observe(lane, url));
      seen.set(name, observed);
      ends[turn] = observed.then(nothing, nothing);
    }
  }

  async function openLane(): Promise<Lane> {
    const [page, plainPage] = await Promise.all([scripted.newPage(), plain.newPage()]);
    const complaints: string[] = [];
    listenToComplaints(page, complaints);
    return { page, plainPage, complaints };
  }

  async function observe({ page, plainPage, complaints }: Lane, url: string): Promise<Observations> {
    complaints.length = 0;
    await Promise.all([page.setViewportSize(wide), page.emulateMedia({ colorScheme: 'light' })]);
    await openPage(page, url);
    const scriptedFacts = await factsOf(page);
    // Run as the browser's own code: the policy of the page holds for the page only.
    await page.evaluate(axe);
    const findings: string[] = [];
    const tooWide: number[] = [];
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      if ((await widthOf(page)) > width) tooWide.push(width);
      // What differs in the dark are the colours.
      for (const [colorScheme, rules] of [
        ['light', null],
        ['dark', ['color-contrast']],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        const found = await seriousFindings(page, rules);
        findings.push(...found.map((finding) => `${width} px, ${colorScheme}: ${finding}`));
      }
    }
    await plainPage.setViewportSize(narrow);
    await openPage(plainPage, url);
    return {
      complaints: [...complaints],
      findings,
      facts: { scripted: scriptedFacts, plain: await factsOf(plainPage) },
      tooWide: { scripted: tooWide, plain: await widthOf(plainPage) },
    };
  }

  async function seriousFindings(
    page: Page,
    rules: readonly string[] | null = null,
  ): Promise<readonly string[]> {
    // Nothing to load ahead: the styles come from the page's own server, so their rules can be read as they are.
    const options = {
      resultTypes: ['violations'],
      preload: false,
      ...(rules === null ? {} : { runOnly: rules }),
    };
    const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as {
      violations: { impact: string; id: string; nodes: { html: string }[] }[];
    };
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  }

  /** What the charts show, each as a short text that is another one for another picture. */
  function picturesOf(page: Page): Promise<string[]> {
    return page.evaluate(`[...document.querySelectorAll('.uplot canvas')].map((it) => {
      let sum = 0;
      for (const letter of it.toDataURL()) sum = (sum * 31 + letter.charCodeAt(0)) % 1000000007;
      return String(sum);
    })`);
  }

  /** Of all that could be scrolled to, once the chart has followed a change of the window. */
  async function widthOf(page: Page): Promise<number> {
    const measure = () => page.evaluate('document.documentElement.scrollWidth') as Promise<number>;
    const room = page.viewportSize()?.width ?? 0;
    for (let tries = 0; tries < 40 && (await measure()) > room; tries += 1) await page.waitForTimeout(25);
    return measure();
  }

  /** The words of the page without what only the picture of the chart says in either form. */
  function factsOf(page: Page): Promise<string> {
    return page.evaluate(`(() => {
      const main = document.querySelector('main').cloneNode(true);
      main.querySelectorAll('.chart-box').forEach((box) => box.remove());
      return main.textContent.replace(/\\s+/g, ' ').trim();
    })()`) as Promise<string>;
  }

  async function tabTo(page: Page, name: string): Promise<void> {
    for (let step = 0; step < 60; step += 1) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement.textContent')) === name) return;
    }
    throw new Error(`no way by Tab to ${name}`);
  }
});
