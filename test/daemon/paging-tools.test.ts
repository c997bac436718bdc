import { describe, expect, test } from 'vitest';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import { giveAtOnce } from '../support/orders.ts';
import { PagingTool, type ToolType, toolTypes } from '../support/paging-tool.ts';
import { makeRoute } from '../support/settings.ts';
import { startWorld, step, type World } from '../support/world.ts';

const rules = [smsLow({ info: units(500), warning: units(200), critical: units(50) })];
const alert = 'lowwater/otp/sms-low';

async function worldWith(type: ToolType): Promise<{ readonly world: World; readonly tool: PagingTool }> {
  const routes = [
    makeRoute({
      channels: ['ops'],
      escalate: { afterMs: 30 * minuteMs, channels: ['boss'] },
      repeatEveryMs: 3_600_000,
    }),
  ];
  const world = await startWorld({ rules, routes, channels: ['ops', 'boss'] });
  const tool = new PagingTool(type);
  world.channel('ops').reader = (message) => tool.receive(message);
  return { world, tool };
}

async function read(world: World, sms: number): Promise<void> {
  world.provider.set('otp', sms);
  await world.pass(step);
}

async function acknowledge(world: World): Promise<void> {
  giveAtOnce(world, { kind: 'acknowledge', account: 'otp', rule: 'sms-low', comment: '' });
  await world.pass(minuteMs);
}

/** A process that is killed while nothing can be stored, and the next one. */
async function dieHavingRead(world: World, balances: readonly number[]): Promise<void> {
  world.diskFull = true;
  for (const sms of balances) await read(world, sms);
  world.crash();
  world.diskFull = false;
  world.start();
}

describe.each(toolTypes)('%s', (type) => {
  test('wakes people for what got worse after somebody took it, and ends all of it', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 100);
    await acknowledge(world);
    const before = tool.woken.length;
    await read(world, 20);
    expect(tool.woken.length).toBe(before + 1);
    const open = tool.about(alert).filter(({ taken }) => !taken);
    expect(open.length).toBeGreaterThan(0);
    for (const { urgency } of open) expect([null, 'critical']).toContain(urgency);
    await read(world, 900);
    expect([...tool.shown]).toEqual([]);
  });

  test('wakes people for what got worse while nobody had it, once', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 100);
    await read(world, 20);
    expect(tool.woken).toHaveLength(2);
    await world.pass(4 * 3_600_000);
    expect(tool.woken).toHaveLength(2);
    await read(world, 900);
    expect([...tool.shown]).toEqual([]);
  });

  test('wakes people for another top-up that is overdue, though nobody had taken the first, and ends all of it', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 900);
    for (const hours of [1, 2]) {
      const arrivesBy = world.daemon.now() + hours * 60 * minuteMs;
      const order = { kind: 'expect-top-up', account: 'otp', amountMicros: units(10), comment: '' } as const;
      giveAtOnce(world, { ...order, id: `${hours}`, arrivesBy });
    }
    await world.pass(90 * minuteMs);
    expect(tool.woken).toEqual(['lowwater/otp/late-top-up']);
    await world.pass(40 * minuteMs);
    expect(tool.woken).toHaveLength(2);
    await read(world, 920);
    expect([...tool.shown]).toEqual([]);
  });

  test('wakes people when nobody has it any more who had taken it', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 20);
    await acknowledge(world);
    giveAtOnce(world, { kind: 'unacknowledge', account: 'otp', rule: 'sms-low' });
    await world.pass(2 * 3_600_000);
    expect(tool.woken).toHaveLength(2);
    await read(world, 900);
    expect([...tool.shown]).toEqual([]);
  });

  test('that was away hears of the next incident as news, though it missed the end of the one before', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 100);
    await acknowledge(world);
    world.channel('ops').mood = 'down';
    await read(world, 900);
    await read(world, 20);
    world.channel('ops').mood = 'up';
    await world.pass(6 * minuteMs);
    expect(tool.woken).toHaveLength(2);
    expect(tool.about(alert).some(({ taken }) => !taken)).toBe(true);
    await read(world, 900);
    expect([...tool.shown]).toEqual([]);
  });

  test('ends what a daemon told from memory before it was killed', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 400);
    await dieHavingRead(world, [100, 20]);
    await read(world, 900);
    await world.pass(step);
    expect([...tool.shown.keys()].filter((key) => key.startsWith(alert))).toEqual([]);
  });

  test('wakes people for what got worse after a daemon was killed that had told from memory what was less bad', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 400);
    await dieHavingRead(world, [100]);
    const before = tool.woken.length;
    await read(world, 20);
    await world.restart({ downMs: step });
    await world.pass(step);
    expect(tool.woken.length).toBe(before + 1);
    await read(world, 900);
    await world.pass(step);
    expect(tool.about(alert)).toEqual([]);
  });

  test('that refused the end for good keeps the next incident open when it hears of that end after all', async () => {
    const { world, tool } = await worldWith(type);
    await read(world, 100);
    tool.take(alert);
    world.channel('ops').mood = 'dead';
    await acknowledge(world);
    await read(world, 900);
    world.channel('ops').mood = 'up';
    world.news();
    await read(world, 20);
    await world.pass(3 * step);
    expect(world.news().join()).toContain('otp/sms-low resolved');
    expect(tool.about(alert)).toMatchObject([{ taken: false }]);
    await read(world, 900);
    expect(tool.about(alert)).toEqual([]);
  });

  test('that is escalated to after the alert got worse wakes people', async () => {
    const { world } = await worldWith(type);
    const boss = new PagingTool(type);
    world.channel('boss').reader = (message) => boss.receive(message);
    await read(world, 100);
    await acknowledge(world);
    await read(world, 20);
    await world.pass(40 * minuteMs);
    expect(boss.woken).toHaveLength(1);
    expect(boss.about(alert)).toMatchObject([{ taken: false }]);
    await read(world, 900);
    expect([...boss.shown]).toEqual([]);
  });
});

test.each(['pagerduty', 'opsgenie'] as const)(
  '%s leaves in peace who took an empty balance, though it has a milder alert about it open as well',
  async (type) => {
    const { world, tool } = await worldWith(type);
    await read(world, 100);
    await read(world, -5);
    expect(tool.about(alert)).not.toEqual([]);
    await acknowledge(world);
    expect([...tool.shown.values()].filter(({ taken }) => !taken)).toEqual([]);
    await read(world, 100);
    await world.pass(4 * 3_600_000);
    expect([...tool.shown.values()].filter(({ taken }) => !taken)).toEqual([]);
    await read(world, 900);
    expect([...tool.shown]).toEqual([]);
  },
);
