import { describe, expect, test } from 'vitest';
import { type Alert, type Incident, selfAccountId } from '../../src/domain/alert.ts';
import { newNotification } from '../../src/domain/outbox.ts';
import { freshAccount } from '../../src/domain/reading.ts';
import { dayMs, hourMs, minuteMs } from '../../src/domain/time.ts';
import { decideTouched } from '../../src/engine/announce.ts';
import { lastDelivery, recordDelivery } from '../../src/engine/delivery-ended.ts';
import { enqueue, pausedForPoll } from '../../src/engine/queue.ts';
import { followClock, livedNote, livedUntil, startMonitor } from '../../src/engine/restore.ts';
import { learnFromHistory, loadHistory } from '../../src/engine/spending.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import { inactiveAlert } from '../../src/engine/transition.ts';
import { wordStory } from '../../src/messages/item-story.ts';
import type { Delivery } from '../../src/ports/channel.ts';
import { type StoredState, setBackNote } from '../../src/ports/store.ts';
import type { BudgetRule } from '../../src/rules/budget.ts';
import { channelFailed, channelFailedRule } from '../../src/rules/self-alert-kinds.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { nothingStored } from '../../src/views/empty-reader.ts';
import { english } from '../../src/wording/language.ts';
import { accountState, incident, noon, notified } from '../store/sqlite/batches.ts';
import { moneyBase, readingAt, smsLow, units } from '../support/account-facts.ts';
import { buildItem, messageNow } from '../support/messages.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeAccount, makeRoute, makeSettings } from '../support/settings.ts';

/** What a daemon makes of an open incident of an account that its own configuration does not have. */
function restoreWithout(takeOver: { readonly node: string; readonly from: string } | null) {
  const open = incident('one');
  const alert = inactiveAlert({ account: 'otp', rule: 'sms-low', type: 'below', balance: 'sms' });
  const state = startMonitor({
    settings: makeSettings({}),
    stored: {
      ...nothingStored,
      accounts: [accountState('otp')],
      alerts: [{ ...alert, state: 'firing', incident: 'one', breachedSince: noon }],
      incidents: [open],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now: noon + 1000,
    takeOver,
  });
  return state.incidents.get('one')?.resolution;
}

const takeOver = { node: 'south', from: 'north' };

test('what a new owner with another configuration does not know is closed, and says which node took the accounts from which', () => {
  const resolution = restoreWithout(takeOver);
  expect(resolution).toEqual({ kind: 'rule-removed', heir: takeOver });
  const item = buildItem({ kinds: ['resolved'], resolvedAt: messageNow, resolution: resolution ?? null });
  expect(
    wordStory(item, { language: english, currency: 'EUR', now: messageNow, timezone: 'UTC' }).join(' '),
  ).toContain(
    'It went with a take-over: south took the accounts over from north and has another configuration.',
  );
});

test('the hours in which an owner polled nothing count in a take-over, as the others saw that it lived', () => {
  const alert = inactiveAlert({ account: 'otp', rule: 'sms-low', type: 'below', balance: 'sms' });
  const breachedSince = noon + minuteMs;
  const stored = {
    ...nothingStored,
    accounts: [accountState('otp')],
    alerts: [{ ...alert, state: 'pending' as const, breachedSince }],
  };
  const now = noon + 10 * hourMs;
  const restored = (seen: StoredState) =>
    startMonitor({
      settings: makeSettings({ rules: [smsLow({ warning: units(200) })] }),
      ...{ stored: seen, now, calendar: cronCalendar, random: seededRandom() },
    });
  const since = (state: MonitorState) => state.alerts.get('otp', 'sms-low')?.breachedSince;
  expect(since(restored(stored))).toBeGreaterThan(breachedSince + 9 * hourMs);
  const heir = restored(livedUntil(stored, now - 10_000));
  expect(since(heir)).toBe(breachedSince);
  expect(heir.endedCleanly).toBe(false);
});

test('what a restarted daemon does not know any more went with its configuration', () => {
  expect(restoreWithout(null)).toEqual({ kind: 'rule-removed' });
});

test('a restarted daemon knows when each channel was last reached, and which one fails', () => {
  const start = (notes: Readonly<Record<string, string>>) =>
    startMonitor({
      settings: makeSettings({ channels: ['ops', 'pager'] }),
      stored: { ...nothingStored, notes },
      calendar: cronCalendar,
      random: seededRandom(),
      now: noon,
    });
  const state = start({});
  const item = { incident: 'one', account: 'otp', rule: 'sms-low', kind: 'firing', at: noon } as const;
  const send = (channel: string, delivery: Delivery, now: number): void => {
    const message = newNotification({ id: `m-${now}`, channel, items: [item], now, dueAt: now });
    recordDelivery(state, { message, wasUncertain: false, subject: null, delivery }, now);
  };
  send('ops', { kind: 'delivered', said: 'ok' }, noon);
  send('pager', { kind: 'delivered', said: 'ok' }, noon + 1000);
  send('pager', { kind: 'retry', certainty: 'refused', reason: 'the receiver answered 503' }, noon + 2000);
  const restarted = start(
    Object.fromEntries([...state.notes.values()].map(({ name, value }) => [name, value])),
  );
  expect(lastDelivery(restarted, 'ops')).toEqual({ lastDeliveredAt: noon, lastError: null });
  expect(lastDelivery(restarted, 'pager')).toEqual({
    lastDeliveredAt: noon + 1000,
    lastError: 'the receiver answered 503',
  });
});

test('after a long pause messages wait a minute at most for the first poll, also where the clock is set back by a day meanwhile', () => {
  const item = { incident: 'one', account: 'otp', rule: 'sms-low', kind: 'firing', at: noon } as const;
  const now = noon + hourMs;
  const state = startMonitor({
    settings: makeSettings({ rules: [smsLow({ warning: units(200) })] }),
    stored: {
      ...nothingStored,
      accounts: [accountState('otp')],
      incidents: [incident('one')],
      messages: [newNotification({ id: 'm-1', channel: 'ops', items: [item], now: noon, dueAt: noon })],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now,
  });
  const pausedAt = (at: number) => pausedForPoll(state, 'ops', at).length;
  expect([now + minuteMs - 1, now + minuteMs].map(pausedAt)).toEqual([1, 0]);
  followClock(state, -dayMs, now - dayMs);
  expect([now - dayMs + minuteMs - 1, now - dayMs + minuteMs].map(pausedAt)).toEqual([1, 0]);
});

test('what is new joins no message that waits behind a full one that is paused for a poll', () => {
  const ids = Array.from({ length: 251 }, (_, index) => `account-${index}`);
  const now = noon + hourMs;
  const about = (account: string, id = `of-${account}`) =>
    ({ incident: id, account, rule: 'sms-low', kind: 'firing', at: now }) as const;
  const items = ids.slice(1).map((id) => about(id));
  const alert = (account: string) =>
    inactiveAlert({ account, rule: 'sms-low', type: 'below', balance: 'sms' });
  const state = startMonitor({
    settings: makeSettings({
      accounts: ids.map((id) => makeAccount(id)),
      rules: [smsLow({ warning: units(200) })],
    }),
    stored: {
      ...nothingStored,
      accounts: ids.map((id) => accountState(id)),
      alerts: ids.slice(1).map((id) => ({ ...alert(id), state: 'firing', incident: `of-${id}` })),
      incidents: ids.slice(1).map((id) => incident(`of-${id}`, { account: id })),
      messages: [newNotification({ id: 'full', channel: 'ops', items, now: noon, dueAt: noon })],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now,
  });
  state.unconfirmed.delete('account-1');
  const end = enqueue(state, 'ops', { ...about('account-1'), kind: 'resolved' }, now);
  const fresh = enqueue(state, 'ops', about('account-0'), now);
  const again = enqueue(state, 'ops', about('account-1', 'next'), now);
  expect(new Set(['full', end, fresh]).size).toBe(3);
  expect(again).toBe(end);
});

/** A daemon died an hour ago, just after a reload had exchanged all accounts of its file; none of the new ones was polled. */
function restoreUnpolled() {
  const [day, hour] = [noon - dayMs, noon - hourMs];
  return startMonitor({
    settings: makeSettings({ accounts: [makeAccount('new')] }),
    stored: {
      ...nothingStored,
      accounts: [{ ...freshAccount('new', hour) }],
      notes: { [livedNote]: String(day) },
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now: noon,
  });
}

test('an account that a reload brought was watched from then on, though the daemon died before it polled anything', () => {
  const unwatched = restoreUnpolled().accounts.get('new')?.poll.unwatchedMs;
  expect(unwatched).toBeGreaterThan(0);
  expect(unwatched).toBeLessThanOrEqual(hourMs);
});

test('a daemon that died lived when it told something last, though nothing was read or pushed for days before', () => {
  const now = noon + hourMs;
  const day = { ...accountState('otp'), polledAt: noon - 3 * dayMs, firstSeenAt: noon - 3 * dayMs };
  const state = startMonitor({
    settings: makeSettings({ rules: [smsLow({ warning: units(200) })] }),
    stored: {
      ...nothingStored,
      accounts: [day],
      incidents: [incident('one', { notified: { ops: notified(false) } })],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now,
  });
  expect(state.lastRunEndedAt).toBe(noon);
  expect(state.incidents.get('one')?.notified.ops?.pausedMs).toBeLessThanOrEqual(hourMs);
});

test('an account that came back before a restart, and was not read since, gets its history', () => {
  expect(restoreUnpolled().unloaded).toContain('new');
});

/** An alert of `otp` that fires under an incident `one`. */
const firing: Alert = {
  ...inactiveAlert({ account: 'otp', rule: 'sms-low', type: 'below', balance: 'sms' }),
  ...{ state: 'firing', severity: 'critical', incident: 'one', breachedSince: noon },
};

test('a reader by a part of the settings closes nothing that they do not name: accounts, rules and channels', () => {
  const channel = channelFailedRule('boss');
  const failed = inactiveAlert({
    account: selfAccountId,
    rule: channel,
    type: channelFailed.type,
    balance: null,
  });
  const state = startMonitor({
    settings: makeSettings({ accounts: ['other'] }),
    stored: {
      ...nothingStored,
      accounts: [accountState('otp')],
      alerts: [
        firing,
        { ...failed, state: 'firing', severity: 'critical', incident: 'two', breachedSince: noon },
      ],
      incidents: [
        incident('one', { rule: 'sms-low', notified: { boss: notified(false) } }),
        incident('two', { account: selfAccountId, rule: channel, type: channelFailed.type, balance: null }),
      ],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now: noon + 1000,
    isOfPart: true,
  });
  expect([...state.alerts.values()].map(({ rule, state: its }) => [rule, its])).toEqual(
    expect.arrayContaining([
      ['sms-low', 'firing'],
      [channel, 'firing'],
    ]),
  );
  expect([...state.incidents.values()].map(({ resolvedAt }) => resolvedAt)).toEqual([null, null]);
  expect(state.incidents.get('one')?.notified).toHaveProperty('boss');
});

describe('a message, or a part of the log, that was lost to damage', () => {
  const route = makeRoute({ channels: ['ops'] });
  /** Told at noon; whether in the one that was lost, which was put out at `lostAt`, nobody knows. */
  const kindsAfter = (
    its: Partial<Incident>,
    { lostAt, lost = 'lost', source = 'message' }: { lostAt: number; lost?: string; source?: string },
  ): readonly string[] => {
    const open = incident('one', {
      severity: 'critical',
      rises: 2,
      notified: { ops: { ...notified(its.resolvedAt !== undefined), severity: 'critical', rises: 2 } },
      ...its,
    });
    const state = startMonitor({
      settings: makeSettings({
        rules: [smsLow({ warning: units(200), critical: units(50) })],
        routes: [route],
      }),
      stored: {
        ...nothingStored,
        accounts: [accountState('otp')],
        alerts: open.resolvedAt === null ? [firing] : [],
        incidents: [open],
        damagedRecords: [
          { source, key: lost, second: null, body: '{', reason: 'it is not JSON', at: lostAt },
        ],
      },
      calendar: cronCalendar,
      random: seededRandom(),
      now: noon + 1000,
    });
    decideTouched(state, noon + 1000);
    state.touched.add('one');
    decideTouched(state, noon + 1000);
    return [...state.messages.values()].flatMap(({ items }) =>
      items.filter((item) => item.incident === 'one').map(({ kind }) => kind),
    );
  };
  const over = { resolvedAt: noon, resolution: { kind: 'recovered' } } as const;

  test.each([
    [
      'the first about what is only information makes it told as new',
      { severity: 'info' },
      { lostAt: noon, lost: 'message-1' },
      ['firing'],
    ],
    ['the first about anything else may have been read', {}, { lostAt: noon, lost: 'message-1' }, ['worse']],
    ['a later one may have said that it got worse', {}, { lostAt: noon }, ['worse']],
    ['a later one may have said that it is over', over, { lostAt: noon - 1 }, ['resolved']],
    ['nothing is said again that was told before it was put out', {}, { lostAt: noon + 1 }, []],
    ['nor that it is over', over, { lostAt: noon + 1 }, []],
    ['a log may have held that its end was told', {}, { lostAt: 0, source: 'write-ahead log' }, ['worse']],
  ] as const)('%s', (_, its, lost, kinds) => {
    expect(kindsAfter(its, lost)).toEqual(kinds);
  });
});

describe('what fires goes on under its incident though the record of it is damaged', () => {
  const route = makeRoute({
    match: { labels: { team: ['login'] } },
    channels: ['ops'],
    escalate: { afterMs: hourMs, channels: ['boss'] },
  });
  const restore = (now: number) =>
    startMonitor({
      settings: makeSettings({
        accounts: [makeAccount('otp', { labels: { team: 'login' } })],
        channels: ['ops', 'boss', 'sales'],
        rules: [smsLow({ warning: units(200), critical: units(50) })],
        routes: [route, makeRoute({ channels: ['sales'] })],
      }),
      stored: { ...nothingStored, accounts: [accountState('otp')], alerts: [firing] },
      calendar: cronCalendar,
      random: seededRandom(),
      now,
    });
  const toldBy = (state: MonitorState, now: number) => {
    state.messages.clear();
    state.touched.add('one');
    decideTouched(state, now);
    return [...state.messages.values()].flatMap(({ channel, items }) =>
      items.filter(({ incident }) => incident === 'one').map(({ kind }) => [channel, kind]),
    );
  };

  test('it keeps the labels that routes match, and whoever may have heard of it is told that it got worse', () => {
    const now = noon + minuteMs;
    const state = restore(now);
    expect(state.incidents.get('one')?.labels).toEqual({ team: 'login' });
    expect(toldBy(state, now)).toEqual([['ops', 'worse']]);
    expect(toldBy(state, now)).toEqual([]);
  });

  test('so is whoever it may have been escalated to, and all of them hear the end', () => {
    const now = noon + 2 * hourMs;
    const state = restore(now);
    const kinds = (kind: string) => ['ops', 'boss'].map((channel) => [channel, kind]);
    expect(toldBy(state, now)).toEqual(kinds('worse'));
    const open = state.incidents.get('one');
    if (open === undefined) throw new Error('the incident is gone');
    state.incidents.set('one', { ...open, resolvedAt: now, resolution: { kind: 'recovered' } });
    expect(toldBy(state, now)).toEqual(kinds('resolved'));
  });
});

test('it is noted when the clock was set back, once for steps that follow one another; a sleep and a small step are not', () => {
  const state = restoreUnpolled();
  const noted = () => JSON.parse(state.notes.get(setBackNote)?.value ?? '[]');
  followClock(state, 8 * hourMs, noon);
  followClock(state, -500, noon);
  expect(noted()).toEqual([]);
  followClock(state, -hourMs, noon);
  followClock(state, -dayMs, noon + minuteMs - dayMs);
  expect(noted()).toEqual([[noon + minuteMs - dayMs, noon + hourMs]]);
  for (let day = 1; day < 40; day += 1) followClock(state, -hourMs, noon + day * dayMs);
  expect(noted()).toHaveLength(20);
  expect(noted().at(-1)).toEqual([noon + 39 * dayMs, noon + 39 * dayMs + hourMs]);
});

test('the end of a `for` comes in time also where the spending is learned anew after the first poll and the next is a day away', () => {
  const budget = { ...moneyBase, id: 'spent', type: 'budget', by: 'spent', per: 'day' } as const;
  const alert = inactiveAlert({ account: 'otp', rule: 'spent', type: 'budget', balance: 'sms' });
  const state = startMonitor({
    settings: makeSettings({
      accounts: [makeAccount('otp', { poll: { kind: 'every', everyMs: dayMs } })],
      rules: [{ ...budget, thresholds: { warning: units(50) }, forMs: hourMs } satisfies BudgetRule],
    }),
    stored: {
      ...nothingStored,
      accounts: [accountState('otp')],
      alerts: [{ ...alert, state: 'pending', severity: 'warning', breachedSince: noon }],
    },
    calendar: cronCalendar,
    random: seededRandom(),
    now: noon + 1000,
  });
  const account = state.accounts.get('otp');
  if (account === undefined) throw new Error('the account is gone');
  const readings = [100, 5].map((sms, index) =>
    readingAt(index - 1, sms, { at: noon + (index - 1) * minuteMs }),
  );
  loadHistory(state, account, { readings, areAll: false });
  expect(account.changesAt).toBeGreaterThan(noon + dayMs);
  const learning = learnFromHistory(state, account, noon + 1000);
  learning.take(readings);
  learning.finish();
  expect(account.changesAt).toBeLessThan(noon + hourMs + minuteMs);
});
