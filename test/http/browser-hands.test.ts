import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { hasBrowser, openPage, wide, withPage } from '../support/browser.ts';
import { ackLink, narrow, token, useBrowser, widthOf } from '../support/browser-bed.ts';
import { buildAccountView, buildAlertView, hourMs, viewsNow } from '../support/built-views.ts';
import { demoViews } from '../support/demo-views.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { runFakeServer } from '../support/web-server.ts';

/** The sums of all accounts are no table that one scrolls. */
const tooWideSums = `[...document.querySelectorAll('.scroll:has(.totals)')].filter((box) => box.scrollWidth > box.clientWidth).length`;

describe.skipIf(!hasBrowser())('people at a browser', () => {
  const bed = useBrowser();

  it('the keyboard alone acknowledges', async () => {
    const own = await runFakeServer({ views: demoViews() });
    await withPage(bed.scripted, async (page) => {
      await openPage(page, own.url);
      await tabTo(page, 'Ordered OTP production');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Wei');
      await page.keyboard.press('Tab');
      await page.keyboard.type('topping up now');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'Acknowledged.' }).waitFor();
      expect(own.views.given).toMatchObject([
        {
          kind: 'acknowledge',
          account: 'otp',
          rule: 'sms-low',
          by: 'Wei',
          comment: 'topping up now',
          seen: { incident: 'incident-1', severity: 'critical' },
        },
      ]);
    });
    await own.close();
  });

  it('the keyboard alone silences, also without a script', async () => {
    const own = await runFakeServer({ views: demoViews() });
    await withPage(bed.plain, async (page) => {
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
      expect(own.views.given).toMatchObject([{ kind: 'silence', ...order }]);
    });
    await own.close();
  });

  it('signs in, keeps the way, signs out', async () => {
    await withPage(bed.scripted, async (page) => {
      await page.goto(`${bed.locked.url}/accounts/otp`);
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

  it.each(['the page finds the session over', 'the form is sent without a session'])(
    'what was typed in a form stands there again after the sign-in, where %s',
    async (how) => {
      const own = await runFakeServer({ views: demoViews(), settings: { token: new Secret(token) } });
      const context = await bed.browser.newContext();
      const form = 'form[action="/alerts/otp/sms-low/acknowledge"]';
      await withPage(context, async (page) => {
        await page.goto(`${own.url}/alerts`);
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.locator(`details:has(${form}) summary`).click();
        await page.locator(`${form} [name=by]`).fill('Wei');
        await page.locator(`${form} [name=comment]`).fill('finance is on it');
        await context.clearCookies();
        if (how.startsWith('the page')) await page.goto(`${own.url}/alerts`);
        else await page.locator(`${form} button`).click();
        await page.getByLabel('Token').fill(token);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.locator(`details[open] > ${form}`).waitFor();
        expect(await page.locator(`${form} [name=by]`).inputValue()).toBe('Wei');
        expect(await page.locator(`${form} [name=comment]`).inputValue()).toBe('finance is on it');
        // For whoever comes back from elsewhere it is an empty form again.
        await page.goto(`${own.url}/pay`);
        await page.goto(`${own.url}/alerts`);
        expect(await page.locator(`${form} [name=comment]`).inputValue()).toBe('');
      });
      expect(own.views.given).toEqual([]);
      await Promise.all([context.close(), own.close()]);
    },
  );

  it('a link from another site finds the session that began here', async () => {
    const context = await bed.browser.newContext();
    await withPage(context, async (page) => {
      const link = `data:text/html,<a href="${bed.locked.url}/accounts/otp">open</a>`;
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
    const own = await runFakeServer({ views: demoViews(), settings: { token: new Secret(token) } });
    await withPage(bed.scripted, async (page) => {
      await page.goto(own.url + ackLink);
      await page.getByRole('textbox', { name: 'Your name' }).fill('Wei');
      await page.getByRole('button', { name: 'Acknowledge' }).click();
      await page.getByRole('heading', { name: 'Acknowledged' }).waitFor();
      expect(own.views.given).toHaveLength(1);
    });
    await own.close();
  });

  it('keeps itself fresh, and leaves alone what somebody fills in', async () => {
    const own = await runFakeServer({ views: demoViews() });
    await withPage(bed.scripted, async (page) => {
      await openPage(page, own.url);
      await page.getByText('Updates by itself.').waitFor();
      own.views.channelList = [
        { name: 'brand-new', type: 'webhook', pending: 0, lastDeliveredAt: null, lastError: null },
      ];
      own.views.change();
      await page.getByRole('rowheader', { name: 'brand-new' }).waitFor();
      await page.locator('summary', { hasText: 'Acknowledge' }).first().click();
      await page.getByLabel('Your name').filter({ visible: true }).fill('We');
      own.views.alertList = [];
      own.views.channelList = [];
      own.views.change();
      await page.getByText('No channel is configured').waitFor();
      expect(await page.getByLabel('Your name').filter({ visible: true }).inputValue()).toBe('We');
    });
    await own.close();
  });

  it('says on top, on paper too, and in the title when the daemon is gone, and when it is back', async () => {
    const own = await runFakeServer({ views: demoViews() });
    const { port } = new URL(own.url);
    await withPage(bed.scripted, async (page) => {
      await openPage(page, own.url);
      await page.getByText('Updates by itself.').waitFor();
      await own.close();
      await page.getByRole('alert').getByText('No connection to lowwater').waitFor();
      expect(await page.title()).toMatch(/^Not connected · /);
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByRole('alert').isVisible()).toBe(true);
      await page.emulateMedia({ media: null });
      const back = await runFakeServer({ views: demoViews(), settings: { port: Number(port) } });
      await page.getByText('Updates by itself.').waitFor();
      expect(await page.title()).not.toContain('Not connected');
      await back.close();
    });
  });

  it.each([200, 404])(
    'says so too while something else answers at its address, as a proxy with a page of its own (%i)',
    async (status) => {
      const own = await runFakeServer({ views: demoViews() });
      const port = Number(new URL(own.url).port);
      await withPage(bed.scripted, async (page) => {
        await openPage(page, own.url);
        await page.getByText('Updates by itself.').waitFor();
        await own.close();
        const proxy = createServer((_request, response) => {
          response.writeHead(status, { 'content-type': 'text/html' }).end('<title>Back soon</title>');
        }).listen(port, '127.0.0.1');
        await page.getByRole('alert').getByText('No connection to lowwater').waitFor();
        // It asks again meanwhile.
        await page.waitForTimeout(4_000);
        expect(await page.title()).toMatch(/^Not connected · /);
        proxy.closeAllConnections();
        await new Promise((resolve) => proxy.close(resolve));
        const back = await runFakeServer({ views: demoViews(), settings: { port } });
        onTestFinished(() => back.close());
        await page.getByText('Updates by itself.').waitFor();
      });
    },
  );

  it('is loaded again, with its scripts and styles, soon after lowwater is of another version', async () => {
    const own = await runFakeServer({ views: demoViews() });
    const page = await bed.scripted.newPage();
    await page.clock.install();
    await openPage(page, own.url);
    await page.getByText('Updates by itself.').waitFor();
    own.views.daemonStatus = { ...own.views.daemonStatus, version: '99.0.0' };
    own.views.change();
    await page.getByRole('contentinfo').getByText('lowwater 99.0.0').waitFor();
    await Promise.all([page.waitForEvent('load'), page.clock.fastForward(20_000)]);
    await page.close();
    await own.close();
  });

  it('notices within 15 s that the daemon hangs', async () => {
    const own = await runFakeServer({ views: demoViews() });
    const proxy = await startTcpProxy(Number(new URL(own.url).port));
    await withPage(bed.scripted, async (page) => {
      await openPage(page, `http://127.0.0.1:${proxy.port}`);
      await page.getByText('Updates by itself.').waitFor();
      // It shows no sign of life, though the connection stands.
      proxy.mode = 'hang';
      // Twice as long: a busy machine is late.
      await page.getByRole('alert').getByText('No connection to lowwater').waitFor({ timeout: 30_000 });
      expect(await page.title()).toMatch(/^Not connected · /);
    });
    await proxy.close();
    await own.close();
  });

  it.each([
    ['markup', '<img src=x onerror=alert(1)>"\'&\u202E<script>alert(2)</script>'],
    ['one endless word', 'N'.repeat(5_000)],
  ])('hostile names stay names: %s', async (_what, name) => {
    const own = await runFakeServer({ views: demoViews() });
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
    const silence = { startsAt: viewsNow, endsAt: viewsNow + hourMs, active: true, laterStarts: [] };
    own.views.silenceList = [{ id: 's', match: { account: [name] }, by: name, comment: name, ...silence }];
    await withPage(bed.scripted, async (page, complaints) => {
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
          expect(await page.evaluate(tooWideSums), path).toBe(0);
        }
      }
      expect(complaints).toEqual([]);
    });
    await own.close();
  });
});

async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate('document.activeElement.textContent')) === name) return;
  }
  throw new Error(`no way by Tab to ${name}`);
}
