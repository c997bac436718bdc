import { describe, expect, it } from 'vitest';
import { StorageError } from '../../../src/domain/operator-error.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { signLink } from '../../../src/http/ack-link.ts';
import { hourMs, minuteMs, negativeRule, smsLow, units } from '../../support/account-facts.ts';
import { makeAccount } from '../../support/settings.ts';
import { serveWorld } from '../../support/web-server.ts';
import { read, startWorld, step, type World } from '../../support/world.ts';

const rules = [smsLow({ warning: units(200), critical: units(50) })];
const topUpUrl = 'https://pay.example/otp';
const makeLow = async () => {
  const accounts = [makeAccount('otp', { topUpUrl, leadTimeMs: hourMs })];
  const world = await startWorld({ accounts, rules });
  await read(world, 20);
  return world;
};

async function linkOf(world: World, rule = 'sms-low'): Promise<string> {
  const incident = (await world.views.alert('otp', rule))?.incident ?? '';
  const [key] = world.views.linkKeys();
  if (key === undefined) throw new Error('there is no key');
  return signLink(key, { incident, expiresAt: world.now + hourMs });
}

const post = (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers });

describe('the page behind a link', () => {
  it('offers to pay, to say so, to acknowledge and to be quiet, and keeps the name for the next time', async () => {
    const world = await makeLow();
    const { url } = await serveWorld(world);
    const link = await linkOf(world);
    const page = await (await fetch(`${url}/a/${link}`)).text();
    for (const words of [
      'Pay 180.00 CNY now',
      topUpUrl,
      'I ordered it',
      'Acknowledge',
      '2 hours quiet',
      'chart-svg',
    ])
      expect(page).toContain(words);
    expect(Buffer.byteLength(page)).toBeLessThan(25_000);
    const answer = await post(`${url}/ack`, {
      link,
      do: 'ordered',
      account: 'otp',
      balance: 'sms',
      amount: '500',
      'seen-worst': 'critical',
      by: 'Wei',
    });
    expect(await answer.text()).toContain('Ordered');
    expect(world.views.expected()).toMatchObject([
      { account: 'otp', orderedBy: 'Wei', amountMicros: units(500) },
    ]);
    const cookie = answer.headers.getSetCookie().join().split(';')[0] ?? '';
    const again = await (await fetch(`${url}/a/${link}`, { headers: { cookie } })).text();
    expect(again).toContain('<bdi>Wei</bdi> has it');
    expect(again).toContain('<bdi>Wei</bdi> ordered 500.00 CNY');
    expect(cookie).toContain('lowwater_name=Wei');
  });

  it('makes one silence of two people who ask for quiet, and tells the second who has asked before', async () => {
    const world = await makeLow();
    const { url } = await serveWorld(world);
    const link = await linkOf(world);
    const quiet = async (by: string) => (await post(`${url}/ack`, { link, do: 'quiet', by })).text();
    expect(await quiet('Wei')).toContain('<h1>Quiet until Fri 14:06</h1>');
    await world.pass(minuteMs);
    expect(await quiet('Ana')).toContain('<h1>Wei has asked for this already: quiet until Fri 14:06</h1>');
    expect(world.views.silences()).toMatchObject([{ by: 'Wei' }]);
    await world.pass(hourMs / 2);
    expect(await quiet('Ana')).toContain('<h1>Quiet until');
    expect(world.views.silences()).toHaveLength(2);
  });

  it('says in the language of its reader that the database cannot be read', async () => {
    const world = await makeLow();
    const polls = () => {
      throw new StorageError('corrupt', 'malformed page 7');
    };
    Object.assign(world.store, { polls });
    const { url } = await serveWorld(world);
    const headers = { 'accept-language': 'es' };
    const page = await (await fetch(`${url}/a/${await linkOf(world)}`, { headers })).text();
    expect(page).toContain('Ahora mismo no se puede leer la base de datos.');
  });

  it('says in the language of its reader that the alert is acknowledged', async () => {
    const world = await makeLow();
    const { url } = await serveWorld(world);
    const link = await linkOf(world);
    const answer = await post(`${url}/ack`, { link, by: 'Wei' }, { 'accept-language': 'zh-CN' });
    const page = await answer.text();
    expect(page).toContain('<h1>已认领</h1>');
    expect(page).not.toMatch(/acknowledged|escalation/i);
  });

  it('shows a refused order again, with the reason and what was typed, and takes it once it is right', async () => {
    const world = await makeLow();
    const { url } = await serveWorld(world);
    const link = await linkOf(world);
    const typed = {
      link,
      do: 'ordered',
      account: 'otp',
      balance: 'sms',
      amount: 'five hundred',
      comment: 'PO-4711',
      'seen-worst': 'critical',
      by: 'Wei',
    };
    const refused = await post(`${url}/ack`, typed);
    expect(refused.status).toBe(400);
    const page = await refused.text();
    for (const words of ['The amount must be a number', 'five hundred', 'PO-4711', 'action="/ack"', link])
      expect(page).toContain(words);
    expect(page).not.toContain('<nav');
    expect(world.views.expected()).toEqual([]);
    const fields = [...page.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value] as const,
    );
    await post(`${url}/ack`, { ...Object.fromEntries(fields), amount: '500' });
    expect(world.views.expected()).toMatchObject([{ orderedBy: 'Wei', amountMicros: units(500) }]);
  });

  it('mutes with the alert what it speaks for: nobody reads the same again at once', async () => {
    const world = await startWorld({ rules: [...rules, negativeRule({ id: 'sms-negative' })] });
    expect(await read(world, -5)).toEqual(['otp/sms-negative firing critical']);
    const { url } = await serveWorld(world);
    const link = await linkOf(world, 'sms-negative');
    for (const by of ['Wei', 'Ana']) await post(`${url}/ack`, { link, do: 'quiet', by });
    await world.pass(hourMs);
    expect(world.news()).toEqual([]);
    expect(world.views.silences()).toMatchObject([
      { match: { account: ['otp'], rule: ['sms-negative', 'sms-low'] }, by: 'Wei' },
    ]);
  });

  it('mutes no worse alert, which the message of this one did not speak for', async () => {
    const world = await startWorld({ rules: [...rules, negativeRule({ id: 'sms-negative' })] });
    await read(world, -5);
    const { url } = await serveWorld(world);
    await post(`${url}/ack`, { link: await linkOf(world), do: 'quiet', by: 'Wei' });
    expect(world.views.silences()).toMatchObject([{ match: { account: ['otp'], rule: ['sms-low'] } }]);
  });

  it('mutes this alert alone for two hours', async () => {
    const world = await makeLow();
    const { url } = await serveWorld(world);
    await post(`${url}/ack`, { link: await linkOf(world), do: 'quiet', by: 'Wei' });
    const [silence] = world.views.silences();
    expect(silence).toMatchObject({ match: { account: ['otp'], rule: ['sms-low'] }, by: 'Wei' });
    expect((silence?.endsAt ?? 0) - world.now).toBe(2 * hourMs);
  });
});

describe('the overview', () => {
  it('is one card for the accounts of one refused key, and acknowledges them at once', async () => {
    const accounts = ['otp', 'news', 'batch'];
    const world = await startWorld({ accounts, rules: [] });
    for (const id of accounts) world.provider.fail(id, 'auth_failed');
    await world.pass(4 * step);
    const firing = [...world.views.firing()].filter(({ type }) => type === 'auth-failed');
    const causes = new Set(firing.map(({ cause }) => cause));
    const { url } = await serveWorld(world);
    const page = await (await fetch(url)).text();
    const cards = page.match(/data-live="alert /g)?.length ?? 0;
    expect(firing.length).toBe(3);
    expect(cards).toBe(causes.size);
  });

  it('groups what needs somebody by when to act', async () => {
    const { url } = await serveWorld(await makeLow());
    const page = await (await fetch(url)).text();
    expect(page).toMatch(/<h3>Now<\/h3>/);
    expect(page).toMatch(/>Top up<.*>Ordered<.*>Acknowledge</s);
  });
});

describe('a reader', () => {
  it('is spoken to in the language that was chosen, else asked for, else configured', async () => {
    const { url } = await serveWorld(await makeLow());
    const lang = async (headers: Record<string, string>) =>
      /<html lang="([^"]+)"/.exec(await (await fetch(`${url}/pay`, { headers })).text())?.[1];
    expect(await lang({})).toBe('en');
    expect(await lang({ 'accept-language': 'fr, es-MX;q=0.8' })).toBe('es');
    expect(await lang({ 'accept-language': 'zh' })).toBe('zh-CN');
    expect(await lang({ 'accept-language': 'zh-TW' })).toBe('en');
    expect(await lang({ 'accept-language': 'es', cookie: 'lowwater_language=zh-CN' })).toBe('zh-CN');
    const kept = await post(`${url}/language`, { language: 'es', back: '/pay' });
    expect(kept.headers.getSetCookie().join()).toContain('lowwater_language=es');
  });

  it('reads an account, its chart and what stands around every page in it', async () => {
    const { url } = await serveWorld(await makeLow());
    const id = /href="(\/accounts\/[^"]+)"/.exec(await (await fetch(url)).text())?.[1] ?? '';
    const page = await (await fetch(url + id, { headers: { 'accept-language': 'zh-CN' } })).text();
    for (const words of ['立即查询', '短信余额，7 天', '下载 CSV', '>总览<', '截至 <span'])
      expect(page).toContain(words);
  });

  it('who may only look sees no form that it may not send, and sets its own time zone', async () => {
    const settings = { token: new Secret('t'.repeat(32)), viewerToken: new Secret('v'.repeat(32)) };
    const { url } = await serveWorld(await makeLow(), { settings });
    const signIn = async (token: string) =>
      (await post(`${url}/sign-in`, { token })).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const cookie = await signIn('v'.repeat(32));
    for (const path of ['/', '/alerts', '/pay', '/accounts/otp', '/silences', '/sessions']) {
      const page = await (await fetch(url + path, { headers: { cookie } })).text();
      const forms = [...page.matchAll(/<form[^>]*method="post"[^>]*action="([^"]+)"/g)].map(([, to]) => to);
      expect(new Set(forms)).toEqual(new Set(['/sign-out', '/time-zone', '/language']));
    }
    const zone = await post(`${url}/time-zone`, { zone: 'Asia/Tokyo' }, { cookie, origin: url });
    expect(zone.status).toBe(303);
    const own = await (await fetch(url, { headers: { cookie: await signIn('t'.repeat(32)) } })).text();
    expect(own).toContain('action="/pay/ordered"');
  });
});

it('sessions are shown fifty at a time, each with a button that says whose it is', async () => {
  const world = await makeLow();
  const session = {
    role: 'viewer',
    endsAt: world.now + hourMs,
    usedAt: world.now,
    from: '192.0.2.7',
    agent: '',
  } as const;
  world.views.sessions = () => Array.from({ length: 120 }, (_, index) => ({ ...session, id: `s${index}` }));
  const { url } = await serveWorld(world);
  const page = async (path: string) => (await fetch(url + path)).text();
  const ends = (text: string) => text.match(/\/sessions\/s\d+\/end/g) ?? [];
  const first = await page('/sessions');
  const next = /href="(\/sessions\?cursor=[^"]+)">Next page/.exec(first)?.[1] ?? '';
  expect(ends(first)).toHaveLength(50);
  expect(ends(await page(next))[0]).toBe('/sessions/s50/end');
  expect(first).toMatch(
    /<span class="hidden"> unnamed, 192\.0\.2\.7, \w{3} 20 Nov \d\d:\d\d UTC<\/span><\/button>/,
  );
});
