import { expect, test } from 'vitest';
import type { Incident } from '../../src/domain/alert.ts';
import { takeUnstored } from '../../src/engine/unstored.ts';
import { smsLow, units } from '../support/account-facts.ts';
import { read, startWorld, step, type World } from '../support/world.ts';

const ended = 'otp/sms-low resolved warning (topped-up)';
const rules = { rules: [smsLow({ warning: units(200) })] };

/** An owner that told `ops` of a low balance, with the incident as another daemon may have it. */
async function startWithOpen(
  severity: 'info' | 'warning' = 'warning',
): Promise<{ readonly world: World; readonly open: Incident }> {
  const world = await startWorld({ rules: [smsLow({ [severity]: units(200) })] }, { takesOrders: true });
  expect(await read(world, 100)).toEqual([`otp/sms-low firing ${severity}`]);
  await world.pass(2000);
  const [open] = world.daemon.state.incidents.values();
  if (open === undefined) throw new Error('no incident');
  return { world, open };
}

/** The note of a daemon that told `ops` last of the incident so long after now. */
async function takeInTold(world: World, told: Incident, afterMs: number): Promise<void> {
  const { ops } = told.notified;
  if (ops === undefined) throw new Error('ops was not told');
  const notified = { ops: { ...ops, at: world.now + afterMs } };
  const note = { at: world.now, polls: [], orders: [], incidents: [{ ...told, notified }] };
  world.unstored.set(`@unstored/${world.now}`, note);
  await world.pass(step);
  expect(world.unstored.size).toBe(0);
}

test('an end that waited when a daemon lost the accounts is told by who takes over', async () => {
  const world = await startWorld(rules);
  world.diskFull = true;
  expect((await read(world, 100)).join()).toContain('otp/sms-low firing warning');
  world.channel('ops').mood = 'down';
  await read(world, 5000);
  const left = takeUnstored(world.daemon.state, world.now);
  const heir = await startWorld(rules, { takesOrders: true });
  for (const [nth, each] of left.entries())
    heir.unstored.set(`@unstored/${nth}`, {
      ...each,
      incidents: each.incidents.map((incident) => ({ ...incident, id: `other-${incident.id}` })),
    });
  await heir.pass(step);
  expect(heir.news().join()).toContain('otp/sms-low resolved warning');
});

test('what nobody was told of when a daemon lost the accounts is not told as over by who takes over', async () => {
  const world = await startWorld(rules);
  world.diskFull = true;
  world.channel('ops').mood = 'down';
  await read(world, 100);
  expect(world.channel('ops').attempts).not.toEqual([]);
  expect([...world.daemon.state.incidents.values()].map(({ rule }) => rule)).toContain('storage-failed');
  const left = takeUnstored(world.daemon.state, world.now);
  expect(left.flatMap(({ incidents }) => incidents)).toEqual([]);
});

test('a message that may have arrived before a daemon lost the accounts has its end', async () => {
  const world = await startWorld(rules);
  world.diskFull = true;
  world.channel('ops').mood = 'lost';
  await read(world, 100);
  const left = takeUnstored(world.daemon.state, world.now);
  expect(left.flatMap(({ incidents }) => incidents.map(({ rule }) => rule))).toContain('sms-low');
});

test.each([
  ['in memory still', 0],
  ['in the database alone', step],
])(
  'who ended an incident, which is %s, ends it again where another daemon told after that that it fires',
  async (_, laterMs) => {
    const { world, open } = await startWithOpen();
    expect(await read(world, 5000)).toEqual([ended]);
    await world.pass(laterMs);
    await takeInTold(world, open, 0);
    expect(world.news()).toEqual([ended]);
    await world.restart({ downMs: 1000 });
    await world.pass(step);
    expect(world.news()).toEqual([]);
  },
);

test.each([
  ['warning', 'worse'],
  ['info', 'firing'],
] as const)(
  'who has an incident of severity %s open says so again where another daemon told that it is over, and ends it later',
  async (severity, reason) => {
    const { world, open } = await startWithOpen(severity);
    await takeInTold(world, { ...open, resolvedAt: world.now, resolution: { kind: 'recovered' } }, 0);
    expect(world.news()).toEqual([`otp/sms-low ${reason} ${severity}`]);
    expect(await read(world, 5000)).toEqual([`otp/sms-low resolved ${severity} (topped-up)`]);
  },
);

test('what channels have heard since from who has the accounts is not said again for what another daemon told before', async () => {
  const { world, open } = await startWithOpen();
  await takeInTold(world, { ...open, resolvedAt: world.now, resolution: { kind: 'recovered' } }, -step);
  expect(world.news()).toEqual([]);
  expect(await read(world, 5000)).toEqual([ended]);
  await takeInTold(world, open, -step);
  expect(world.news()).toEqual([]);
});
