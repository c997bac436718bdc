import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import type { SettingsParts } from '../support/settings.ts';
import { serveWorld } from '../support/web-server.ts';
import { read, startWorld, type World } from '../support/world.ts';

const accounts = ['otp', 'marketing'];
const rules = [smsLow({ warning: units(200) })];

/** Alters a byte of what is stored of an account while no daemon has it in memory. */
function damageTail(world: World, account: string): void {
  const db = new Database(world.path);
  const { tail } = db.prepare('SELECT tail FROM account WHERE id = ?').get(account) as { tail: Buffer };
  tail[tail.length - 1] = (tail.at(-1) ?? 0) ^ 4;
  db.prepare('UPDATE account SET tail = ? WHERE id = ?').run(tail, account);
  db.close();
}

async function startDamaged(reports: SettingsParts['reports'] = []): Promise<World> {
  const world = await startWorld({ accounts, rules, reports });
  expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
  await world.stop();
  damageTail(world, 'marketing');
  world.start();
  await world.pass(10 * minuteMs);
  return world;
}

it('damaged readings of one account are reported, and an acknowledgement of another outlives a crash', async () => {
  const world = await startDamaged();
  expect(world.news()).toEqual(['@lowwater/storage-failed:marketing firing warning']);
  expect(world.daemon.committer.failing).toBe(false);
  await give(world.views, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' }, 'ada');
  world.crash();
  world.start();
  await world.pass(minuteMs);
  const alerts = await world.views.alerts({ all: false });
  expect(alerts.find(({ rule }) => rule === 'sms-low')?.acknowledged?.by).toBe('ada');
});

it('damage is reported although the daemon is killed before it could tell, once, and for a week', async () => {
  const world = await startDamaged();
  world.news();
  const db = new Database(world.path);
  db.exec("DELETE FROM incident WHERE account = '@lowwater'; DELETE FROM alert WHERE account = '@lowwater'");
  world.crash();
  db.close();
  world.start();
  await world.pass(hourMs);
  expect(world.news()).toEqual(['@lowwater/storage-failed:marketing firing warning']);
  await world.restart({ downMs: 7 * dayMs - 2 * hourMs });
  world.news();
  await world.pass(2 * hourMs);
  expect(world.news()).toContain('@lowwater/storage-failed:marketing resolved warning');
});

it('a review and a report of a time with damaged readings say that they do not know all of it', async () => {
  const daily = { id: 'daily', cron: '0 13 * * *', timezone: 'UTC', channels: ['ops'] };
  const world = await startDamaged([daily]);
  const { url } = await serveWorld(world);
  const ask = async (path: string): Promise<string> => (await fetch(`${url}${path}`)).text();
  const json = JSON.parse(await ask('/api/v1/review?range=24h'));
  expect(json).toMatchObject({ complete: false, damaged: ['marketing'] });
  expect(await ask('/review?range=24h')).toContain(
    '1 account of which stored readings of this time are damaged',
  );
  const later = `/api/v1/review?from=${new Date(world.now - minuteMs).toISOString()}`;
  expect(JSON.parse(await ask(later))).toMatchObject({ complete: true, damaged: [] });
  await world.pass(hourMs);
  const [report] = world
    .channel('ops')
    .delivered.flatMap(({ message }) => (message.kind === 'report' ? message : []));
  const [otp, marketing] = ['otp', 'marketing'].map((id) =>
    report?.accounts.find((account) => account.id === id),
  );
  expect(marketing?.spentSince).toBeGreaterThan(otp?.spentSince ?? 0);
});

it.each([
  ['record', "UPDATE incident SET body = json_set(body, '$.firedAt', 'noon')"],
  ['note', "INSERT INTO note VALUES ('expected:otp', '[7]'), ('audit:1:x', '{')"],
])('a %s of the wrong type is told on the channels, and all else goes on', async (_kind, damage) => {
  const world = await startWorld({ accounts, rules });
  await read(world, 100);
  await world.stop();
  const db = new Database(world.path);
  db.exec(damage);
  db.close();
  world.start();
  await world.pass(10 * minuteMs);
  expect(world.news().join()).toContain('@lowwater/storage-failed:@records event critical');
  expect(world.views.alerts({ all: false })).toBeDefined();
});

it.each([
  ['alert', "UPDATE alert SET body = '{}' WHERE account = 'otp'"],
  ['incident', "UPDATE incident SET body = '{}' WHERE account = 'otp'"],
])(
  'what fires stays the same incident though its %s cannot be read: worse and its end are told',
  async (_record, damage) => {
    const world = await startWorld({
      accounts,
      rules: [smsLow({ warning: units(200), critical: units(50) })],
    });
    await read(world, 100);
    const told = [...world.daemon.state.incidents.keys()];
    await world.stop();
    const db = new Database(world.path);
    db.exec(damage);
    db.close();
    world.start();
    await world.pass(10 * minuteMs);
    world.news();
    const readTwice = async (sms: number) => [...(await read(world, sms)), ...(await read(world, sms))];
    expect(await readTwice(20)).toEqual(['otp/sms-low worse critical']);
    const open = await world.views.incidents({ account: 'otp', since: 0, until: world.now });
    expect(open.map(({ id, resolvedAt }) => [id, resolvedAt])).toEqual([[told[0], null]]);
    expect(await readTwice(1000)).toEqual(['otp/sms-low resolved critical (topped-up)']);
  },
);

it('a message whose next attempt was put off by decades holds up its channel for a day at most', async () => {
  const world = await startWorld({ accounts, rules });
  world.channel('ops').mood = 'down';
  await read(world, 100);
  await world.stop();
  const db = new Database(world.path);
  db.exec("UPDATE message SET body = json_set(body, '$.dueAt', 9795176305000)");
  db.close();
  world.channel('ops').mood = 'up';
  world.start();
  await world.pass(25 * hourMs);
  expect(world.news().join()).toContain('otp/sms-low');
});
