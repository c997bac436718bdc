import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { createApi } from '../../src/http/api/routes.ts';
import { addOpenPages, addPages } from '../../src/http/page/routes.ts';
import type { WebEnv } from '../../src/http/web-env.ts';
import { hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { signAcknowledgement } from '../support/old-links.ts';
import { giveAtOnce } from '../support/orders.ts';
import { makeAccount } from '../support/settings.ts';
import { ackKey, serveWorld } from '../support/web-server.ts';
import { read, startWorld, type World } from '../support/world.ts';

interface Act {
  readonly path: string;
  /** A form of a page, or the JSON of the API. */
  readonly send?: object | ((world: World) => object);
  /** What is there before. */
  readonly given?: (world: World) => unknown;
  /** What the audit has of it besides who and whence. */
  readonly entry: object;
}

const alert = { account: 'otp', rule: 'sms-low' };
const acknowledged = { action: 'acknowledge', ...alert };
const silenceFor = { account: 'otp', for: '2h', confirmed: 'yes' };
const amount = { account: 'otp', amount: '80' };
const arrivesBy = '2026-11-21T12:00:00Z';

const taken = (world: World) => giveAtOnce(world, { kind: 'acknowledge', ...alert, comment: '' });
const silenced = ({ now: startsAt, ...world }: World) =>
  giveAtOnce(world, {
    ...{ kind: 'silence', id: 's-1', match: { account: ['otp'] }, everything: false },
    ...{ startsAt, endsAt: startsAt + hourMs, comment: '' },
  });
const ordered = (world: World) =>
  giveAtOnce(world, {
    ...{ kind: 'expect-top-up', account: 'otp', amountMicros: units(80), id: 'x-1' },
    ...{ arrivesBy: world.now + hourMs, comment: '' },
  });
const announced = (world: World) =>
  giveAtOnce(world, {
    ...{ kind: 'expect-spending', account: 'otp', amountMicros: units(80), id: 'r-1' },
    ...{ startsAt: world.now, endsAt: world.now + hourMs, comment: '' },
  });
const linked = ({ daemon, now }: World) => {
  const incident = daemon.state.alerts.get('otp', 'sms-low')?.incident ?? '';
  return Object.fromEntries(
    new URLSearchParams(signAcknowledgement(ackKey, { ...alert, incident, expiresAt: now + hourMs })),
  );
};

/** Every route that changes something, and what it does. */
const acts: Readonly<Record<string, Act>> = {
  'POST /alerts/many': {
    path: '/alerts/many',
    send: { alert: 'otp/sms-low', do: 'acknowledge' },
    entry: acknowledged,
  },
  'POST /alerts/:account/:rule/acknowledge': { path: '/alerts/otp/sms-low/acknowledge', entry: acknowledged },
  'POST /alerts/:account/:rule/unacknowledge': {
    path: '/alerts/otp/sms-low/unacknowledge',
    given: taken,
    entry: { action: 'unacknowledge', ...alert },
  },
  'POST /pay/ordered': {
    path: '/pay/ordered',
    send: { ...amount, balance: 'sms', 'seen-worst': 'warning' },
    entry: { action: 'expect-top-up', account: 'otp', detail: expect.stringContaining('80') },
  },
  'POST /pay/announced': {
    path: '/pay/announced',
    send: { ...amount, from: '2026-11-21T12:00', to: '2026-11-22T12:00' },
    entry: { action: 'expect-spending', account: 'otp', detail: expect.stringContaining('80') },
  },
  'POST /pay/cancel': {
    path: '/pay/cancel',
    send: { account: 'otp', id: 'x-1' },
    given: ordered,
    entry: { action: 'cancel-expected', account: 'otp', detail: 'x-1' },
  },
  'POST /pay/calendar': { path: '/pay/calendar', entry: { action: 'renew-calendar-key', detail: '' } },
  'POST /silences': { path: '/silences', send: silenceFor, entry: { action: 'silence', account: 'otp' } },
  'POST /silences/:id/extend': {
    path: '/silences/s-1/extend',
    send: { for: '2h' },
    given: silenced,
    entry: { action: 'extend-silence', detail: 's-1, by 2h' },
  },
  'POST /silences/:id/expire': {
    path: '/silences/s-1/expire',
    given: silenced,
    entry: { action: 'expire-silence', detail: 's-1' },
  },
  'POST /sessions/:id/end': {
    path: '/sessions/b7/end',
    given: ({ views, now }) =>
      views.recordSession({
        id: 'b7',
        role: 'operator',
        endsAt: now + hourMs,
        usedAt: now,
        from: '',
        agent: '',
      }),
    entry: { action: 'end-session', detail: 'b7' },
  },
  'POST /accounts/:id/poll': { path: '/accounts/otp/poll', entry: { action: 'poll', account: 'otp' } },
  'POST /ack': { path: '/ack', send: linked, entry: acknowledged },
  'POST /api/v1/alerts/:account/:rule/ack': { path: '/api/v1/alerts/otp/sms-low/ack', entry: acknowledged },
  'DELETE /api/v1/alerts/:account/:rule/ack': {
    path: '/api/v1/alerts/otp/sms-low/ack',
    given: taken,
    entry: { action: 'unacknowledge', ...alert },
  },
  'POST /api/v1/acks': { path: '/api/v1/acks', send: { alerts: [alert] }, entry: acknowledged },
  'POST /api/v1/test-alerts': {
    path: '/api/v1/test-alerts',
    send: { account: 'otp' },
    given: silenced,
    entry: { action: 'test-alert', account: 'otp' },
  },
  'POST /api/v1/silences': {
    path: '/api/v1/silences',
    send: { match: { account: 'otp' }, for: '2h' },
    entry: { action: 'silence', account: 'otp' },
  },
  'DELETE /api/v1/silences': {
    path: '/api/v1/silences?id=s-1',
    given: silenced,
    entry: { action: 'expire-silence', detail: 's-1' },
  },
  'DELETE /api/v1/silences/:id': {
    path: '/api/v1/silences/s-1',
    given: silenced,
    entry: { action: 'expire-silence', detail: 's-1' },
  },
  'POST /api/v1/expected-top-ups': {
    path: '/api/v1/expected-top-ups',
    send: { ...amount, arrivesBy },
    entry: { action: 'expect-top-up', account: 'otp' },
  },
  'DELETE /api/v1/expected-top-ups/:id': {
    path: '/api/v1/expected-top-ups/x-1',
    given: ordered,
    entry: { action: 'cancel-expected', account: 'otp', detail: 'x-1' },
  },
  'POST /api/v1/expected-spending': {
    path: '/api/v1/expected-spending',
    send: { ...amount, startsAt: arrivesBy, endsAt: '2026-11-22T12:00:00Z' },
    entry: { action: 'expect-spending', account: 'otp' },
  },
  'DELETE /api/v1/expected-spending/:id': {
    path: '/api/v1/expected-spending/r-1',
    given: announced,
    entry: { action: 'cancel-expected', account: 'otp', detail: 'r-1' },
  },
  'POST /api/v1/accounts/:id/poll': {
    path: '/api/v1/accounts/otp/poll',
    entry: { action: 'poll', account: 'otp' },
  },
  'POST /api/v1/reports/:id': {
    path: '/api/v1/reports/weekly',
    entry: { action: 'report', detail: 'weekly' },
  },
};

test.each([
  ['POST /alerts/:account/:rule/acknowledge', 'Somebody has acknowledged it already: nothing was changed.'],
  ['POST /alerts/many', 'Somebody has acknowledged all of them already: nothing was changed.'],
  ['POST /ack', 'ana has it already'],
  ['POST /api/v1/alerts/:account/:rule/ack', '"heldBy":"ana"'],
  ['POST /api/v1/acks', '"acknowledged":true,"why":"ana has it already"'],
])('%s tells a second person that somebody has it', async (route, words) => {
  const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
  await read(world, 100);
  taken(world);
  const { url } = await serveWorld(world);
  const { path, send = {} } = acts[route] ?? { path: '' };
  const given = { ...(typeof send === 'function' ? send(world) : send), by: 'Ben' };
  const body = path.startsWith('/api/') ? asJson(given) : { body: new URLSearchParams(given) };
  const answer = await fetch(url + path, { method: 'POST', redirect: 'manual', ...body });
  const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  const next = answer.headers.get('location');
  const shown = next === null ? answer : await fetch(new URL(next, url), { headers: { cookie } });
  expect(await shown.text()).toContain(words);
  expect(world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toMatchObject([
    { by: 'ana' },
  ]);
});

test.each([
  ['POST /alerts/:account/:rule/acknowledge', 'done=held'],
  ['POST /alerts/many', 'done=held-many'],
  ['POST /ack', 'ana has it already'],
])('%s that comes twice, by whoever gives no other name, is one act of the audit', async (route, words) => {
  const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
  await read(world, 100);
  const { url } = await serveWorld(world);
  const { path, send = {} } = acts[route] ?? { path: '' };
  const body = new URLSearchParams({ ...(typeof send === 'function' ? send(world) : send), by: 'ana' });
  const press = () => fetch(url + path, { method: 'POST', redirect: 'manual', body });
  await press();
  const second = await press();
  expect(`${second.headers.get('location')} ${await second.text()}`).toContain(words);
  expect(world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toHaveLength(1);
});

/** What changes nothing that others would ask about. */
const noActs = {
  'POST /sign-in': 'only a browser of one’s own',
  'POST /sign-out': 'an order where there is a session: see below',
  'POST /time-zone': 'only what this browser is shown',
  'POST /language': 'only how this browser is spoken to',
  'POST /accounts/:id/try/:rule': 'computes and keeps nothing',
  'POST /api/v1/accounts/:id/readings': 'a program’s reading, as a poll is',
};

test('every route that changes something is listed here', () => {
  const app = new Hono<WebEnv>();
  addOpenPages(app);
  addPages(app);
  app.route('/', createApi('test'));
  const changing = app.routes.filter(({ method }) => method === 'POST' || method === 'DELETE');
  const found = new Set(changing.map(({ method, path }) => `${method} ${path}`));
  expect([...found].sort()).toEqual([...Object.keys(acts), ...Object.keys(noActs)].sort());
});

test.each(Object.entries(acts))(
  '%s is one order, which the audit names with who, whence and what',
  async (route, act) => {
    const world = await startWorld({
      accounts: [makeAccount('otp', { leadTimeMs: hourMs })],
      rules: [smsLow({ warning: units(200) })],
      reports: [{ id: 'weekly', cron: '0 9 * * 1', timezone: 'UTC', channels: ['ops'] }],
    });
    await read(world, 100);
    await act.given?.(world);
    await world.pass(minuteMs);
    const { url } = await serveWorld(world);
    const [method = ''] = route.split(' ');
    const isApi = route.includes('/api/');
    const sent = typeof act.send === 'function' ? act.send(world) : (act.send ?? {});
    const isEmpty = method === 'DELETE' || (isApi && Object.keys(sent).length === 0);
    let isAnswered = false;
    const asked = fetch(url + act.path, {
      method,
      redirect: 'manual',
      ...(!isEmpty && (isApi ? asJson(sent) : { body: new URLSearchParams({ by: 'Lin', ...sent }) })),
    });
    void asked.finally(() => {
      isAnswered = true;
    });
    // A poll takes its time.
    await eventually('the answer', async () => {
      await world.pass(100);
      return isAnswered;
    });
    const answer = await asked;
    expect(answer.status, await answer.text()).toBeLessThan(400);
    const [last] = world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 1 });
    expect(last).toMatchObject({ from: '127.0.0.1', by: isApi ? 'api' : 'Lin', ...act.entry });
  },
);

function asJson(body: object) {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

test('an order that the database does not take is done, and its answer and the command say that it is in memory alone', async () => {
  const world = await startWorld({ rules: [smsLow({ warning: units(200) })] });
  await read(world, 100);
  const { url } = await serveWorld(world);
  const command = (name: string) =>
    runCli([name, 'otp', 'sms-low', '--server', url], { cwd: import.meta.dirname });
  const take = async () => {
    const path = `${url}/api/v1/alerts/otp/sms-low/ack`;
    const { status, headers } = await fetch(path, { method: 'POST', ...asJson({ by: 'Lin' }) });
    return [status, headers.get('lowwater-stored')];
  };
  expect(await take()).toEqual([200, null]);
  world.diskFull = true;
  expect(await command('unack')).toMatchObject({
    code: 0,
    stdout: 'Acknowledgement of otp sms-low removed.\n',
    stderr: expect.stringContaining('in memory only, as the database cannot be written'),
  });
  expect(await take()).toEqual([200, 'false']);
  world.diskFull = false;
  const after = await command('unack');
  expect([after.code, after.stderr]).toEqual([0, expect.not.stringContaining('in memory only')]);
});

test('who signs out ends a session, which is an order too', async () => {
  const world = await startWorld();
  const { url } = await serveWorld(world, { settings: { token: new Secret('of the operators') } });
  const send = (path: string, headers: object, form = {}) =>
    fetch(url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url, ...headers },
      body: new URLSearchParams(form),
    });
  const signedIn = await send('/sign-in', {}, { token: 'of the operators' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  await send('/sign-out', { cookie });
  expect(world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 9 })).toMatchObject([
    { action: 'end-session', by: 'page', from: '127.0.0.1' },
  ]);
  expect((await fetch(url, { redirect: 'manual', headers: { cookie, accept: 'text/html' } })).status).toBe(
    303,
  );
});
