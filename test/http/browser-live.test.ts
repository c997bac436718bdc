import type { Locator, Page, Request } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isoText } from '../../src/domain/time.ts';
import { loadLanguage } from '../../src/languages/load-language.ts';
import { sayAge } from '../../src/wording/moments.ts';
import { hourMs, idleRule, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { hasBrowser, openPage, withPage } from '../support/browser.ts';
import { useBrowser } from '../support/browser-bed.ts';
import { viewsNow } from '../support/built-views.ts';
import { give } from '../support/orders.ts';
import { makeAccount } from '../support/settings.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { serveWorld } from '../support/web-server.ts';
import { read, startWorld, type World } from '../support/world.ts';

describe.skipIf(!hasBrowser())('an open page in use', () => {
  const bed = useBrowser();

  it.each<[string, (page: Page) => Promise<void>]>([
    ['a box is ticked', (page) => page.getByLabel('Choose sms-low of otp').check()],
    ['a button has the focus', (page) => page.getByRole('button', { name: 'Acknowledge' }).last().focus()],
    ['a menu is unfolded', (page) => page.locator('summary', { hasText: 'Acknowledge' }).click()],
  ])('shows what became of an alert while %s', async (_what, use) => {
    const { world, url } = await warned();
    await withPage(bed.scripted, async (page, complaints) => {
      await openPage(page, `${url}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      await use(page);
      await read(world, 20);
      await page.locator('.alert.critical', { hasText: '20.00 CNY' }).waitFor();
      await read(world, 500);
      await page
        .getByText(/No open alert|This is over/)
        .first()
        .waitFor();
      expect(await page.locator('.alert .badge:visible, .alert:not(.over)').count()).toBe(0);
      expect(complaints).toEqual([]);
    });
  });

  it('keeps a form with what was typed, says that it has changed, and is refused what it shows', async () => {
    const { world, url } = await warned();
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${url}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      const card = page.locator('.alert');
      await card.locator('summary', { hasText: 'Acknowledge' }).click();
      await card.getByLabel('Your name').filter({ visible: true }).fill('Wei');
      await read(world, 20);
      await page.getByText('Changed since you began.').waitFor();
      expect(await card.getByLabel('Your name').filter({ visible: true }).inputValue()).toBe('Wei');
      await page.keyboard.press('Enter');
      await page.getByText('this alert is critical now').waitFor();
      expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
    });
  });

  it('goes on with the form that silences while somebody else acknowledges', async () => {
    const { world, url } = await warned();
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${url}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      const card = page.locator('.alert');
      await card.locator('summary', { hasText: 'Silence' }).click();
      await card.getByLabel('Your name').filter({ visible: true }).fill('Wei');
      await give(world.views, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' }, 'Ada');
      await card.getByText('acknowledged by Ada').waitFor();
      expect(await card.getByText(/This is over|Changed since/).count()).toBe(0);
      await page.keyboard.press('Enter');
      await page.getByText('Silenced.').waitFor();
      expect(world.views.silences()).toMatchObject([{ by: 'Wei' }]);
    });
  });

  it('shows an alert that now stands in another list of the overview', async () => {
    await withIdleCard(bed.scripted, [150, 149, 148, 147], async ({ world, page, card, name }) => {
      // The list of what is due now is gone, which stood above that of this week.
      await read(world, 500);
      await page.getByText('1 alert needs attention').waitFor();
      expect(await card.isVisible()).toBe(true);
      expect(await name.inputValue()).toBe('Wei');
    });
  });

  it('keeps an alert whose list stands below one that came', async () => {
    await withIdleCard(bed.scripted, [450, 449, 448, 447], async ({ world, page, name }) => {
      await read(world, 150);
      await page.getByText('2 alerts need attention').waitFor();
      const lists = page.locator('ul.alerts');
      expect(await lists.allInnerTexts()).toEqual([
        expect.not.stringContaining('nothing spent'),
        expect.stringContaining('nothing spent'),
      ]);
      expect(await name.inputValue()).toBe('Wei');
    });
  });

  it('shows on the page of an account a silence that began, and none that has ended', async () => {
    const { world, url } = await warned();
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${url}/accounts/otp`);
      await page.getByText('Updates by itself.').waitFor();
      const section = page.getByRole('region', { name: 'Silences' });
      const window = { startsAt: world.now, endsAt: world.now + hourMs };
      const match = { account: ['otp'] };
      await give(world.views, { kind: 'silence', match, everything: false, ...window, comment: '' }, 'Wei');
      await section.waitFor();
      const id = world.views.silences()[0]?.id ?? '';
      await give(world.views, { kind: 'expire', id }, 'Wei');
      await section.waitFor({ state: 'detached' });
    });
  });

  it.each(['/silences', '/'])(
    'leaves the keyboard on no button that has become that of another silence (%s)',
    async (path) => {
      const { world, url } = await warned();
      const silence = (rule: string) => {
        const window = { startsAt: world.now, endsAt: world.now + hourMs };
        const match = { account: ['otp'], rule: [rule] };
        return give(
          world.views,
          { kind: 'silence', match, everything: false, ...window, comment: '' },
          'Wei',
        );
      };
      await silence('sms-low');
      const id = world.views.silences()[0]?.id ?? '';
      await silence('stale');
      await withPage(bed.scripted, async (page) => {
        await openPage(page, url + path);
        await page.getByText('Updates by itself.').waitFor();
        const ending = (rule: string) =>
          page.getByRole('button', { name: `End now the silence of account otp, rule ${rule}` });
        await ending('sms-low').last().focus();
        await give(world.views, { kind: 'expire', id }, 'Ada');
        await ending('sms-low').last().waitFor({ state: 'detached' });
        await page.keyboard.press('Enter');
        await page.waitForTimeout(500);
        expect(world.views.silences()).toHaveLength(1);
      });
    },
  );

  it('shows what time alone has changed, as a silence that is over', async () => {
    const { world, url } = await warned();
    const window = { startsAt: world.now, endsAt: world.now + minuteMs };
    const match = { account: ['otp'] };
    await give(world.views, { kind: 'silence', match, everything: false, ...window, comment: '' }, 'Wei');
    await withPage(bed.scripted, async (page) => {
      await openPage(page, url);
      await page.getByText('Updates by itself.').waitFor();
      expect(await page.title()).toBe('1 warning silenced · lowwater');
      await world.pass(minuteMs);
      await expect.poll(() => page.title()).toBe('1 warning · lowwater');
      await page.getByText('1 alert needs attention').waitFor();
    });
  });

  it('follows its reader into another time zone, once the form that was begun is left, and keeps its language', async () => {
    const { world, url } = await warned();
    const footer = (page: Page) => page.getByRole('contentinfo');
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${url}/accounts/otp`);
      await footer(page).getByText('times in UTC').waitFor();
      const menu = page.locator('summary', { hasText: 'Silence' }).first();
      await menu.click();
      await withPage(bed.scripted, async (other) => {
        await other.goto(`${url}/time-zone`);
        await other.getByLabel('Show times in').selectOption('Asia/Shanghai');
        await other.getByRole('button', { name: 'Show', exact: true }).click();
        await footer(page).getByText('times in Asia/Shanghai').waitFor();
        expect(await page.locator('[data-timezone]').first().getAttribute('data-timezone')).toBe('UTC');
        await menu.click();
        await page.locator('[data-timezone="Asia/Shanghai"]').first().waitFor();
        await footer(other).getByRole('button', { name: 'Español' }).click();
        await other.getByText('Se actualiza por sí sola.').waitFor();
      });
      await read(world, 140);
      await page.getByText('140.00').first().waitFor();
      expect(await page.getByText('140,00').count()).toBe(0);
    });
    await bed.scripted.clearCookies();
  });

  it.each(['/review', '/accounts/otp/try/sms-low'])(
    'tells in its title what fires since, though the rest is as of when it was asked for (%s)',
    async (path) => {
      const { world, url } = await warned();
      await withPage(bed.scripted, async (page) => {
        await page.goto(url + path);
        const footer = page.getByRole('contentinfo').locator('p').first();
        const before = await footer.textContent();
        await read(world, 20);
        await expect.poll(() => page.title()).toMatch(/^1 critical · /);
        expect(await footer.textContent()).toBe(before);
      });
    },
  );

  it.each(['en', 'zh-CN', 'es'] as const)(
    'tells ages as the server does while it stays open (%s)',
    async (id) => {
      const language = await loadLanguage(id);
      // The clock is that of a whole context.
      const context = await bed.browser.newContext();
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const { url } = bed.server;
      await context.addCookies([{ name: 'lowwater_language', value: id, url }]);
      await page.clock.install();
      await page.clock.pauseAt(Date.now() + hourMs);
      await page.goto(url);
      const now = viewsNow + 15_000;
      const minutes = [0.01, 0.7, 1.6, 2, 19, 60, 66, 118.4, 130, 320, 601, 1_800, 2_881, 6_420, 48_960];
      const instants = minutes.flatMap((each) => [now - each * minuteMs, now + each * minuteMs]);
      await page.evaluate(
        `document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(
          instants.map((at) => `<time class="told" datetime="${isoText(at)}" data-age></time>`).join(''),
        )})`,
      );
      await page.clock.runFor(15_000);
      const said = await page.locator('.told').allTextContents();
      expect(said).toEqual(instants.map((at) => sayAge(at, { language, now })));
    },
  );

  it('is not read out again while all is well', async () => {
    const { url } = await warned();
    await withPage(bed.scripted, async (page) => {
      await openPage(page, url);
      await page.getByText('Updates by itself.').waitFor();
      const said = await page.evaluate(`new Promise((end) => {
        let count = 0;
        const watch = new MutationObserver(() => { count += 1; });
        for (const place of document.querySelectorAll('[role=status], [role=alert]'))
          watch.observe(place, { childList: true, characterData: true, subtree: true });
        const port = new SharedWorker(document.querySelector('script[src*="live.js"]').src.replace('live.js', 'stream.js')).port;
        let alive = 0;
        port.onmessage = ({ data }) => { if (data.kind === 'alive' && (alive += 1) === 3) end(count); };
        port.postMessage({ page: '/messages#en', have: '' });
      })`);
      expect(said).toBe(0);
    });
  });

  it('calls an account in its heading as the configuration does since', async () => {
    const { world, url } = await warned();
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${url}/accounts/otp`);
      await page.getByText('Updates by itself.').waitFor();
      await world.reload({ accounts: [makeAccount('otp', { name: 'Codes' })] });
      await page.getByRole('heading', { level: 1, name: 'Codes' }).waitFor();
      expect(await page.title()).toContain('Codes');
    });
  });

  it('takes what is true now once the form was left', async () => {
    const { world, url } = await warned();
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${url}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      const menu = page.locator('.alert summary', { hasText: 'Acknowledge' });
      await menu.click();
      await read(world, 20);
      await page.getByText('Changed since you began.').waitFor();
      await menu.click();
      await page.getByText('Changed since you began.').waitFor({ state: 'detached' });
      await menu.click();
      await page.locator('.alert').getByLabel('Your name').filter({ visible: true }).fill('Wei');
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Acknowledged.' }).waitFor();
    });
  });
});

describe.skipIf(!hasBrowser())('a page that lost its stream', () => {
  const bed = useBrowser();

  it('goes on from what it shows, also where it has meanwhile asked by itself and all is as it was before', async () => {
    const { url } = await warned();
    const proxy = await startTcpProxy(Number(new URL(url).port));
    onTestFinished(() => proxy.close());
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `http://127.0.0.1:${proxy.port}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      // For the one moment in which the page asks by itself, the balance was another.
      await page.route(
        '**/alerts',
        async (route) => {
          const response = await route.fetch();
          const body = (await response.text())
            .replaceAll('150.00', '20.00')
            .replaceAll(/(data-live="(?!version|zone)[^"]*" data-is=")/g, '$10');
          await route.fulfill({ response, body });
        },
        { times: 1 },
      );
      // It may be shown for less time than it takes to look from here.
      const shown = page.evaluate(
        `new Promise((resolve) => {
          const look = () => document.body.innerText.includes('20.00 CNY') && resolve();
          new MutationObserver(look).observe(document.body, { childList: true, characterData: true, subtree: true });
        })`,
      );
      proxy.breakAll();
      await shown;
      await page.getByText('150.00 CNY').first().waitFor();
    });
  });

  it('has one of its own where the script that the tabs share could not be loaded', async () => {
    const { world, url } = await warned();
    const page = await bed.scripted.newPage();
    await page.addInitScript(
      'globalThis.SharedWorker = class extends SharedWorker { constructor() { super("/assets/gone.js"); } };',
    );
    await openPage(page, `${url}/alerts`);
    await page.getByText('Updates by itself.').waitFor();
    await read(world, 20);
    await page.getByText('20.00 CNY').first().waitFor();
    await page.close();
  });

  it('is called fresh by a script that was long under way once it shows what is true now', async () => {
    const { world, url, streams, hold } = await heldUp();
    const page = await bed.scripted.newPage();
    await page.route('**/assets/live.js*', async (route) => {
      const letGo = hold();
      await read(world, 20);
      await page.waitForTimeout(10_500);
      await route.continue();
      await expect.poll(streams).toBe(1);
      await page.waitForTimeout(1000);
      expect(await page.getByText('Updates by itself.').count()).toBe(0);
      letGo();
    });
    await page.goto(`${url}/alerts`);
    await page.getByText('Updates by itself.').waitFor();
    expect(await page.title()).toBe('1 critical · Alerts · lowwater');
    await page.close();
  });

  it('goes on saying so until it shows what is true now, though the daemon answers again', async () => {
    const { world, url, streams, hold } = await heldUp();
    const proxy = await startTcpProxy(Number(new URL(url).port));
    onTestFinished(() => proxy.close());
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `http://127.0.0.1:${proxy.port}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      proxy.mode = 'cut';
      await page.getByText('No connection to lowwater').waitFor();
      await read(world, 20);
      const letGo = hold();
      proxy.mode = 'pass';
      await expect.poll(streams).toBe(1);
      await page.waitForTimeout(1000);
      expect(await page.title()).toBe('Not connected · 1 warning · Alerts · lowwater');
      letGo();
      await page.getByText('Updates by itself.').waitFor();
      expect(await page.title()).toBe('1 critical · Alerts · lowwater');
    });
  });

  it('asks once at a time, however often it hears meanwhile that the daemon lives', async () => {
    const { url, streams, hold } = await heldUp();
    const proxy = await startTcpProxy(Number(new URL(url).port));
    onTestFinished(() => proxy.close());
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `http://127.0.0.1:${proxy.port}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      proxy.mode = 'cut';
      await page.getByText('No connection to lowwater').waitFor();
      const letGo = hold();
      const asked = new Set<Request>();
      page.on('request', (request) => asked.add(request));
      // On a busy machine the browser tells late of those that were cut.
      page.on('requestfailed', (request) => asked.delete(request));
      proxy.mode = 'pass';
      await expect.poll(streams).toBe(1);
      // Time for three signs of life.
      await page.waitForTimeout(1500);
      expect([...asked].filter((request) => request.url().endsWith('/alerts'))).toHaveLength(1);
      letGo();
      await page.getByText('Updates by itself.').waitFor();
    });
  });

  it('is kept fresh by asking where streams of events are held up on their way', async () => {
    const world = await startWorld({ rules: [smsLow({ warning: units(200), critical: units(50) })] });
    await read(world, 150);
    Object.assign(world.views, { subscribe: () => () => {} });
    const { url, clock, listeners } = await serveWorld(world, { limits: { heartbeatMs: hourMs } });
    clock.hurry = 1;
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `${url}/alerts`);
      await expect.poll(listeners).toBe(1);
      // The first parts of a stream that is opened are on their way.
      await page.waitForTimeout(500);
      await read(world, 20);
      await page.getByText('20.00 CNY').first().waitFor();
      expect(await page.title()).toBe('1 critical · Alerts · lowwater');
      await page.getByText('Updates by itself.').waitFor();
    });
  });

  it('does not go back to what it asked for before the stream brought something newer', async () => {
    const { world, url } = await warned();
    const proxy = await startTcpProxy(Number(new URL(url).port));
    onTestFinished(() => proxy.close());
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `http://127.0.0.1:${proxy.port}/alerts`);
      await page.getByText('Updates by itself.').waitFor();
      const answered = Promise.withResolvers<void>();
      // The answer is under way until the stream is back and has brought the next reading.
      await page.route(
        '**/alerts',
        async (route) => {
          const response = await route.fetch();
          await read(world, 20);
          await page.getByText('20.00 CNY').first().waitFor();
          await route.fulfill({ response });
          answered.resolve();
        },
        { times: 1 },
      );
      proxy.breakAll();
      await answered.promise;
      await page.waitForTimeout(300);
      expect(await page.getByText('150.00 CNY').count()).toBe(0);
      expect(await page.title()).toContain('1 critical');
    });
  });
});

describe.skipIf(!hasBrowser())('seven tabs of one browser', () => {
  const bed = useBrowser();

  it('share one stream: all load and are kept fresh, an order waits for none, and closed ones are forgotten', async () => {
    const { world, url, streams } = await warned();
    const tabs = await Promise.all(Array.from({ length: 7 }, () => bed.scripted.newPage()));
    const paths = [
      '/',
      '/alerts',
      '/alerts',
      '/accounts/otp',
      '/silences',
      '/messages',
      '/alerts?state=firing',
    ];
    for (const [nth, tab] of tabs.entries()) {
      await openPage(tab, `${url}${paths[nth]}`);
      await tab.getByText('Updates by itself.').waitFor();
    }
    const [, acting, other, , , , another] = tabs;
    await acting?.locator('.alert summary', { hasText: 'Acknowledge' }).click();
    await acting?.locator('.alert').getByLabel('Your name').filter({ visible: true }).fill('Wei');
    await acting?.keyboard.press('Enter');
    await acting?.getByRole('status').filter({ hasText: 'Acknowledged.' }).waitFor();
    for (const tab of [other, another]) await tab?.getByText('Wei').first().waitFor();
    await read(world, 20);
    for (const tab of [tabs[0], other, another]) await tab?.getByText('20.00').first().waitFor();
    await Promise.all(tabs.map((tab) => tab.close()));
    await expect.poll(streams).toBe(0);
  });
});

/** An overview with an idle balance, and somebody who begins to acknowledge it. `balances`: those of SMS, as they are read. */
async function withIdleCard(
  context: Parameters<typeof withPage>[0],
  balances: readonly number[],
  visit: (seen: {
    readonly world: World;
    readonly page: Page;
    readonly card: Locator;
    readonly name: Locator;
  }) => Promise<void>,
): Promise<void> {
  const quiet = idleRule({ id: 'voip-idle', balance: 'voip', windowMs: 10 * minuteMs });
  const world = await startWorld({ rules: [smsLow({ critical: units(200) }), quiet] });
  for (const sms of balances) await read(world, sms);
  const { url } = await serveWorld(world);
  await withPage(context, async (page) => {
    await openPage(page, url);
    await page.getByText('Updates by itself.').waitFor();
    const card = page.locator('.alert', { hasText: 'nothing spent' });
    await card.locator('summary', { hasText: 'Acknowledge' }).click();
    const name = card.getByLabel('Your name').filter({ visible: true });
    await name.fill('Wei');
    await visit({ world, page, card, name });
  });
}

/** The same; no page is made of its alerts from `hold` until what it returns is called. */
async function heldUp() {
  let held = Promise.resolve();
  const { world, ...warning } = await warned(({ views }) => {
    const { alerts } = views;
    Object.assign(views, { alerts: (query: { all: boolean }) => held.then(() => alerts(query)) });
  });
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held = promise;
    return resolve;
  };
  return { ...warning, world, hold };
}

/** A world whose account has a warning, and its page. */
async function warned(change: (world: World) => void = () => {}): Promise<{
  readonly world: World;
  readonly url: string;
  readonly streams: () => number;
}> {
  const world = await startWorld({ rules: [smsLow({ warning: units(200), critical: units(50) })] });
  await read(world, 150);
  change(world);
  const server = await serveWorld(world);
  return { world, url: server.url, streams: server.listeners };
}
