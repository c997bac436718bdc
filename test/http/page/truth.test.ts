import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import type { AccountView, SilenceView } from '../../../src/views/views.ts';
import { buildAccountView, buildAlertView, hourMs, viewsNow } from '../../support/built-views.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { type FakeServer, runFakeServer } from '../../support/web-server.ts';

let server: FakeServer;

afterEach(() => server.close());

const everything: SilenceView = {
  id: 's-1',
  match: {},
  startsAt: viewsNow,
  endsAt: viewsNow + 2 * hourMs,
  by: 'Lin',
  comment: 'moving house',
  laterStarts: [],
  active: true,
};

describe('the overview', () => {
  it('is green when everything was read and nothing is muted', async () => {
    const page = await overview({ accountList: [buildAccountView()] });
    expect(page).toContain('Nothing needs you now');
    expect(page).toMatch(/>lowwater<\/title>/);
  });

  it.each<[string, Partial<AccountView>]>([
    ['was never read', { outcome: null, readAt: null, reading: null }],
    ['could not be read just now', { outcome: 'network_error' }],
  ])('is not green while an account %s', async (_what, over) => {
    const page = await overview({
      accountList: [buildAccountView(), buildAccountView({ id: 'b', ...over })],
    });
    expect(page).not.toContain('Nothing needs you now');
    expect(page).toContain('1 of 2 accounts was not read');
    expect(page).toContain('>1 not read · lowwater</title>');
  });

  it('says on top what is muted, by whom and until when, with a button that ends it', async () => {
    const muted = buildAlertView({ silenced: true });
    const page = await overview({
      accountList: [buildAccountView({ worst: 'critical', firing: 1 })],
      alertList: [muted],
      silenceList: [everything],
    });
    expect(page).not.toContain('Nothing needs you now');
    expect(page).toContain('>1 critical silenced · lowwater</title>');
    expect(page).toContain('icon-unsure.svg');
    const top = page.slice(page.indexOf('class="muted"'), page.indexOf('needs-heading'));
    for (const words of ['every alert', 'Lin', 'moving house', '20:41', '/silences/s-1/expire'])
      expect(top).toContain(words);
  });

  it('carries a problem of lowwater itself into title and icon, next to alerts that need attention', async () => {
    const views = Object.assign(new FakeViews(), { accountList: [buildAccountView()] });
    views.daemonStatus = { ...views.daemonStatus, problems: ['storage-failed: the disk is full'] };
    server = await runFakeServer({ views });
    const page = await (await fetch(server.url)).text();
    expect(page).toContain('>lowwater has a problem · lowwater</title>');
    expect(page).toMatch(/<link rel="icon" href="\/assets\/icon-unsure\.svg/);
    views.alertList = [buildAlertView()];
    const urgent = await (await fetch(`${server.url}/silences`)).text();
    expect(urgent).toContain('>1 critical, lowwater has a problem · Silences · lowwater</title>');
    expect(urgent).toMatch(/<link rel="icon" href="\/assets\/icon-critical\.svg/);
  });

  it('says in the title that something is muted though nothing fires', async () => {
    const page = await overview({ accountList: [buildAccountView()], silenceList: [everything] });
    expect(page).toContain('>1 silence · lowwater</title>');
    expect(page).toMatch(/<link rel="icon" href="\/assets\/icon-unsure\.svg/);
  });

  it('sums up what there is in each currency, and who is empty first', async () => {
    const page = await overview({
      accountList: [
        buildAccountView(),
        buildAccountView({ id: 'b', name: 'Second', outcome: 'timeout' }),
        buildAccountView({
          id: 'c',
          reading: { at: viewsNow, balances: { sms: 1_500_000, voip: 0 }, currency: 'EUR' },
          runways: { sms: null, voip: null },
        }),
      ],
    });
    const totals = page.slice(page.indexOf('aria-label="Totals"'), page.indexOf('accounts-heading'));
    for (const words of ['225.00 CNY', '2 accounts', '1 not read just now', '1.50 EUR', '/accounts/otp'])
      expect(totals).toContain(words);
  });

  it('warns of a token that could be guessed', async () => {
    server = await runFakeServer({ settings: { token: new Secret('short') } });
    const signedIn = await fetch(`${server.url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'short' }),
      redirect: 'manual',
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await (await fetch(server.url, { headers: { cookie } })).text();
    expect(page).toContain('server.token is shorter than 16 characters');
  });
});

async function overview(given: Partial<Pick<FakeViews, 'accountList' | 'alertList' | 'silenceList'>>) {
  server = await runFakeServer({ views: Object.assign(new FakeViews(), given) });
  return (await fetch(server.url)).text();
}
