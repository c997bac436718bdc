import { describe, expect, test } from 'vitest';
import type { IncidentMessage, Message } from '../../src/domain/message.ts';
import { isRefusal } from '../../src/domain/operator.ts';
import { Secret } from '../../src/domain/secret.ts';
import { wordCard } from '../../src/messages/message-wording.ts';
import type { StartedTest } from '../../src/ports/orders.ts';
import { hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { orderOf } from '../support/orders.ts';
import { PagingTool, toolTypes } from '../support/paging-tool.ts';
import { makeRoute, type SettingsParts } from '../support/settings.ts';
import { read, startWorld, type World } from '../support/world.ts';

const parts: SettingsParts = {
  rules: [smsLow({ warning: units(200), critical: units(50) })],
  channels: ['ops', 'boss', 'night'],
  routes: [
    makeRoute({
      match: { severity: ['critical'] },
      channels: ['ops'],
      groupWaitMs: 10_000,
      escalate: { afterMs: 30 * minuteMs, channels: ['boss'] },
    }),
    makeRoute({ channels: ['night'] }),
  ],
};

async function order(world: World, details: object = {}): Promise<StartedTest> {
  const wanted = { kind: 'test-alert', account: 'otp', ...details } as const;
  const [answer] = await world.views.orders([orderOf(wanted, { at: world.now })]);
  if (answer === undefined || isRefusal(answer)) throw new Error(JSON.stringify(answer));
  return answer;
}

function headlines(world: World, channel: string): readonly string[] {
  return world.channel(channel).attempts.map(({ message }) => wordCard(message, 1).headline);
}

describe('a test alert', () => {
  test('goes where a real one of its severity would, after its group wait, and resolves after a minute', async () => {
    const world = await startWorld(parts);
    await read(world, 1000);
    const { told, resolvesAt } = await order(world, { severity: 'critical' });
    await world.pass(9_000);
    expect(world.channel('ops').attempts).toEqual([]);
    await world.pass(2_000);
    expect(await told).toEqual([{ channel: 'ops', delivered: true, reason: null }]);
    expect(headlines(world, 'ops')).toEqual(['TEST · CRITICAL · otp: SMS balance 1,000.00 CNY, below 50.00']);
    expect(resolvesAt - world.now).toBeLessThanOrEqual(minuteMs);
    await world.pass(minuteMs + 10_000);
    expect(headlines(world, 'ops')[1]).toMatch(/^TEST · RESOLVED · otp/);
    await world.pass(2 * hourMs);
    expect(headlines(world, 'ops')).toHaveLength(2);
    expect([...headlines(world, 'boss'), ...headlines(world, 'night')]).toEqual([]);
  });

  test('beside an open alert of the same rule claims nothing about it as it ends', async () => {
    const world = await startWorld(parts);
    await read(world, 30);
    await world.pass(minuteMs);
    await order(world, { severity: 'critical' });
    await world.pass(2 * minuteMs);
    expect(headlines(world, 'ops').slice(1)).toEqual([
      'TEST · CRITICAL · otp: SMS balance 30.00 CNY, below 50.00',
      'TEST · RESOLVED · otp: the test of rule sms-low is over',
    ]);
  });

  test('keeps the pace of a channel together with all else that it sends', async () => {
    const world = await startWorld({
      ...parts,
      channels: ['ops'],
      routes: [makeRoute({ channels: ['ops'] })],
    });
    await read(world, 1000);
    for (let count = 0; count < 4; count += 1) await order(world);
    await world.pass(20_000);
    const sentAt = world.channel('ops').attempts.map(({ at }) => at);
    expect(sentAt).toHaveLength(4);
    expect(sentAt.slice(1).every((at, index) => at - (sentAt[index] ?? 0) >= 1000)).toBe(true);
  });

  test('leaves a receiver alone that refused something for now, until that is tried again', async () => {
    const world = await startWorld({
      ...parts,
      channels: ['ops'],
      routes: [makeRoute({ channels: ['ops'] })],
    });
    world.channel('ops').mood = 'down';
    await read(world, 30);
    await world.pass(10 * minuteMs);
    const [waiting] = world.daemon.state.messages.values();
    const restMs = (waiting?.dueAt ?? 0) - world.now;
    expect(restMs).toBeGreaterThan(minuteMs);
    const tried = world.channel('ops').attempts.length;
    world.channel('ops').mood = 'up';
    const { told } = await order(world);
    await world.pass(restMs - 1000);
    expect(await told).toEqual([{ channel: 'ops', delivered: null, reason: null }]);
    expect(headlines(world, 'ops')).toHaveLength(tried);
    await world.pass(5 * minuteMs);
    expect(headlines(world, 'ops').slice(tried).toSorted()).toEqual([
      expect.stringMatching(/^CRITICAL · otp/),
      'TEST · RESOLVED · otp: the test of rule sms-low is over',
    ]);
  });

  test('that is under way as its channel refuses an alert for now puts off nothing else there', async () => {
    const world = await startWorld({
      ...parts,
      channels: ['ops'],
      routes: [makeRoute({ channels: ['ops'] })],
      reports: [{ id: 'often', cron: '* * * * *', timezone: 'UTC', channels: ['ops'] }],
    });
    const ops = world.channel('ops');
    ops.moodFor = ({ kind }) => (kind === 'report' ? 'up' : 'down');
    await read(world, 30);
    await world.pass(10 * minuteMs);
    const waiting = [...world.daemon.state.messages.values()].find(({ attempts }) => attempts > 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    await order(world);
    await world.pass((waiting?.dueAt ?? 0) - world.now - 500);
    ops.hold = promise;
    await world.pass(1000);
    ops.hold = null;
    await world.pass(2000);
    resolve();
    await world.pass(3 * minuteMs);
    const since = world.now - 3 * minuteMs;
    expect(ops.attempts.filter(({ at, message }) => message.kind === 'report' && at > since)).toHaveLength(3);
  });

  test('stores no incident and no message, moves no alert, and stands in the audit', async () => {
    const world = await startWorld(parts);
    await read(world, 1000);
    await order(world);
    await world.pass(2 * minuteMs);
    expect(await world.views.incidents({ limit: 10 })).toEqual([]);
    expect(await world.views.notifications(10)).toEqual([]);
    expect(await world.views.alerts({ all: true })).toEqual([]);
    const entries = await world.views.audit({ since: 0, before: Number.MAX_SAFE_INTEGER, limit: 10 });
    expect(entries).toMatchObject([{ action: 'test-alert', account: 'otp', by: 'ana' }]);
    expect(
      [...world.daemon.state.notes.values()].filter(({ name }) => name.startsWith('test-alert')),
    ).toEqual([]);
  });

  test.each(toolTypes)(
    'opens and closes at %s under a key of its own: what really fires stays open',
    async (type) => {
      const world = await startWorld(parts);
      const tool = new PagingTool(type);
      world.channel('ops').reader = (message) => tool.receive(message);
      await read(world, 20);
      const open = [...tool.shown.keys()];
      expect(open.length).toBeGreaterThan(0);
      await order(world, { severity: 'critical' });
      await world.pass(20_000);
      expect(tool.woken).toHaveLength(2);
      expect([...tool.shown.values()].map(({ urgency }) => urgency)).not.toContain('info');
      await world.pass(2 * minuteMs);
      expect([...tool.shown.keys()]).toEqual(open);
    },
  );

  test('says so in every message, and who ordered it; it offers nothing to acknowledge', async () => {
    const world = await startWorld(parts);
    await order(world);
    await world.pass(2 * minuteMs);
    for (const { message } of world.channel('ops').attempts) {
      const [item] = items(message);
      expect(item).toMatchObject({ acknowledgeUrl: null, mention: true });
      expect(wordCard(message, 1).parts[0]?.lines[0]).toMatch(/^A test that ana ordered: no alert/);
    }
  });

  test('of a budget of which nothing is known yet names it, and no amounts that are not there', async () => {
    const monthly = {
      ...smsLow({ warning: units(500) }),
      id: 'spend',
      type: 'budget',
      per: 'month',
      by: 'spent',
    };
    const world = await startWorld({ rules: [monthly], channels: ['ops'] });
    await order(world, { rule: 'spend' });
    await world.pass(20_000);
    expect(headlines(world, 'ops')).toEqual(['TEST · WARNING · otp: SMS budget']);
  });

  test('of a daemon that was killed is ended by the next one, on every channel that it may have reached', async () => {
    const world = await startWorld(parts);
    const tool = new PagingTool('pagerduty');
    world.channel('ops').reader = (message) => tool.receive(message);
    await order(world, { severity: 'critical' });
    await world.pass(20_000);
    expect(tool.shown.size).toBe(1);
    world.crash();
    world.start();
    await world.pass(30_000);
    expect(tool.shown.size).toBe(0);
    await world.restart({ downMs: minuteMs });
    await world.pass(hourMs);
    expect(headlines(world, 'ops')).toHaveLength(2);
  });

  test('ends once where its end arrived, however often the daemon starts while another channel is down', async () => {
    const world = await startWorld({ ...parts, routes: [makeRoute({ channels: ['ops', 'night'] })] });
    await order(world, { severity: 'critical' });
    await world.pass(30_000);
    world.channel('night').mood = 'down';
    await world.pass(2 * minuteMs);
    expect(headlines(world, 'ops')).toHaveLength(2);
    for (let start = 0; start < 2; start += 1) {
      await world.restart({ downMs: 1000 });
      await world.pass(minuteMs);
    }
    world.channel('night').mood = 'up';
    world.channel('night').news();
    await world.pass(hourMs);
    expect(headlines(world, 'ops')).toHaveLength(2);
    expect(world.channel('night').news()).toHaveLength(1);
  });

  test('is not begun while the database cannot be written: whoever owns the accounts next could not end it', async () => {
    const world = await startWorld(parts);
    await read(world, 1000);
    world.diskFull = true;
    const { told } = await order(world, { severity: 'critical' });
    expect(await told).toEqual([
      { channel: 'ops', delivered: false, reason: expect.stringContaining('the database cannot be written') },
    ]);
    await world.pass(20_000);
    expect(headlines(world, 'ops').filter((headline) => headline.startsWith('TEST'))).toEqual([]);
    world.crash();
    world.diskFull = false;
    world.start();
    await world.pass(2 * minuteMs);
    expect(headlines(world, 'ops').filter((headline) => headline.startsWith('TEST'))).toEqual([]);
  });

  test('is held by a silence as the real one would be, and says so by telling nobody', async () => {
    const world = await startWorld({
      ...parts,
      silences: [
        { match: {}, cron: '0 0 * * *', timezone: 'UTC', durationMs: 24 * hourMs, comment: 'always' },
      ],
    });
    const { told } = await order(world);
    expect(await told).toEqual([]);
    await world.pass(2 * minuteMs);
    expect(headlines(world, 'ops')).toEqual([]);
  });

  test('that a channel refuses says why to who ordered it, and raises no alert elsewhere', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = 'dead';
    const { told } = await order(world, { severity: 'critical' });
    await world.pass(20_000);
    expect(await told).toMatchObject([{ channel: 'ops', delivered: false }]);
    await world.pass(hourMs);
    expect([...headlines(world, 'boss'), ...headlines(world, 'night')]).toEqual([]);
  });

  test('is retried while a channel is down, and its end follows its beginning', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = 'down';
    const { told } = await order(world, { severity: 'critical' });
    await world.pass(30_000);
    expect(await told).toMatchObject([{ channel: 'ops', delivered: false }]);
    world.channel('ops').mood = 'up';
    await world.pass(5 * minuteMs);
    const arrived = world.channel('ops').attempts.filter(({ mood }) => mood === 'up');
    expect(items(arrived.at(-1)?.message).map(({ kinds }) => kinds.at(-1))).toEqual(['resolved']);
  });

  test('takes the channels of a reload, and ends when the clock is set back', async () => {
    const world = await startWorld(parts);
    await order(world, { severity: 'critical' });
    await world.pass(20_000);
    await world.reload(parts);
    world.clock.jump(-hourMs);
    await world.pass(20_000);
    expect(headlines(world, 'ops')).toHaveLength(2);
  });

  test('takes the channels of a reload that comes before it is stored', async () => {
    const world = await startWorld(parts);
    const old = world.channel('ops');
    const started = order(world, { severity: 'critical' });
    world.channels.delete('ops');
    const place = new Secret('https://hooks.example.com/elsewhere');
    const channels = world.settings.channels.map((each) => (each.name === 'ops' ? { ...each, place } : each));
    world.settings = { ...world.settings, channels };
    await world.daemon.reload(world.settings);
    await started;
    await world.pass(2 * minuteMs);
    expect(old.attempts).toEqual([]);
    expect(headlines(world, 'ops')).toHaveLength(2);
  });

  test('ends at a receiver that a reload takes out, and at one that it renames', async () => {
    const world = await startWorld(parts);
    await order(world, { severity: 'critical' });
    await world.pass(20_000);
    const old = world.channel('ops');
    const { settings } = world;
    const away = new Secret('https://hooks.example.com/elsewhere');
    world.channels.delete('ops');
    world.settings = {
      ...settings,
      channels: settings.channels.map((each) => (each.name === 'ops' ? { ...each, place: away } : each)),
    };
    await world.daemon.reload(world.settings);
    await world.pass(2 * minuteMs);
    const kinds = (attempts: typeof old.attempts) =>
      attempts.flatMap(({ message }) => items(message)[0]?.kinds ?? []);
    expect(kinds(old.attempts)).toEqual(['firing', 'resolved']);
    expect(kinds(world.channel('ops').attempts)).toEqual(['firing', 'resolved']);
    await order(world, { severity: 'critical' });
    await world.pass(20_000);
    world.settings = {
      ...world.settings,
      channels: world.settings.channels.map((each) =>
        each.name === 'ops' ? { ...each, name: 'pager' } : each,
      ),
      routes:
        parts.routes?.map((route) => ({
          ...route,
          channels: route.channels.map((name) => (name === 'ops' ? 'pager' : name)),
        })) ?? [],
    };
    await world.daemon.reload(world.settings);
    await world.pass(2 * minuteMs);
    expect(kinds(world.channel('pager').attempts)).toEqual(['resolved']);
  });

  test('of a rule that the account does not have, or that was ordered long ago, is refused', async () => {
    const world = await startWorld(parts);
    const [unknown, old] = await world.views.orders([
      orderOf({ kind: 'test-alert', account: 'otp', rule: 'sms-hihg' }, { at: world.now }),
      orderOf({ kind: 'test-alert', account: 'otp' }, { at: world.now - hourMs }),
    ]);
    expect(unknown).toMatchObject({ refused: 'not-found', why: expect.stringContaining('"sms-low"') });
    expect(old).toMatchObject({ refused: 'not-now' });
  });
});

function items(message: Message | undefined): IncidentMessage['items'] {
  return message?.kind === 'incidents' ? message.items : [];
}
