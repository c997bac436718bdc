import { describe, expect, it } from 'vitest';
import { smsLow, units } from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { serveWorld } from '../support/web-server.ts';
import { read, startWorld, type World } from '../support/world.ts';

const twoSteps = [smsLow({ warning: units(200), critical: units(50) })];

describe('a form that shows an alert', () => {
  it.each([
    ['acknowledges', '/alerts/otp/sms-low/acknowledge', {}],
    ['silences', '/silences', { account: 'otp', rule: 'sms-low', confirmed: 'yes', for: '2h' }],
  ])('%s the incident and severity that it shows', async (_does, path, fields) => {
    const { world, url } = await warned();
    const seen = await seenOn(url);
    expect((await send(url + path, { ...fields, ...seen })).status).toBe(303);
    const alert = await world.views.alert('otp', 'sms-low');
    expect(alert?.acknowledged !== null || alert.silenced).toBe(true);
  });

  it.each([
    ['acknowledge', '/alerts/otp/sms-low/acknowledge', {}],
    ['silence', '/silences', { account: 'otp', rule: 'sms-low', confirmed: 'yes', for: '2h' }],
  ])('does not %s another incident than it shows', async (_does, path, fields) => {
    const { world, url } = await warned();
    const seen = await seenOn(url);
    await read(world, 500);
    await read(world, 20);
    const refused = await send(url + path, { ...fields, ...seen });
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('<p>This is another incident now.</p>');
    expect(await world.views.alert('otp', 'sms-low')).toMatchObject({ acknowledged: null, silenced: false });
  });

  it('says that the alert is over where no other incident has begun', async () => {
    const { world, url } = await warned();
    const seen = await seenOn(url);
    await read(world, 500);
    const fields = { account: 'otp', rule: 'sms-low', confirmed: 'yes', for: '2h', ...seen };
    const refused = await send(`${url}/silences`, fields);
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('<p>This alert is over now.</p>');
  });

  it.each([
    ['/alerts/otp/sms-low/unacknowledge', {}],
    ['/alerts/many', { do: 'unacknowledge' }],
  ])('does not give back what somebody took since, by %s of an old page', async (path, fields) => {
    const { world, url } = await warned();
    const [alert = ''] = tickedOn(await (await fetch(`${url}/alerts`)).text());
    const seen = path === '/alerts/many' ? { alert } : await seenOn(url);
    await read(world, 500);
    await read(world, 100);
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' }, 'Ben');
    expect((await send(url + path, { ...fields, ...seen })).status).toBe(409);
    expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toMatchObject({ by: 'Ben' });
  });

  it.each([
    ['/alerts/otp/sms-low/unacknowledge', {}],
    ['/alerts/many', { do: 'unacknowledge' }],
  ])(
    'gives back by %s from who had it when the page was made, and from nobody else',
    async (path, fields) => {
      const { world, url } = await warned();
      const taken = { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' } as const;
      giveAtOnce(world, taken, 'Ann');
      const [alert = ''] = tickedOn(await (await fetch(`${url}/alerts`)).text());
      const seen = path === '/alerts/many' ? { alert } : await seenOn(url);
      giveAtOnce(world, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' }, 'Ann');
      giveAtOnce(world, taken, 'Ben');
      const refused = await send(url + path, { ...fields, ...seen });
      expect(refused.status).toBe(409);
      expect(await refused.text()).toContain(
        path === '/alerts/many' ? 'or with somebody else: sms-low of otp' : '<p>Ben has this alert now.</p>',
      );
      expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toMatchObject({ by: 'Ben' });
      const [now = ''] = tickedOn(await (await fetch(`${url}/alerts`)).text());
      const asItIs = path === '/alerts/many' ? { alert: now } : await seenOn(url);
      expect((await send(url + path, { ...fields, ...asItIs })).status).toBe(303);
      expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
    },
  );

  it('silences by its tick what somebody has acknowledged', async () => {
    const { world, url } = await warned();
    giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' }, 'Ann');
    const [alert = ''] = tickedOn(await (await fetch(`${url}/alerts`)).text());
    const silenced = await send(`${url}/alerts/many`, { do: 'silence', for: '2h', by: 'Lin', alert });
    expect(silenced.status).toBe(303);
    expect((await world.views.alert('otp', 'sms-low'))?.silenced).toBe(true);
  });

  it('does not acknowledge an incident that got worse since', async () => {
    const { world, url } = await warned();
    const seen = await seenOn(url);
    await read(world, 20);
    const refused = await send(`${url}/alerts/otp/sms-low/acknowledge`, seen);
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain('<p>This alert is critical now.</p>');
  });

  it('takes of many ticked alerts those that are as they were, and names the others', async () => {
    const { world, url } = await warned(2);
    const ticked = tickedOn(await (await fetch(`${url}/alerts`)).text());
    expect(ticked).toHaveLength(2);
    world.provider.set('otp', 500);
    await world.pass(300_000);
    world.provider.set('otp', 20);
    await world.pass(300_000);
    const form = new URLSearchParams(ticked.map((name): [string, string] => ['alert', name]));
    form.set('by', 'Lin');
    const answer = await fetch(`${url}/alerts/many`, { method: 'POST', body: form, redirect: 'manual' });
    expect(answer.status).toBe(409);
    expect(await answer.text()).toContain(
      '1 of 2 alerts is another incident or severity now, or with somebody else: sms-low of otp',
    );
    expect((await world.views.alert('otp', 'sms-low'))?.acknowledged).toBeNull();
    expect((await world.views.alert('b', 'sms-low'))?.acknowledged).not.toBeNull();
  });

  it('acknowledges all that match only while they are those that it shows', async () => {
    const { world, url } = await warned(2);
    const page = await (await fetch(`${url}/alerts`)).text();
    const digest = /name="seen-all" value="([^"]+)"/.exec(page)?.[1] ?? '';
    await read(world, 20);
    const form = { all: 'yes', query: '/alerts', 'seen-all': digest };
    const refused = await send(`${url}/alerts/many`, form);
    expect(refused.status).toBe(409);
    expect((await world.views.alert('b', 'sms-low'))?.acknowledged).toBeNull();
  });
});

describe('the API', () => {
  it('refuses to acknowledge another incident or severity than the one it was given, alone or among many', async () => {
    const { world, url } = await warned();
    const before = await world.views.alert('otp', 'sms-low');
    const seen = { incident: before?.incident, severity: before?.severity };
    await read(world, 20);
    const one = await post(`${url}/api/v1/alerts/otp/sms-low/ack`, seen);
    expect(one.status).toBe(409);
    expect(await one.json()).toMatchObject({ detail: 'this alert is critical now' });
    const many = await post(`${url}/api/v1/acks`, { alerts: [{ account: 'otp', rule: 'sms-low', ...seen }] });
    expect(await many.json()).toEqual({
      acks: [{ account: 'otp', rule: 'sms-low', acknowledged: false, why: 'this alert is critical now' }],
    });
    const silence = await post(`${url}/api/v1/silences`, {
      match: { account: 'otp' },
      for: '2h',
      seen: { account: 'otp', rule: 'sms-low', ...seen },
    });
    expect(silence.status).toBe(409);
    const asItIs = { incident: before?.incident, severity: 'critical' };
    expect((await post(`${url}/api/v1/alerts/otp/sms-low/ack`, asItIs)).status).toBe(200);
  });
});

/** A world where a warning fires for each account. */
async function warned(accounts = 1): Promise<{ readonly world: World; readonly url: string }> {
  const ids = ['otp', 'b'].slice(0, accounts);
  const world = await startWorld({ rules: twoSteps, accounts: ids });
  if (accounts > 1) world.provider.set('b', 150);
  await read(world, 150);
  return { world, url: (await serveWorld(world)).url };
}

async function seenOn(url: string): Promise<Record<string, string>> {
  const page = await (await fetch(`${url}/alerts`)).text();
  const value = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '';
  return {
    by: 'Lin',
    'seen-incident': value('seen-incident'),
    'seen-severity': value('seen-severity'),
    ...(page.includes('seen-holder') && { 'seen-holder': value('seen-holder') }),
  };
}

function tickedOn(page: string): string[] {
  return [...page.matchAll(/name="alert" value="([^"]+)"/g)].map(([, name = '']) => name);
}

function send(url: string, fields: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: { accept: 'text/html' },
    redirect: 'manual',
  });
}

function post(url: string, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}
