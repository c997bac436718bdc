import { expect, it } from 'vitest';
import type { Incident } from '../../src/domain/alert.ts';
import type { ReplayedIncident } from '../../src/replay/incident-book.ts';
import { storedPast } from '../../src/replay/past.ts';
import { createReplay } from '../../src/replay/replay.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import {
  belowRule,
  dropRule,
  hourMs,
  idleRule,
  minuteMs,
  runwayRule,
  staleRule,
  topUpRule,
  units,
} from '../support/account-facts.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeRoute } from '../support/settings.ts';
import { startWorld, step } from '../support/world.ts';

const ids = ['a', 'b', 'c'];
// No time is a multiple of the polls': which of two things at one instant comes first is not known.
const rules = [
  belowRule({ id: 'low', thresholds: { warning: units(300), critical: units(100) }, recoverForMs: 911_321 }),
  belowRule({ id: 'late', thresholds: { warning: units(200) }, forMs: 617_123 }),
  runwayRule({ id: 'run', thresholds: { warning: 12 * hourMs, critical: 3 * hourMs } }),
  dropRule({ id: 'drop' }),
  topUpRule({ id: 'topped' }),
  idleRule({ id: 'idle' }),
  staleRule({ id: 'old', afterMs: 13 * minuteMs + 777 }),
];
const escalate = { afterMs: 31 * minuteMs + 3131, channels: ['boss'], repeatEveryMs: null };
const route = makeRoute({ channels: ['ops'], repeatEveryMs: hourMs + 71_311, escalate });
const night = {
  match: { account: ['b'] },
  cron: '7 */6 * * *',
  timezone: 'UTC',
  durationMs: hourMs,
  comment: '',
};

it.each([1, 3])('a replay finds the incidents and counts the messages of the drawn day %i', async (seed) => {
  const random = seededRandom(seed);
  const draw = <T>(...these: readonly T[]): T => these[Math.floor(random.fraction() * these.length)] as T;
  const accounts = ids.map((id) => makeAccount(id));
  const parts = { accounts, rules, channels: ['ops', 'boss'], routes: [route], silences: [night] };
  const world = await startWorld(parts, { sleepMs: step });
  const left = new Map(ids.map((id) => [id, 300 + 300 * random.fraction()]));
  for (let poll = 0; poll < 288; poll++) {
    if (random.fraction() < 0.02) world.provider.breakDown(draw('timeout', 'auth_failed', 'http_error'));
    else if (random.fraction() < 0.3) world.provider.recover();
    for (const [id, before] of left) {
      const now =
        before - draw(0, 1, 3, 8) * random.fraction() + (random.fraction() < 0.012 ? draw(20, 900) : 0);
      left.set(id, now);
      world.provider.set(id, Math.round(now * 100) / 100);
    }
    await world.pass(step);
  }
  await world.pass(step - 2000);
  const pasts = accounts.map((account) => storedPast(world.store, account, { since: null, now: world.now }));
  const { settings } = world;
  const replay = createReplay({ settings, calendar: cronCalendar, pasts });
  const found = await replay.advance(Number.POSITIVE_INFINITY);
  const lived = await world.store.incidents({});
  const words = ({ account, rule, firedAt, resolvedAt }: Incident | ReplayedIncident, severity: string) =>
    `${account}/${rule} ${severity} ${firedAt} ${resolvedAt}`;
  expect(lived.length).toBeGreaterThan(5);
  expect(found?.incidents.map((it) => words(it, it.severity)).toSorted()).toEqual(
    lived.map((it) => words(it, it.worstSeverity)).toSorted(),
  );
  const sent = parts.channels.map((name) => world.channel(name).delivered.length);
  expect(parts.channels.map((name) => found?.messages.byChannel.get(name) ?? 0)).toEqual(sent);
});
