import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { hourMs, minuteMs, smsLow, units } from '../../support/account-facts.ts';
import { viewsNow } from '../../support/built-views.ts';
import { give } from '../../support/orders.ts';
import { makeAccount, makeProvider, type SettingsParts } from '../../support/settings.ts';
import { serveWorld } from '../../support/web-server.ts';
import { read, startWorld, step, World } from '../../support/world.ts';

const rules = [smsLow({ critical: units(50) })];

/** A world that has polled each account twice, at `viewsNow`. */
async function polledWorld(parts: SettingsParts = {}): Promise<World> {
  const world = await startWorld({ rules, ...parts }, { startAt: viewsNow - minuteMs - step });
  await world.pass(step);
  return world;
}

const silenceAll = (world: World) =>
  give(
    world.views,
    {
      kind: 'silence',
      match: {},
      everything: true,
      startsAt: world.now,
      endsAt: world.now + 2 * hourMs,
      comment: 'moving house',
    },
    'Lin',
  );

async function overview(world: World): Promise<string> {
  const { url } = await serveWorld(world);
  return (await fetch(url)).text();
}

describe('the overview', () => {
  it('is green when everything was read and nothing is muted', async () => {
    const page = await overview(await polledWorld());
    expect(page).toContain('Nothing needs you now');
    expect(page).toMatch(/>lowwater<\/title>/);
  });

  it.each([
    ['was never read', ['otp'], 0],
    ['could not be read just now', ['otp', 'b'], step],
  ])('is not green while an account %s', async (_what, accountsBefore, passed) => {
    const world = await polledWorld({ accounts: accountsBefore });
    world.provider.fail('b', 'network_error');
    world.reload({ rules, accounts: ['otp', 'b'] });
    await world.pass(passed);
    const page = await overview(world);
    expect(page).not.toContain('Nothing needs you now');
    expect(page).toContain('1 of 2 accounts was not read');
    expect(page).toContain('>1 not read · lowwater</title>');
  });

  it('has an account whose rules are fine as of its last reading, not of now, while it cannot be read', async () => {
    const world = await polledWorld({ accounts: ['otp', 'b'] });
    world.provider.fail('b', 'network_error');
    await world.pass(step);
    const { url } = await serveWorld(world);
    const account = async (id: string) => (await fetch(`${url}/accounts/${id}`)).text();
    expect(await account('otp')).toMatch(/<summary>\d rules are fine<\/summary>/);
    const page = await account('b');
    expect(page).toMatch(/Fine when last read(?:(?!<code>).)*<code>sms-low</s);
    expect(page).toMatch(/<summary>1 rule is fine<\/summary>(?:(?!<code>).)*<code>stale</s);
  });

  it('has an account that shows balances and payments of its last reading while it cannot be read, unless it never was', async () => {
    const world = new World({ accounts: ['otp', 'b'] }, { startAt: viewsNow - minuteMs });
    world.provider.fail('b', 'network_error');
    world.daemon.start();
    await world.pass(minuteMs);
    world.provider.fail('otp', 'network_error');
    await world.pass(step);
    const { url } = await serveWorld(world);
    const account = async (id: string) => (await fetch(`${url}/accounts/${id}`)).text();
    expect(await account('otp')).toContain('The balances below are from the last reading.');
    expect(await account('b')).not.toContain('from the last reading');
    const pay = await (await fetch(`${url}/pay`)).text();
    expect(pay).toContain('1 account could not be read: what it needs is as of its last reading.');
  });

  it('is not green, and says how old what is to pay is, while nothing is pushed to an account that is stale much later', async () => {
    const own = { ...makeProvider(), name: 'own', type: 'pushed', polled: false };
    const accounts = ['otp', makeAccount('ai', { provider: 'own', baseUrl: null, credentials: {} })];
    const late = { ...smsLow({}), type: 'stale', id: 'stale', balance: null, afterMs: 100 * hourMs };
    const world = await polledWorld({ accounts, providers: { own }, rules: [...rules, late] });
    const push = (sms: number) =>
      world.views.pushReading({
        ...{ account: 'ai', at: world.now, currency: 'CNY' },
        balances: { sms: units(sms), voip: 0 },
      });
    await push(90);
    expect(await overview(world)).toContain('Nothing needs you now');
    await world.pass(hourMs);
    const page = await overview(world);
    expect(page).not.toContain('Nothing needs you now');
    expect(page).toContain('1 of 2 accounts was not read');
    expect(page).toMatch(/<span class="sub unread">read <time [^>]*>1 hour ago<\/time><\/span>/);
    await push(40);
    await world.pass(hourMs);
    expect(await overview(world)).toContain('class="unread old"');
  });

  it.each([
    ...['/', '/pay', '/alerts', '/alerts?state=past', '/accounts/b', '/accounts/otp'],
    ...['/silences', '/messages', '/review', '/audit', '/time-zone'],
  ])('has a title and an icon that say so on every page (%s)', async (path) => {
    const world = await polledWorld({ accounts: ['otp', 'b'], rules: [] });
    world.provider.set('b', 0);
    await world.pass(step);
    const { url } = await serveWorld(world);
    const page = await (await fetch(url + path)).text();
    expect(page).toMatch(/icon-unsure[^>]*>1 may be empty within a day · /);
  });

  it('has a title that says what fired while the accounts were counted for it', async () => {
    const world = await polledWorld();
    const { summary } = world.views;
    world.views = {
      ...world.views,
      async summary(limit) {
        const counted = await summary(limit);
        await read(world, 42.1);
        return counted;
      },
    };
    const { url } = await serveWorld(world);
    const page = await (await fetch(`${url}/silences`)).text();
    expect(page).toContain('>1 critical · Silences · lowwater</title>');
  });

  it('counts the accounts once where the page went over all of them', async () => {
    const world = await polledWorld();
    const { summary } = world.views;
    let counts = 0;
    world.views = {
      ...world.views,
      async summary(limit) {
        counts += 1;
        return summary(limit);
      },
    };
    const { url } = await serveWorld(world);
    for (const path of ['/', '/pay']) await fetch(url + path);
    expect(counts).toBe(0);
    await fetch(`${url}/silences`);
    expect(counts).toBe(1);
  });

  it('is not green, nor is Pay, while an account without a rule is used up', async () => {
    const world = await polledWorld({ accounts: ['otp', 'b'], rules: [] });
    world.provider.set('b', 1000, { voip: -5 });
    await world.pass(step);
    const { url } = await serveWorld(world);
    const page = await (await fetch(url)).text();
    expect(page).not.toContain('Nothing needs you now');
    expect(page).toContain('1 account without an alert may be empty within a day');
    expect(page).toContain('>1 may be empty within a day · lowwater</title>');
    expect(page).toContain('icon-unsure.svg');
    expect(page).toMatch(/<\/span>Ends soon 1<.*<\/span>Fine 1</s);
    const pay = await (await fetch(`${url}/pay`)).text();
    expect(pay).toContain('1 account without an alert may be empty within a day.');
    expect(pay).toContain('>1 may be empty within a day · Pay · lowwater</title>');
    expect(pay).not.toContain('Nothing is due');
  });

  it('says on top what is muted, by whom and until when, with a button that ends it', async () => {
    const world = await polledWorld();
    await read(world, 42.1);
    const silence = await silenceAll(world);
    const page = await overview(world);
    expect(page).not.toContain('Nothing needs you now');
    expect(page).toContain('>1 critical silenced · lowwater</title>');
    expect(page).toContain('icon-unsure.svg');
    const top = page.slice(page.indexOf('class="muted"'), page.indexOf('needs-heading'));
    const end = `/silences/${'id' in silence ? silence.id : ''}/expire`;
    for (const words of ['every alert', 'Lin', 'moving house', '20:46', end]) expect(top).toContain(words);
  });

  it('carries a problem of lowwater itself into title and icon, next to alerts that need attention', async () => {
    const world = await startWorld({ rules }, { startAt: Date.UTC(1970, 0, 2) });
    expect(world.views.status().problems).toEqual([expect.stringContaining('clock')]);
    const { url } = await serveWorld(world);
    const page = await (await fetch(url)).text();
    expect(page).toContain('>lowwater has a problem · lowwater</title>');
    expect(page).toMatch(/<link rel="icon" href="\/assets\/icon-unsure\.svg/);
    await read(world, 42.1);
    const urgent = await (await fetch(`${url}/silences`)).text();
    expect(urgent).toContain('>1 critical, lowwater has a problem · Silences · lowwater</title>');
    expect(urgent).toMatch(/<link rel="icon" href="\/assets\/icon-critical\.svg/);
  });

  it('says in the title that something is muted though nothing fires', async () => {
    const world = await polledWorld();
    await silenceAll(world);
    const page = await overview(world);
    expect(page).toContain('>1 silence · lowwater</title>');
    expect(page).toMatch(/<link rel="icon" href="\/assets\/icon-unsure\.svg/);
  });

  it('sums up what there is in each currency, and who is empty first', async () => {
    const world = new World({
      accounts: ['otp', makeAccount('b', { name: 'Second' }), makeAccount('c', { currency: 'EUR' })],
    });
    world.provider.fill(112.5);
    world.provider.set('c', 1.5, { currency: 'EUR' });
    world.daemon.start();
    for (let poll = 14; poll >= 0; poll -= 1) {
      world.provider.set('otp', 112.5 + poll);
      await world.pass(step);
    }
    world.provider.fail('b', 'timeout');
    await world.pass(step);
    const page = await overview(world);
    const totals = page.slice(page.indexOf('aria-label="Totals"'), page.indexOf('accounts-heading'));
    for (const words of ['225.00 CNY', '2 accounts', '1 not read just now', '1.50 EUR', '/accounts/otp'])
      expect(totals).toContain(words);
  });

  it('warns of a token that could be guessed', async () => {
    const { url } = await serveWorld(await startWorld(), { settings: { token: new Secret('short') } });
    const signedIn = await fetch(`${url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ token: 'short' }),
      redirect: 'manual',
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await (await fetch(url, { headers: { cookie } })).text();
    expect(page).toContain('server.token is shorter than 16 characters');
  });
});

it.each([
  ['that is polled', true],
  ['whose readings are pushed', false],
])('the page of an account %s offers to poll now: %s', async (_, polled) => {
  const world = await polledWorld({
    providers: { own: makeProvider({ name: 'own', polled }) },
    accounts: [makeAccount('otp', { provider: 'own' })],
  });
  const { url } = await serveWorld(world);
  const page = await (await fetch(`${url}/accounts/otp`)).text();
  expect(page.includes('Poll now')).toBe(polled);
});

it('no amount on the page of an account looks like the threshold that it is below', async () => {
  const balances = [{ id: 'sms', label: 'SMS', alertsBelowZero: true, unit: 'credits' }];
  const world = await polledWorld({ accounts: [makeAccount('otp', { balances })] });
  await read(world, 49.6);
  const { url } = await serveWorld(world);
  const page = await (await fetch(`${url}/accounts/otp`)).text();
  expect(page).toMatch(/>49 credits<\/td>\s*<td [^>]*>50 credits<\/td>\s*<td [^>]*>0\.4 credits below/);
  expect(page).toMatch(/data-label="Ended by">.*\n<td class="number" data-label="Value">49 credits</);
});
