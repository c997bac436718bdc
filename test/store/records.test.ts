import { expect, it } from 'vitest';
import type { Alert } from '../../src/domain/alert.ts';
import { describeStores } from './beds.ts';
import {
  accountState,
  batch,
  dayMs,
  incident,
  message,
  minuteMs,
  noon,
  notified,
  silence,
} from './sqlite/batches.ts';

const alert: Alert = {
  account: 'otp',
  rule: 'sms-low',
  type: 'below',
  balance: 'sms',
  state: 'firing',
  severity: 'warning',
  breachedSince: noon,
  recoveringSince: null,
  rising: null,
  incident: 'incident-1',
  value: null,
  threshold: null,
  facts: [],
  changedAt: [noon],
  flappingSince: null,
};

const everything = {
  accounts: [
    accountState('otp'),
    accountState('marketing', { reading: null, failure: 'no answer', outcome: 'timeout' }),
  ],
  spending: [{ account: 'otp', bytes: Buffer.from([1, 2, 3]) }],
  backoffs: [{ group: 'otp', strikes: 3, until: noon + dayMs }],
  alerts: [alert],
  incidents: [incident('incident-1')],
  messages: [message('message-1')],
  silences: [silence('silence-1', noon + dayMs)],
  notes: { 'report:weekly': String(noon), alive: '1' },
};

describeStores('what a daemon goes on from', (makeBed) => {
  it('is after a restart what it was before', async () => {
    const bed = await makeBed();
    const before = await bed.open();
    await before.commit(batch(everything));
    await before.close();
    expect(await (await bed.open()).load()).toEqual({ ...everything, damaged: [] });
  });

  it('is what the last batch said of each thing', async () => {
    const store = await (await makeBed()).open();
    await store.commit(batch(everything));
    const changed = {
      accounts: [accountState('otp', { consecutiveFailures: 4, retryAt: noon })],
      spending: [{ account: 'otp', bytes: Buffer.from([4]) }],
      backoffs: [{ group: 'otp', strikes: 4, until: noon + 2 * dayMs }],
      alerts: [{ ...alert, severity: 'critical' as const }],
      incidents: [incident('incident-1', { rises: 2 })],
      messages: [message('message-1', { attempts: 1 })],
      silences: [silence('silence-1', noon + 2 * dayMs)],
    };
    await store.commit(batch({ ...changed, notes: { alive: '2', 'report:weekly': null } }));
    expect(await store.load()).toEqual({
      ...changed,
      accounts: [changed.accounts[0], everything.accounts[1]],
      notes: { alive: '2' },
      damaged: [],
    });
  });

  it('no longer has what was removed', async () => {
    const store = await (await makeBed()).open();
    await store.commit(batch(everything));
    await store.commit(
      batch({
        removedAccounts: ['marketing'],
        removedAlerts: [{ account: 'otp', rule: 'sms-low' }],
        removedMessages: ['message-1'],
      }),
    );
    const state = await store.load();
    expect(state.accounts.map(({ account }) => account)).toEqual(['otp']);
    expect(state.alerts).toEqual([]);
    expect(state.messages).toEqual([]);
  });

  it('has a removed account again when it comes back', async () => {
    const store = await (await makeBed()).open();
    await store.commit(batch(everything));
    await store.commit(batch({ removedAccounts: ['otp'] }));
    await store.commit(batch({ accounts: [accountState('otp')] }));
    expect((await store.load()).spending).toEqual([]);
    expect((await store.load()).accounts.map(({ account }) => account)).toContain('otp');
  });

  it('has messages in the order in which they were put out, also where the clock was set back in between', async () => {
    const store = await (await makeBed()).open();
    const messages = [message('first'), message('second', { createdAt: noon - dayMs })];
    await store.commit(batch({ messages }));
    await store.commit(batch({ messages: [message('third', { createdAt: noon - 2 * dayMs })] }));
    await store.commit(batch({ messages: [message('first', { attempts: 1 })] }));
    const { messages: waiting } = await store.load();
    expect(waiting.map(({ id }) => id)).toEqual(['first', 'second', 'third']);
  });

  it('leaves out silences that were over a week ago and messages that ended', async () => {
    const store = await (await makeBed()).open();
    await store.commit(
      batch({
        silences: [
          silence('long over', noon - 7 * dayMs),
          silence('over', noon),
          silence('running', noon + 1),
        ],
        messages: [
          message('sent', { state: 'delivered' }),
          message('dead', { state: 'dead' }),
          message('waiting'),
        ],
      }),
    );
    expect((await store.load()).silences.map(({ id }) => id)).toEqual(['over', 'running']);
    expect((await store.silences(noon - 1)).map(({ id }) => id)).toEqual(['over', 'running']);
    expect(await store.silences(noon + 1)).toEqual([]);
    expect((await store.load()).messages.map(({ id }) => id)).toEqual(['waiting']);
  });

  it.each([
    ['is open', incident('i', { notified: { ops: notified(false) } }), true],
    ['is open and nobody was notified', incident('i'), true],
    [
      'ended and a channel was not notified of it',
      incident('i', { resolvedAt: noon, notified: { ops: notified(true), finance: notified(false) } }),
      true,
    ],
    [
      'ended and all that were notified know it',
      incident('i', { resolvedAt: noon, notified: { ops: notified(true) } }),
      false,
    ],
    ['ended before anybody was notified', incident('i', { resolvedAt: noon }), false],
    ['is an event', incident('i', { event: true, notified: { ops: notified(false) } }), false],
  ])(
    'has an incident that %s only where something is left to be said: %#',
    async (_name, stored, expected) => {
      const store = await (await makeBed()).open();
      await store.commit(batch({ incidents: [stored] }));
      expect((await store.load()).incidents).toEqual(expected ? [stored] : []);
      expect(await store.incidents({})).toEqual([stored]);
    },
  );
});

describeStores('incidents', (makeBed) => {
  const early = incident('early', { firedAt: noon, resolvedAt: noon + 10 * minuteMs });
  const open1 = incident('open', { firedAt: noon + 5 * minuteMs, account: 'marketing' });
  const event = incident('event', { firedAt: noon + 20 * minuteMs, event: true, rule: 'top-up' });
  const late = incident('late', { firedAt: noon + 30 * minuteMs, resolvedAt: noon + 30 * minuteMs });

  it.each([
    ['all, newest first', {}, ['late', 'event', 'open', 'early']],
    ['the newest two', { limit: 2 }, ['late', 'event']],
    ['none', { limit: 0 }, []],
    ['of an account', { account: 'marketing' }, ['open']],
    ['of a rule', { account: 'otp', rule: 'top-up' }, ['event']],
    ['open at some time after an instant', { since: noon + 10 * minuteMs }, ['late', 'event', 'open']],
    ['open at some time before an instant', { until: noon + 5 * minuteMs }, ['early']],
    ['open within a span', { since: noon + 9 * minuteMs, until: noon + 20 * minuteMs }, ['open', 'early']],
    [
      'an event at the beginning of the span',
      { since: noon + 20 * minuteMs, until: noon + 21 * minuteMs },
      ['event', 'open'],
    ],
    ['one without length at the beginning', { since: noon + 30 * minuteMs }, ['late', 'open']],
  ])('can be asked for: %s', async (_name, query, expected) => {
    const store = await (await makeBed()).open();
    await store.commit(batch({ incidents: [late, early, event, open1] }));
    expect((await store.incidents(query)).map(({ id }) => id)).toEqual(expected);
  });
});

describeStores('messages', (makeBed) => {
  it('come newest first, a page at a time', async () => {
    const store = await (await makeBed()).open();
    const messages = [1, 2, 3, 4].map((minute) =>
      message(`m${minute}`, { createdAt: noon + minute * minuteMs }),
    );
    await store.commit(batch({ messages }));
    expect((await store.messages(2)).map(({ id }) => id)).toEqual(['m4', 'm3']);
    expect((await store.messages(2, noon + 3 * minuteMs)).map(({ id }) => id)).toEqual(['m2', 'm1']);
  });
});

describeStores('a reader', (makeBed) => {
  it('sees what a running daemon committed, at once', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    const reader = await bed.reader();
    expect((await reader.load()).alerts).toEqual([]);
    await store.commit(batch(everything));
    expect(await reader.load()).toEqual({ ...everything, damaged: [] });
    await reader.close();
  });

  it('does not keep the daemon from writing while it walks through a history', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    await store.commit(batch(everything));
    const reader = await bed.reader();
    const walk = reader.polls({ account: 'otp', since: 0, until: noon })[Symbol.asyncIterator]();
    await walk.next();
    await store.commit(batch({ notes: { alive: '2' } }));
    expect((await reader.load()).notes.alive).toBe('2');
    await reader.close();
  });
});
