import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { recordAudit } from '../../src/engine/audit.ts';
import { smsLow, units } from '../support/account-facts.ts';
import { serveWorld } from '../support/web-server.ts';
import { read, startWorld, type World } from '../support/world.ts';

const token = 'the token of the operators';
const viewerToken = 'the token of the screen in the office';

describe('the audit', () => {
  it('says who did what, when and from where, newest first', async () => {
    const { world, send, audit } = await served();
    await send('POST', '/api/v1/alerts/otp/sms-low/ack', { by: 'Lin', comment: 'on it' });
    await world.pass(1_000);
    await send('POST', '/api/v1/silences', { match: { account: 'otp' }, for: '2h' });
    expect(await audit()).toMatchObject([
      {
        by: 'api',
        action: 'silence',
        from: '127.0.0.1',
        account: 'otp',
        detail: expect.stringMatching(/^account otp, until /),
      },
      { by: 'Lin', action: 'acknowledge', account: 'otp', rule: 'sms-low', detail: 'on it' },
    ]);
  });

  it('stands on a page too, no matter what people call themselves, and its pages go on where the last ended', async () => {
    const { world, send, url } = await served();
    for (let count = 0; count < 101; count++) {
      const entry = { by: '<b>Lin</b>', from: '203.0.113.9', action: 'poll', account: 'otp', rule: null };
      const detail = `no. ${count}`;
      recordAudit(world.daemon.state, { ...entry, at: world.now - count, detail }, `order-${count}`);
    }
    await send('POST', '/api/v1/alerts/otp/sms-low/ack', { by: 'Wei' });
    const get = async (path: string) => (await fetch(url + path, { headers: bearer(token) })).text();
    const page = await get('/audit');
    expect(page).toContain('<bdi>&lt;b&gt;Lin&lt;/b&gt;</bdi>');
    expect(page).toContain('203.0.113.9');
    const next = /href="(\/audit\?cursor=[^"]+)"/.exec(page)?.[1] ?? '';
    expect(page).not.toContain('no. 100');
    expect(await get(next)).toContain('no. 100');
  });

  it('is given whole to the command that shows it, however much was done', async () => {
    const { world, url } = await served();
    const entry = { by: 'Lin', from: null, action: 'poll', account: 'otp', rule: null, detail: '' };
    for (let count = 0; count < 1_001; count++)
      recordAudit(world.daemon.state, { ...entry, at: world.now - count }, `order-${count}`);
    const answer = await fetch(`${url}/api/v1/views/audit`, { headers: bearer(token) });
    expect(await answer.json()).toMatchObject({ items: { length: 1_001 } });
  });

  it('leaves out a form of many alerts in which none was selected', async () => {
    const { url, audit } = await served();
    const body = new URLSearchParams({ do: 'acknowledge', by: 'Lin', back: '/alerts?care=nobody' });
    const answer = await fetch(`${url}/alerts/many`, {
      ...{ method: 'POST', redirect: 'manual' },
      headers: bearer(token),
      body,
    });
    expect([answer.status, await audit()]).toEqual([303, []]);
  });

  it('has an entry for every alert of a form of many that was taken, and none for one that has changed', async () => {
    const rules = ['sms-low', 'sms-lower'].map((id) => ({ ...smsLow({ warning: units(200) }), id }));
    const { url, audit } = await served({}, rules);
    const body = new URLSearchParams({ do: 'acknowledge', by: 'Lin' });
    for (const alert of ['otp/sms-low', 'otp/sms-lower/another']) body.append('alert', alert);
    const answer = await fetch(`${url}/alerts/many`, { method: 'POST', headers: bearer(token), body });
    expect(answer.status).toBe(409);
    expect(await audit()).toMatchObject([
      { by: 'Lin', action: 'acknowledge', account: 'otp', rule: 'sms-low' },
    ]);
  });

  it('leaves out what was refused', async () => {
    const { send, audit } = await served();
    expect((await send('POST', '/api/v1/alerts/otp/none/ack', { by: 'Lin' })).status).toBe(404);
    expect(await audit()).toEqual([]);
  });

  it('keeps the order of a form, and its session’s person where a trusted proxy names one', async () => {
    const { world, url, audit } = await served({
      trustedProxy: { addresses: ['127.0.0.0/8'], header: 'remote-user' },
    });
    const answer = await fetch(`${url}/alerts/otp/sms-low/acknowledge`, {
      method: 'POST',
      redirect: 'manual',
      headers: { ...bearer(token), 'remote-user': 'ada@example.com', 'x-forwarded-for': '198.51.100.7' },
      body: new URLSearchParams({ by: 'somebody else' }),
    });
    expect(answer.status).toBe(303);
    expect((await world.views.alert('otp', 'sms-low'))?.acknowledged?.by).toBe('ada@example.com');
    expect(await audit()).toMatchObject([
      { by: 'ada@example.com', from: '198.51.100.7', action: 'acknowledge' },
    ]);
  });

  it.each([
    ['198.51.100.7, 127.0.0.9', '198.51.100.7'],
    ['127.0.0.9, 198.51.100.7:4711', '198.51.100.7'],
    ['10.9.9.9, [2001:db8::7]:4711', '2001:db8::7'],
    ['unknown', '127.0.0.1'],
  ])('names the address before those of trusted proxies: %s', async (forwarded, from) => {
    const { send, audit } = await served({
      trustedProxy: { addresses: ['127.0.0.0/8'], header: 'remote-user' },
    });
    await send('POST', '/api/v1/alerts/otp/sms-low/ack', { by: 'Lin' }, { 'x-forwarded-for': forwarded });
    expect(await audit()).toMatchObject([{ from }]);
  });

  it('does not believe the header of anybody but the trusted proxy', async () => {
    const { send, audit } = await served({
      trustedProxy: { addresses: ['192.0.2.1'], header: 'remote-user' },
    });
    await send('POST', '/api/v1/alerts/otp/sms-low/ack', { by: 'Lin' }, { 'remote-user': 'mallory' });
    expect(await audit()).toMatchObject([{ by: 'Lin' }]);
  });

  it('outlives a restart', async () => {
    const { world, send } = await served();
    await send('POST', '/api/v1/alerts/otp/sms-low/ack', { by: 'Lin' });
    await world.restart({ downMs: 1_000 });
    expect(world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 10 })).toMatchObject([
      { by: 'Lin', action: 'acknowledge' },
    ]);
  });
});

describe('the token of a viewer', () => {
  it('shows everything and changes nothing, by itself and as a session', async () => {
    const { url, send } = await served({ viewerToken: new Secret(viewerToken) });
    expect((await fetch(`${url}/api/v1/alerts`, { headers: bearer(viewerToken) })).status).toBe(200);
    const refused = await send('POST', '/api/v1/alerts/otp/sms-low/ack', {}, bearer(viewerToken));
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('This token may only look');

    const signedIn = await fetch(`${url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url },
      body: new URLSearchParams({ token: viewerToken }),
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await fetch(url, { headers: { cookie } })).status).toBe(200);
    const form = { method: 'POST', headers: { cookie, origin: url }, body: new URLSearchParams() };
    expect((await fetch(`${url}/alerts/otp/sms-low/acknowledge`, form)).status).toBe(403);
  });
});

function bearer(secret: string): Record<string, string> {
  return { authorization: `Bearer ${secret}` };
}

/** A firing alert behind a server with a token. */
async function served(settings: object = {}, rules = [smsLow({ warning: units(200) })]) {
  const world: World = await startWorld({ rules });
  await read(world, 150);
  const { url } = await serveWorld(world, {
    settings: { token: new Secret(token), viewerToken: null, ...settings },
  });
  const send = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...bearer(token), ...headers },
      body: JSON.stringify(body),
    });
  const audit = async (): Promise<unknown> => {
    const answer = await fetch(`${url}/api/v1/audit`, { headers: bearer(token) });
    return Reflect.get(Object(await answer.json()), 'audit');
  };
  return { world, url, send, audit };
}
