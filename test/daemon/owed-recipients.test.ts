import { describe, expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { wordMessage } from '../support/recording-channel.ts';
import { read, startWorld, type World } from '../support/world.ts';

const parts = { rules: [smsLow({ warning: units(200) })], channels: ['ops', 'finance'] };
const greylisted = { owes: ['new@example.com'], afterMs: 5 * minuteMs };

describe('a recipient that is refused for now while others got the message', () => {
  test('is tried again alone, until it takes it; nobody else hears of it twice', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = greylisted;
    await read(world, 100);
    await world.pass(hourMs);
    world.channel('ops').mood = 'up';
    await world.pass(10 * minuteMs);
    const [first, ...later] = recipientsOf(world);
    expect(first).toBe('all');
    expect(new Set(later)).toEqual(new Set(['new@example.com']));
    // An hour of greylisting, and the one that was taken.
    expect(later.length).toBeGreaterThanOrEqual(12);
    const tries = later.length;
    await world.pass(2 * hourMs);
    expect(recipientsOf(world)).toHaveLength(tries + 1);
    expect(new Set(world.channel('ops').attempts.map(({ message }) => message.id)).size).toBe(1);
    expect(world.news('finance')).toEqual(['otp/sms-low firing warning']);
  });

  test('begins after a second where nothing longer is asked for', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = { owes: ['new@example.com'] };
    await read(world, 100);
    await world.pass(minuteMs);
    const [first, second] = world.channel('ops').attempts;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(1000);
  });

  test('holds up nothing that comes later, and then hears of the end as well', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = greylisted;
    await read(world, 100);
    world.channel('ops').mood = 'up';
    world.provider.set('otp', 1000);
    await world.pass(20 * minuteMs);
    const notified = world
      .channel('ops')
      .attempts.map(({ message }) => [
        message.recipients?.join() ?? 'all',
        message.kind === 'incidents' ? message.items.flatMap(({ kinds }) => kinds).join('+') : '',
      ]);
    expect(notified).toEqual(
      expect.arrayContaining([
        ['all', 'firing'],
        ['all', 'resolved'],
        ['new@example.com', 'firing+resolved'],
      ]),
    );
    expect(notified).toHaveLength(3);
  });

  test('reads all that happened meanwhile as one message in order, and the others nothing twice', async () => {
    const rules = [smsLow({ critical: units(200) })];
    const world = await startWorld({ ...parts, rules, accounts: ['otp', 'ads'] });
    const away = ['+4915112345678'];
    world.channel('ops').mood = { owes: away, afterMs: 20 * minuteMs };
    await read(world, 80);
    world.channel('ops').mood = 'up';
    await read(world, 900);
    world.provider.set('ads', 80);
    await read(world, 20);
    await world.pass(30 * minuteMs);
    expect(readBy(world, 'others')).toEqual([
      'otp/sms-low firing critical',
      'otp/sms-low resolved critical (topped-up)',
      'ads/sms-low firing critical; otp/sms-low firing critical',
    ]);
    expect(readBy(world, away[0] ?? '')).toEqual([
      'ads/sms-low firing critical; otp/sms-low firing critical; otp/sms-low firing+resolved critical (topped-up)',
    ]);
    await read(world, 900);
    expect(readBy(world, away[0] ?? '').at(-1)).toBe('otp/sms-low resolved critical (topped-up)');
  });

  test('that is away for a day hears what is fresh, after it was reported', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = { owes: ['new@example.com'] };
    await read(world, 100);
    world.channel('ops').mood = 'up';
    world.channel('ops').moodFor = (message) => (message.recipients === undefined ? 'up' : 'down');
    await world.pass(20 * hourMs);
    await read(world, 900);
    await read(world, 100);
    await world.pass(5 * hourMs);
    expect(world.news('finance').join('\n')).toContain('@lowwater/channel-failed:ops firing warning');
    world.channel('ops').moodFor = null;
    await world.pass(10 * minuteMs);
    expect(readBy(world, 'new@example.com').at(-1)).toMatch(/^otp\/sms-low firing\+reminder warning/);
  });

  test('keeps no reminder from the others', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = greylisted;
    await read(world, 100);
    await world.pass(4 * hourMs + minuteMs);
    const kinds = world
      .channel('ops')
      .attempts.flatMap(({ message }) =>
        message.kind === 'incidents' && message.recipients === undefined
          ? message.items.flatMap((it) => it.kinds)
          : [],
      );
    expect(kinds).toEqual(['firing', 'reminder']);
  });

  test('is reported as refused when a day was not enough, and the message counts as delivered', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = greylisted;
    await read(world, 100);
    world.channel('ops').mood = 'down';
    await world.pass(dayMs + hourMs);
    expect(world.news('finance').join('\n')).toContain('@lowwater/channel-failed:ops firing warning');
    expect(world.news('finance').join('\n')).not.toContain('critical');
  });

  test('is remembered over a restart', async () => {
    const world = await startWorld(parts);
    world.channel('ops').mood = greylisted;
    await read(world, 100);
    await world.restart({ downMs: 1000 });
    world.channel('ops').mood = 'up';
    await world.pass(10 * minuteMs);
    expect(recipientsOf(world)).toEqual(['all', 'new@example.com']);
  });
});

describe('a message that some refuse for good and the last one for now', () => {
  const nobody = {
    refusesAll: ['a@example.com', 'b@example.com'],
    others: ['new@example.com'],
    afterMs: 10 * minuteMs,
  };
  const two = { ...parts, rules: [smsLow({ critical: units(200) })], accounts: ['otp', 'ads'] };

  test('waits for that one alone, is reported at once, and holds up no alert that comes later', async () => {
    const world = await startWorld(two);
    world.channel('ops').moodFor = ({ recipients }) => (recipients === undefined ? nobody : 'up');
    await read(world, 100);
    expect(recipientsOf(world)).toEqual(['all']);
    expect(world.news('finance')).toEqual([
      'otp/sms-low firing critical',
      '@lowwater/channel-failed:ops firing warning',
    ]);
    world.channel('ops').moodFor = null;
    world.channel('ops').mood = { refuses: nobody.refusesAll };
    world.provider.set('ads', 100);
    await world.pass(20 * minuteMs);
    expect(world.news()).toEqual(['ads/sms-low firing critical', 'otp/sms-low firing critical']);
    expect(recipientsOf(world)).toEqual(['all', 'all', 'new@example.com']);
    expect(world.news('finance')).toEqual(['ads/sms-low firing critical']);
  });

  test.each(['dead', 'down'] as const)(
    'counts as heard by nobody where that one is %s too, and is sent again once the channel works',
    async (mood) => {
      const world = await startWorld(two);
      world.channel('ops').mood = nobody;
      await read(world, 100);
      world.channel('ops').mood = mood;
      await world.pass(25 * hourMs);
      expect(world.news('finance').join()).toContain('@lowwater/channel-failed:ops worse critical');
      world.channel('ops').mood = 'up';
      world.news();
      await world.pass(5 * hourMs);
      expect(world.news().join()).toContain('otp/sms-low firing');
      expect(readBy(world, 'others').join()).toContain('otp/sms-low firing');
    },
  );

  test('tells everybody once, and whole, that its alert fired and ended where it is over by then', async () => {
    const world = await startWorld(two);
    world.channel('ops').mood = nobody;
    await read(world, 100);
    world.channel('ops').mood = 'up';
    const atOnce = await read(world, 1000);
    await world.pass(hourMs);
    const told = ['otp/sms-low firing+resolved critical (topped-up)'];
    expect([...atOnce, ...world.news()]).toEqual(told);
    expect(recipientsOf(world)).toEqual(['all', 'all']);
  });

  test('tells the last one the end once where the others refuse that for good as well', async () => {
    const world = await startWorld(two);
    world.channel('ops').moodFor = ({ recipients }) => (recipients === undefined ? nobody : 'up');
    await read(world, 100);
    await read(world, 1000);
    await world.pass(6 * hourMs);
    expect(readBy(world, 'new@example.com')).toEqual(['otp/sms-low firing+resolved critical (topped-up)']);
    expect(recipientsOf(world)).toEqual(['all', 'all', 'new@example.com']);
  });

  test('goes to everybody again with what got worse, and to the last one in one message', async () => {
    const world = await startWorld({
      ...two,
      rules: [smsLow({ warning: units(200), critical: units(50) })],
    });
    world.channel('ops').mood = nobody;
    await read(world, 100);
    world.channel('ops').mood = 'up';
    const atOnce = await read(world, 20);
    await world.pass(hourMs);
    expect([...atOnce, ...world.news()]).toEqual(['otp/sms-low firing+worse critical']);
    expect(recipientsOf(world)).toEqual(['all', 'all']);
  });

  test('goes to everybody again at the pace of reminders while the last one waits', async () => {
    const world = await startWorld(two);
    world.channel('ops').mood = nobody;
    await read(world, 100);
    world.channel('ops').moodFor = ({ recipients }) => (recipients === undefined ? 'up' : 'down');
    await world.pass(4 * hourMs + minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing+reminder critical']);
    expect(recipientsOf(world).filter((to) => to === 'all')).toHaveLength(2);
  });

  test('is retracted by a silence', async () => {
    const world = await startWorld(two);
    world.channel('ops').mood = nobody;
    await read(world, 100);
    world.channel('ops').mood = 'up';
    const silence = { match: { account: ['otp'] }, everything: false, comment: '' };
    const span = { startsAt: world.now, endsAt: world.now + hourMs };
    await give(world.views, { kind: 'silence', ...silence, ...span }, 'ada');
    await world.pass(59 * minuteMs);
    expect(world.news()).toEqual([]);
    await world.pass(5 * minuteMs);
    expect(world.news()).toEqual(['otp/sms-low firing critical']);
  });
});

describe('what one recipient is still owed together with what the others refused for good', () => {
  const last = 'new@example.com';

  /** The others have read the beginning, and nobody that it got worse; the last one is due when what the next poll brings still waits. */
  async function worldOfBoth(): Promise<World> {
    const rules = [smsLow({ warning: units(200), critical: units(50) })];
    const world = await startWorld({ ...parts, rules });
    world.channel('ops').mood = { owes: [last], afterMs: 10 * minuteMs - 3000 };
    await read(world, 100);
    world.channel('ops').moodFor = ({ recipients }) =>
      recipients === undefined ? { refusesAll: ['a@example.com'], others: [last], afterMs: hourMs } : 'down';
    await read(world, 20);
    expect(readBy(world, 'others')).toEqual(['otp/sms-low firing warning']);
    return world;
  }

  test('is not retracted by a silence: whoever read the beginning reads the end', async () => {
    const world = await worldOfBoth();
    await read(world, 20);
    const silence = { match: { account: ['otp'] }, everything: false, comment: '' };
    const span = { startsAt: world.now, endsAt: world.now + hourMs };
    await give(world.views, { kind: 'silence', ...silence, ...span }, 'ada');
    world.channel('ops').moodFor = null;
    world.channel('ops').mood = 'up';
    await read(world, 1000);
    await world.pass(2 * hourMs);
    expect(readBy(world, 'others').at(-1)).toContain('resolved');
  });

  test('goes to everybody under another id than the one that the others have', async () => {
    const world = await worldOfBoth();
    world.channel('ops').moodFor = null;
    world.channel('ops').mood = 'up';
    await read(world, 1000);
    await world.pass(hourMs);
    const toAll = world.channel('ops').delivered.filter(({ message }) => message.recipients === undefined);
    expect(toAll.map(({ message }) => wordMessage(message))).toEqual([
      'otp/sms-low firing warning',
      'otp/sms-low firing+worse+resolved critical (topped-up)',
    ]);
    expect(new Set(toAll.map(({ message }) => message.id)).size).toBe(2);
  });
});

test('a receiver that answers with something that is not its own is tried three times at most, then reported', async () => {
  const world = await startWorld(parts);
  world.channel('ops').mood = { strangeTries: 3 };
  await read(world, 100);
  await world.pass(hourMs);
  const alerts = world
    .channel('ops')
    .attempts.filter(({ message }) => message.kind === 'incidents' && message.items[0]?.rule === 'sms-low');
  expect(alerts).toHaveLength(3);
  expect(world.news('finance')).toEqual([
    'otp/sms-low firing warning',
    '@lowwater/channel-failed:ops firing critical',
  ]);
});

/** What a recipient who was owed messages read, or those who never were. */
function readBy(world: World, who: string): readonly string[] {
  return world.channel('ops').delivered.flatMap(({ message, mood }) => {
    const isOwed = typeof mood === 'object' && 'owes' in mood && mood.owes.includes(who);
    const goesTo =
      message.recipients === undefined
        ? who === 'others' || !(message.except?.includes(who) === true || isOwed)
        : message.recipients.includes(who);
    // Of two that are as urgent either may come first.
    return goesTo ? [wordMessage(message).split('; ').toSorted().join('; ')] : [];
  });
}

function recipientsOf(world: World): string[] {
  return world.channel('ops').attempts.map(({ message }) => message.recipients?.join() ?? 'all');
}
