import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { OperatorError, StorageError } from '../../src/domain/operator-error.ts';
import { Secret } from '../../src/domain/secret.ts';
import { signLink } from '../../src/http/ack-link.ts';
import { hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { viewsNow } from '../support/built-views.ts';
import { signAcknowledgement } from '../support/old-links.ts';
import { makeAccount } from '../support/settings.ts';
import { ackKey, hurry, type RunningServer, runServer, serveWorld } from '../support/web-server.ts';
import { read, startWorld, step, type World } from '../support/world.ts';

const token = 'a-token-that-is-long-enough';
const withToken = { settings: { token: new Secret(token) } };
const page = { accept: 'text/html' };
let server: RunningServer;

afterEach(() => server.close());

describe('the token', () => {
  it.each(['/', '/accounts/otp', '/silences', '/messages', '/api/v1/accounts', '/events', '/nothing-here'])(
    '%s asks for it',
    async (path) => {
      server = await runServer({ ...withToken, world: await alerted() });
      const response = await fetch(server.url + path);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('Bearer');
      expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
    },
  );

  it.each(['/livez', '/healthz', '/readyz', '/metrics'])('%s needs none', async (path) => {
    server = await runServer(withToken);
    expect((await fetch(server.url + path)).status).toBe(200);
  });

  it('opens the API as a bearer, and a wrong one does not', async () => {
    server = await runServer(withToken);
    const ask = (given: string) =>
      fetch(`${server.url}/api/v1/accounts`, { headers: { authorization: `Bearer ${given}` } });
    expect((await ask(token)).status).toBe(200);
    for (const wrong of [`${token}x`, token.slice(1), '', 'ä']) {
      expect((await ask(encodeURIComponent(wrong))).status).toBe(401);
    }
  });

  it('may hold any character, sent as UTF-8', async () => {
    server = await runServer({ settings: { token: new Secret('tököken ☃') } });
    const authorization = Buffer.from('Bearer tököken ☃', 'utf8').toString('latin1');
    expect((await fetch(`${server.url}/api/v1/accounts`, { headers: { authorization } })).status).toBe(200);
  });

  it('over TLS gives a cookie that no other host can set, and of several cookies the valid one counts', async () => {
    server = await runServer({ settings: { token: new Secret(token) } });
    const signedIn = await fetch(`${server.url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'x-forwarded-proto': 'https' },
      body: new URLSearchParams({ token }),
    });
    const [cookie = ''] = signedIn.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-lowwater_session=.*; Path=\/; .*Secure/);
    expect(cookie).not.toContain('Domain');
    const [pair = ''] = cookie.split(';');
    const value = pair.slice(pair.indexOf('=') + 1);
    const forged = 'lowwater_session=9.x.9.forged';
    for (const given of [
      pair,
      `${forged}; ${pair}`,
      `${pair}; ${forged}`,
      `${forged}; lowwater_session=${value}`,
    ])
      expect((await fetch(server.url, { headers: { cookie: given } })).status, given).toBe(200);
    expect((await fetch(server.url, { headers: { cookie: forged } })).status).toBe(401);
  });

  it('sends people to the sign-in and back, with a cookie that no script reads and no other site sends', async () => {
    server = await runServer({ ...withToken, world: await alerted() });
    const refused = await fetch(`${server.url}/accounts/otp?range=7d`, { headers: page, redirect: 'manual' });
    expect(refused.status).toBe(303);
    expect(refused.headers.get('location')).toBe('/sign-in?next=%2Faccounts%2Fotp%3Frange%3D7d');
    const signedIn = await signIn(token, '/accounts/otp?range=7d');
    expect(signedIn.status).toBe(303);
    expect(signedIn.headers.get('location')).toBe('/accounts/otp?range=7d');
    const cookie = signedIn.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect(cookie).not.toContain(token);
    expect((await withCookie('/', cookie)).status).toBe(200);
    expect((await withCookie('/', cookie.replace(/=(\d)/, '=9'))).status).toBe(401);
    server.clock.aheadMs += 13 * hourMs;
    expect((await withCookie('/', cookie)).status).toBe(401);
  });

  it('tells whoever gave the token in a browser that keeps no cookie why they stand at the sign-in again', async () => {
    server = await runServer(withToken);
    const location = (await signIn(token, '/pay')).headers.get('location') ?? '';
    // As browsers do: all that a sign-in leads to has its page as referrer.
    const headers = { ...page, referer: `${server.url}/sign-in?next=%2Fpay` };
    const again = await fetch(server.url + location, { headers });
    expect(again.status).toBe(200);
    const text = await again.text();
    expect(text).toContain('this browser did not keep the session. Allow cookies for this address');
    expect(text).toContain('name="next" value="/pay"');
  });

  it('tells who sent a form without a session that it did nothing, and sends them back to its page', async () => {
    server = await runServer({ ...withToken, world: await alerted() });
    const headers = { ...page, origin: server.url, referer: `${server.url}/accounts/otp?range=7d` };
    const action = `${server.url}/alerts/otp/sms-low/acknowledge`;
    const body = new URLSearchParams({ by: 'ada' });
    const refused = await fetch(action, { method: 'POST', headers, body, redirect: 'manual' });
    const location = refused.headers.get('location') ?? '';
    expect(location).toBe('/sign-in?next=%2Faccounts%2Fotp%3Frange%3D7d&undone=yes');
    const asked = await (await fetch(server.url + location)).text();
    expect(asked).toContain('Nothing was done, because nobody was signed in.');
    expect(asked).toContain('name="next" value="/accounts/otp?range=7d"');
    const cookie = (await signIn(token, '/')).headers.get('set-cookie') ?? '';
    for (const shownAgain of ['/pay/ordered', '/pay/announced'])
      expect((await withCookie(shownAgain, cookie)).headers.get('location')).toBe('/pay');
  });

  it.each([
    ['12 hours', {}, 12],
    ['30 days where that is wanted', { keep: 'yes' }, 30 * 24],
  ])('signs in for %s from the last use on', async (_what, wanted, hours) => {
    server = await runServer(withToken);
    const first = await fetch(`${server.url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ token, ...wanted }),
      redirect: 'manual',
    });
    const cookie = first.headers.get('set-cookie') ?? '';
    expect(cookie).toContain(`Max-Age=${hours * 3600};`);
    expect((await withCookie('/', cookie)).headers.get('set-cookie')).toBeNull();
    server.clock.aheadMs += 0.9 * hours * hourMs;
    const longer = (await withCookie('/', cookie)).headers.get('set-cookie') ?? '';
    expect(longer).toContain(`Max-Age=${hours * 3600};`);
    server.clock.aheadMs += 0.5 * hours * hourMs;
    expect((await withCookie('/', cookie)).status).toBe(401);
    expect((await withCookie('/', longer)).status).toBe(200);
  });

  it('lists who is signed in and until when, which of them asks, and ends one of them for good', async () => {
    server = await runServer(withToken);
    const cookie = (await signIn(token)).headers.get('set-cookie') ?? '';
    const other = (await signIn(token)).headers.get('set-cookie') ?? '';
    const list = await (await withCookie('/sessions', cookie)).text();
    const [id = '', ...more] = [...list.matchAll(/\/sessions\/([^/]+)\/end/g)].map((found) => found[1] ?? '');
    expect(more).toHaveLength(1);
    expect(list).toMatch(/data-label="Ends"><span><time datetime="2026-11-21T06:41/);
    expect(list).not.toContain(cookie.split(/[=;]/)[1]);
    const own = list.split('</tr>').filter((row) => row.includes('this browser'));
    expect(own).toHaveLength(1);
    expect(own[0]).toContain(`/sessions/${cookie.split('.')[1]}/end`);
    const end = (which: string) =>
      fetch(`${server.url}/sessions/${which}/end`, {
        method: 'POST',
        body: new URLSearchParams({ back: '/sessions' }),
        headers: { authorization: `Bearer ${token}` },
        redirect: 'manual',
      });
    expect((await end(id)).headers.get('location')).toBe('/sessions?done=ended');
    expect((await end('nothing')).status).toBe(404);
    const states = [await withCookie('/', cookie), await withCookie('/', other)].map(({ status }) => status);
    expect(states.toSorted()).toEqual([200, 401]);
    const ended = await withCookie('/sign-in', states[0] === 401 ? cookie : other);
    expect(await ended.text()).toContain('Your session was ended.');
    expect(await (await fetch(`${server.url}/sign-in`)).text()).not.toContain('was ended');
  });

  it('lets people in while the database cannot be written', async () => {
    const world = await startWorld();
    world.diskFull = true;
    const { url } = await serveWorld(world, withToken);
    const body = new URLSearchParams({ token });
    const answer = await fetch(`${url}/sign-in`, { method: 'POST', body, redirect: 'manual' });
    const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    expect((await fetch(`${url}/sessions`, { headers: { cookie } })).status).toBe(200);
  });

  it('that was replaced ends sessions, and the sign-in says so', async () => {
    server = await runServer(withToken);
    const cookie = ((await signIn(token)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    await server.close();
    server = await runServer({ settings: { token: new Secret('a new token of the operators') } });
    expect((await withCookie('/', cookie)).status).toBe(401);
    const words = 'The token was replaced since you signed in';
    expect(await (await withCookie('/sign-in', cookie)).text()).toContain(words);
    expect(await (await fetch(`${server.url}/sign-in`)).text()).not.toContain(words);
    server.clock.aheadMs += 13 * hourMs;
    expect(await (await withCookie('/sign-in', cookie)).text()).not.toContain(words);
  });

  it('is marked secure behind TLS', async () => {
    server = await runServer({
      settings: { token: new Secret(token), publicUrl: 'https://lowwater.example.com' },
    });
    const response = await fetch(`${server.url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      headers: { 'x-forwarded-proto': 'https' },
      redirect: 'manual',
    });
    expect(response.headers.get('set-cookie')).toContain('; Secure');
  });

  it('may be guessed ten times a minute from one address, then slowly; the right one always passes', async () => {
    server = await runServer(withToken);
    const ask = (given: string) =>
      fetch(`${server.url}/api/v1/accounts`, { headers: { authorization: `Bearer ${given}` } });
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await signIn('wrong')).status).toBe(401);
    const since = performance.now();
    const [refused, refusedBearer] = await Promise.all([signIn('wrong'), ask('wrong')]);
    expect(performance.now() - since).toBeGreaterThan(900 / hurry);
    expect([refused.status, refusedBearer.status]).toEqual([429, 429]);
    expect(refusedBearer.headers.get('retry-after')).toBe('60');
    expect((await ask(token)).status).toBe(200);
    expect((await signIn(token)).status).toBe(303);
    server.clock.passedMs += 60_000;
    expect((await signIn('wrong')).status).toBe(401);
  });

  it('is asked for again after signing out, whoever kept the cookie', async () => {
    server = await runServer(withToken);
    const cookie = (await signIn(token)).headers.get('set-cookie') ?? '';
    const other = (await signIn(token)).headers.get('set-cookie') ?? '';
    expect((await withCookie('/', cookie)).status).toBe(200);
    await fetch(`${server.url}/sign-out`, {
      method: 'POST',
      headers: { cookie: cookie.split(';')[0] ?? '' },
      redirect: 'manual',
    });
    expect((await withCookie('/', cookie)).status).toBe(401);
    expect((await withCookie('/', other)).status).toBe(200);
  });

  it('never leads to another site after the sign-in', async () => {
    server = await runServer(withToken);
    for (const next of [
      'https://evil.example/',
      '//evil.example/',
      '/\\evil.example',
      '/..//evil.example',
      '/./\\evil.example',
      '/a/..//evil.example',
      '/%2e%2e//evil.example',
      '/\t/evil.example',
      'javascript:alert(1)',
      '',
    ]) {
      expect((await signIn(token, next)).headers.get('location')).toBe('/');
    }
  });

  it('an address does not say that something was done: only the form that did it does, once', async () => {
    server = await runServer({ world: await alerted() });
    expect(await (await fetch(`${server.url}/?done=acknowledged`)).text()).not.toContain('class="done"');
    const answer = await fetch(`${server.url}/alerts/otp/sms-low/acknowledge`, {
      method: 'POST',
      body: new URLSearchParams({ by: 'Wei' }),
      redirect: 'manual',
    });
    const address = server.url + (answer.headers.get('location') ?? '');
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await fetch(address, { headers: { cookie } });
    expect(await page.text()).toContain('Acknowledged. Reminders and escalation stop');
    expect(page.headers.get('set-cookie')).toContain('lowwater_done=; Max-Age=0');
  });

  it.each(['constructor', '__proto__', 'toString'])(
    'a page whose address says that "%s" was done says nothing',
    async (done) => {
      server = await runServer();
      const response = await fetch(`${server.url}/?done=${done}`);
      expect(response.status).toBe(200);
      expect(await response.text()).not.toContain('class="done"');
    },
  );

  it('a link from another site is loaded once more from ourselves, so that the cookie comes along', async () => {
    server = await runServer(withToken);
    const headers = { ...page, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    const response = await send('/accounts/otp', { headers });
    expect(response.status).toBe(200);
    expect(response.body).toContain('http-equiv="refresh"');
    expect((await send('//evil.example/x', { headers })).body).toContain('<a href="/">Continue</a>');
  });

  it('stands in no page, log or error', async () => {
    server = await runServer({ ...withToken, world: await alerted() });
    await signIn(`${token}-mistyped`);
    const cookie = (await signIn(token)).headers.get('set-cookie') ?? '';
    const texts = await Promise.all(
      ['/', '/accounts/otp', '/sign-in', '/metrics', '/readyz?verbose', '/api/v1/openapi.json'].map(
        async (path) => (await withCookie(path, cookie)).text(),
      ),
    );
    expect(texts.join('') + JSON.stringify(server.logged)).not.toContain(token);
  });
});

describe('many wrong tokens', () => {
  const ask = (given: string, path = '/api/v1/accounts') =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${given}` } });

  it('are held back 32 at a time; the rest is refused at once, and who has the right one is answered', async () => {
    server = await runServer({ ...withToken, limits: { maxConnections: 80 } });
    // On a busy machine the last would come after the first were answered.
    server.clock.hurry = 0.5;
    for (let attempt = 0; attempt < 10; attempt += 1) await ask('wrong');
    const wrong = Array.from({ length: 60 }, async () => {
      const { status, headers } = await ask('wrong');
      return { status, isClosed: headers.get('connection') === 'close' };
    });
    expect((await ask(token)).status).toBe(200);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
    const answers = await Promise.all(wrong);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    expect(answers.filter(({ isClosed }) => isClosed).length).toBeGreaterThan(0);
    expect(answers.filter(({ isClosed }) => isClosed).length).toBeLessThanOrEqual(60 - 32);
    expect(await (await ask(token, '/metrics')).text()).toContain('lowwater_refused_tokens_total 70');
  });

  it('are one line in the log, with their number and where they came from', async () => {
    server = await runServer(withToken);
    for (let attempt = 0; attempt < 3; attempt += 1) await ask('wrong');
    expect(server.logged).toEqual([]);
    await server.close();
    expect(server.logged).toEqual([
      { fields: { count: 3, address: '127.0.0.1' }, message: 'wrong tokens were refused' },
    ]);
  });
});

describe('metrics on loopback', () => {
  it.each([
    ['a proxy that says nothing, as nginx does unless told to', 'https://lowwater.example.com', 401],
    ['this machine, whose own name is the public one', 'http://localhost:9090', 200],
    ['this machine, where no name is public', null, 200],
  ])('asked for by %s', async (_who, publicUrl, status) => {
    server = await runServer({ settings: { token: new Secret(token), publicUrl } });
    expect((await send('/metrics', { headers: { host: '127.0.0.1:8080' } })).status).toBe(status);
  });

  it.each([
    ['a loopback name', { host: 'localhost:9090' }, 401],
    ['the public name', { host: 'lowwater.example.com' }, 401],
    [
      'a proxy that keeps the name of its upstream',
      { host: '127.0.0.1', 'x-forwarded-for': '10.0.0.7' },
      401,
    ],
    ['a proxy that says so by the standard', { host: '127.0.0.1', forwarded: 'for=10.0.0.7' }, 401],
    ['a proxy that says no more than its name', { host: '127.0.0.1', via: '1.1 proxy' }, 401],
  ])('asked for by %s', async (_who, headers, status) => {
    server = await runServer({
      settings: { token: new Secret(token), publicUrl: 'https://lowwater.example.com' },
    });
    expect((await send('/metrics', { headers })).status).toBe(status);
    const authorization = `Bearer ${token}`;
    expect((await send('/metrics', { headers: { ...headers, authorization } })).status).toBe(200);
  });
});

describe('metrics on loopback, asked for by a proxy on this machine that keeps the name of its upstream', () => {
  it.each([
    ...['X-Forwarded-For', 'X-Forwarded-Port', 'X-Original-Forwarded-For', 'Forwarded', 'Via', 'X-Real-IP'],
    ...['CF-Connecting-IP', 'True-Client-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'X-Azure-ClientIP'],
    ...['Fastly-Client-IP', 'X-Envoy-External-Address', 'X-Original-Host'],
  ])('and says so by %s', async (name) => {
    server = await runServer({ settings: { token: new Secret(token) } });
    const host = '127.0.0.1:8080';
    expect((await send('/metrics', { headers: { host, [name]: '198.51.100.7' } })).status).toBe(401);
    const scraper = { 'user-agent': 'Prometheus/3', 'x-prometheus-scrape-timeout-seconds': '10' };
    expect((await send('/metrics', { headers: { host, ...scraper } })).status).toBe(200);
  });
});

describe('metrics beyond loopback', () => {
  const beyond = { host: '0.0.0.0', token: new Secret(token) };
  const scrape = (authorization?: string) =>
    fetch(`${server.url.replace('0.0.0.0', '127.0.0.1')}/metrics`, {
      headers: authorization === undefined ? {} : { authorization },
    });

  it('ask for the token, and the log says once what to do about a refused scrape', async () => {
    server = await runServer({ settings: beyond });
    expect((await scrape()).status).toBe(401);
    expect((await scrape('Bearer wrong')).status).toBe(401);
    expect((await scrape(`Bearer ${token}`)).status).toBe(200);
    expect(server.logged.map(({ message }) => message)).toEqual([expect.stringContaining('openMetrics')]);
  });

  it('are open where the configuration says so', async () => {
    server = await runServer({ settings: { ...beyond, openMetrics: true } });
    const text = await (await scrape()).text();
    expect(text).toContain('lowwater_build_info');
    expect(text).toContain('process_resident_memory_bytes');
    expect(server.logged).toEqual([]);
  });
});

describe('without a token', () => {
  it('an address that others reach is refused, unless the configuration says so', async () => {
    server = await runServer();
    await expect(runServer({ settings: { host: '0.0.0.0' } })).rejects.toThrow(OperatorError);
    const open = await runServer({ settings: { host: '0.0.0.0', allowUnauthenticated: true } });
    await open.close();
  });

  it('a port in use is named in a sentence', async () => {
    server = await runServer();
    await expect(runServer({ settings: { port: Number(new URL(server.url).port) } })).rejects.toThrow(
      /already in use/,
    );
  });
});

describe('the name of the host', () => {
  it.each([
    ['127.0.0.1', 200],
    ['localhost', 200],
    ['localhost:9999', 200],
    ['[::1]:8080', 200],
    ['lowwater.example.com', 200],
    ['evil.example', 403],
    ['lowwater.example.com.evil.example', 403],
    ['10.0.0.7', 403],
    ['bad host', 403],
  ])('bound to loopback, %s gets %i', async (host, status) => {
    server = await runServer({ settings: { publicUrl: 'https://lowwater.example.com' } });
    expect((await send('/api/v1/accounts', { headers: { host } })).status).toBe(status);
  });

  it.each([
    ['10.0.0.7:8080', 200],
    ['lowwater', 200],
    ['evil.example', 403],
  ])('bound to every address, %s gets %i', async (host, status) => {
    server = await runServer({ settings: { host: '0.0.0.0', allowUnauthenticated: true } });
    expect((await send('/api/v1/accounts', { headers: { host } })).status).toBe(status);
  });

  it('does not matter to probes', async () => {
    server = await runServer();
    expect((await send('/livez', { headers: { host: 'pod.cluster.local' } })).status).toBe(200);
  });
});

describe('changes', () => {
  const path = '/api/v1/alerts/otp/sms-low/ack';

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of the same machine', { 'sec-fetch-site': 'same-site' }],
    ['another origin, without fetch metadata', { origin: 'https://evil.example' }],
    ['an origin with a path', { origin: 'https://lowwater.example.com/x' }],
    ['a sandboxed frame', { origin: 'null' }],
  ])('from %s are refused', async (_who, headers) => {
    server = await runServer({
      world: await alerted(),
      settings: { publicUrl: 'https://lowwater.example.com' },
    });
    const response = await send(path, { method: 'POST', headers });
    expect(response.status).toBe(403);
    expect(orders()).toEqual([]);
  });

  it.each([
    ['our own page', (url: string) => ({ origin: url, 'sec-fetch-site': 'same-origin' })],
    [
      'our own page behind a proxy',
      () => ({ origin: 'https://lowwater.example.com', 'sec-fetch-site': 'same-origin' }),
    ],
    ['programs', () => ({})],
  ])('from %s are taken', async (_who, headersOf) => {
    server = await runServer({
      world: await alerted(),
      settings: { publicUrl: 'https://lowwater.example.com' },
    });
    expect((await send(path, { method: 'POST', headers: headersOf(server.url) })).status).toBe(200);
    expect(orders()).toHaveLength(1);
  });

  it('in a body that says it is compressed are refused', async () => {
    server = await runServer({ world: await alerted() });
    const response = await send(path, { method: 'POST', headers: { 'content-encoding': 'gzip' } });
    expect(response.status).toBe(415);
    expect(response.body).toContain('The body must not be compressed.');
  });

  it('with a cookie but without a word where they come from are refused', async () => {
    server = await runServer({ ...withToken, world: await alerted() });
    const cookie = (await signIn(token)).headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await send(path, { method: 'POST', headers: { cookie } })).status).toBe(403);
    const own = { cookie, origin: server.url };
    expect((await send(path, { method: 'POST', headers: own })).status).toBe(200);
  });
});

describe('every answer', () => {
  it.each(['/', '/metrics', '/api/v1/accounts', '/nothing', '/sign-in'])(
    '%s forbids scripts of others, sniffing and keeping',
    async (path) => {
      server = await runServer();
      const { headers } = await fetch(server.url + path);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
    },
  );
});

describe('a link in a message', () => {
  const grantOf = async (world: World) => {
    const incident = (await world.views.alert('otp', 'sms-low'))?.incident ?? '';
    return { account: 'otp', rule: 'sms-low', incident, expiresAt: viewsNow + hourMs };
  };
  type Grant = Awaited<ReturnType<typeof grantOf>>;
  const link = async (over: Partial<Grant> = {}) =>
    `/ack?${signAcknowledgement(ackKey, { ...(await grantOf(server.world)), ...over })}`;

  it('shows a question without signing in, and only its answer acknowledges', async () => {
    server = await runServer({ ...withToken, world: await alerted() });
    const question = await fetch(server.url + (await link()));
    expect(question.status).toBe(200);
    expect(await question.text()).toContain('Nobody has it yet.');
    expect(orders()).toEqual([]);
    const form = new URLSearchParams((await link()).slice('/ack?'.length));
    form.set('by', 'Wei');
    const answer = await fetch(`${server.url}/ack`, { method: 'POST', body: form });
    expect(await answer.text()).toContain('Acknowledged');
    expect(orders()).toMatchObject([
      {
        action: 'acknowledge',
        account: 'otp',
        rule: 'sms-low',
        by: 'Wei',
        detail: expect.not.stringContaining('signature'),
      },
    ]);
    expect((await server.world.views.alert('otp', 'sms-low'))?.acknowledged).toEqual({
      at: viewsNow,
      by: 'Wei',
      comment: '',
      severity: 'critical',
      rises: 0,
    });
    expect(await (await fetch(server.url + (await link()))).text()).toContain('<bdi>Wei</bdi> has it');
  });

  it('shows the note of the account and where to pay and read, the same after it was acknowledged', async () => {
    const world = await alerted({
      note: 'Ask Wei, not the bank <b>',
      topUpUrl: 'https://pay.example/otp?a=1&b=2',
      runbookUrl: 'https://run.example/otp',
    });
    server = await runServer({ ...withToken, world });
    const question = await (await fetch(server.url + (await link()))).text();
    const form = new URLSearchParams((await link()).slice('/ack?'.length));
    const answer = await (await fetch(`${server.url}/ack`, { method: 'POST', body: form })).text();
    for (const page of [question, answer]) {
      expect(page).toContain('Ask Wei, not the bank &lt;b&gt;');
      for (const words of [
        /href="https:\/\/pay\.example\/otp\?a=1&amp;b=2">Top up</,
        />Runbook</,
        />Open account</,
      ])
        expect(page).toMatch(words);
    }
  });

  it.each([
    ['expired', { expiresAt: viewsNow }, 403, 'expired'],
    ['of an incident that has ended', { incident: 'incident-0' }, 200, 'Already over'],
    ['of a rule that is gone', { rule: 'gone' }, 200, 'Already over'],
  ])('that is %s does nothing and says so', async (_what, over, status, words) => {
    server = await runServer({ world: await alerted() });
    const response = await fetch(server.url + (await link(over)));
    expect(response.status).toBe(status);
    expect(await response.text()).toContain(words);
  });

  it('is good with any key of the database, and outlives another token', async () => {
    const world = await alerted();
    await world.restart({ downMs: 91 * 24 * hourMs });
    await world.pass(1_000);
    server = await runServer({ world, settings: { token: new Secret('another-token-by-now') } });
    const keys = world.views.linkKeys();
    expect(keys).toHaveLength(2);
    const grant = { ...(await grantOf(world)), expiresAt: world.now + hourMs };
    for (const key of keys) {
      const signed = `/ack?${signAcknowledgement(key, grant)}`;
      expect((await fetch(server.url + signed)).status).toBe(200);
    }
    const stranger = await fetch(`${server.url}/ack?${signAcknowledgement(Buffer.alloc(32, 0xee), grant)}`);
    expect(stranger.status).toBe(403);
    expect(await stranger.text()).toContain('signed with a key that this lowwater no longer has');
  });

  it('is short, asks the same, and says what has ended or expired', async () => {
    const world = await alerted();
    server = await runServer({ ...withToken, world });
    const [key] = world.views.linkKeys();
    if (key === undefined) throw new Error('there is no key');
    const { incident, expiresAt } = await grantOf(world);
    const open = async (grant: { readonly incident: string; readonly expiresAt: number }) =>
      fetch(`${server.url}/a/${signLink(key, grant)}`);
    const page = await (await open({ incident, expiresAt })).text();
    expect(page).toContain('Nobody has it yet.');
    expect(orders()).toEqual([]);
    const body = new URLSearchParams({
      link: /name="link" value="([^"]+)"/.exec(page)?.[1] ?? '',
      by: 'Wei',
    });
    const answer = await fetch(`${server.url}/ack`, { method: 'POST', body });
    expect(await answer.text()).toContain('Acknowledged');
    expect(await (await open({ incident, expiresAt })).text()).toContain('<bdi>Wei</bdi> has it');
    expect(await (await open({ incident: 'before', expiresAt })).text()).toContain('Already over');
    expect((await open({ incident, expiresAt: viewsNow })).status).toBe(403);
    expect((await fetch(`${server.url}/a/AAAAAAAAAAAAAAAAAAAAAA`)).status).toBe(403);
  });

  it('of an incident that ended leads to the new one where the alert fires again, and says so', async () => {
    const world = await alerted();
    server = await runServer({ ...withToken, world });
    const [key = Buffer.alloc(0)] = world.views.linkKeys();
    const old = await grantOf(world);
    const expiresAt = world.now + hourMs;
    const links = [
      `/a/${signLink(key, { ...old, expiresAt })}`,
      `/ack?${signAcknowledgement(key, { ...old, expiresAt })}`,
    ];
    await read(world, 900);
    for (const link of links) expect(await (await fetch(server.url + link)).text()).toContain('Already over');
    await read(world, 41);
    for (const link of links) {
      const page = await (await fetch(server.url + link)).text();
      expect(page).toContain('This link is for an earlier incident');
      expect(page).toContain((await grantOf(world)).incident);
    }
    expect(orders()).toEqual([]);
  });

  it.each([{}, { do: 'quiet' }])(
    'does nothing to a later incident that its sender has not seen (%j)',
    async (act) => {
      const world = await alerted();
      server = await runServer({ ...withToken, world });
      const [key = Buffer.alloc(0)] = world.views.linkKeys();
      const signed = signLink(key, { ...(await grantOf(world)), expiresAt: world.now + hourMs });
      await read(world, 900);
      await read(world, 41);
      const body = new URLSearchParams({ link: signed, by: 'Wei', ...act });
      const answer = await fetch(`${server.url}/ack`, { method: 'POST', body });
      expect(answer.status).toBe(409);
      expect(orders()).toEqual([]);
    },
  );

  it('of an incident that ended calls nothing over while the database cannot say whether it fires again', async () => {
    const world = await alerted();
    server = await runServer({ ...withToken, world });
    const old = await link();
    await read(world, 900);
    await read(world, 41);
    await server.close();
    world.views.incidents = () => Promise.reject(new StorageError('other', 'disk I/O error'));
    server = await runServer({ ...withToken, world });
    const answer = await fetch(server.url + old);
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain('Already over');
  });

  it('calls nothing over that has fired since its daemon last read what another one stores', async () => {
    const world = await alerted();
    const { firing } = world.views;
    let isRead = false;
    world.views.firing = () => (isRead ? firing() : []);
    world.views.refresh = async (isExact = false) => {
      isRead ||= isExact;
    };
    server = await runServer({ ...withToken, world });
    const page = await (await fetch(server.url + (await link()))).text();
    expect(page).toContain('Nobody has it yet.');
  });

  it('that was changed is refused', async () => {
    server = await runServer({ world: await alerted() });
    expect((await fetch(server.url + (await link()).replace('sms-low', 'sms-high'))).status).toBe(403);
  });
});

/** A world where the SMS balance of `otp` is critical at `viewsNow`. */
async function alerted(over: Parameters<typeof makeAccount>[1] = {}): Promise<World> {
  const world = await startWorld(
    { accounts: [makeAccount('otp', over)], rules: [smsLow({ critical: units(50) })] },
    { startAt: viewsNow - minuteMs - step },
  );
  await read(world, 42.1);
  return world;
}

/** What people ordered, as the audit has it. */
function orders() {
  return server.world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 10 });
}

function signIn(given: string, next = '/'): Promise<Response> {
  return fetch(`${server.url}/sign-in`, {
    method: 'POST',
    body: new URLSearchParams({ token: given, next }),
    redirect: 'manual',
  });
}

function withCookie(path: string, cookie: string): Promise<Response> {
  return fetch(server.url + path, { headers: { cookie: cookie.split(';')[0] ?? '' }, redirect: 'manual' });
}

/** `fetch` sets some headers itself; this sends them as given. */
function send(
  path: string,
  options: { readonly method?: string; readonly headers: Readonly<Record<string, string>> },
): Promise<{ readonly status: number; readonly body: string }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const call = request(
      { hostname: hostname.replace('0.0.0.0', '127.0.0.1'), port, path, ...options },
      (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      },
    );
    call.on('error', reject);
    call.end();
  });
}
