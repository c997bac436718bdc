import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { describeIncident } from '../../src/daemon/compose.ts';
import { getOrMake } from '../../src/domain/get-or-make.ts';
import { sessionsOf } from '../../src/engine/access.ts';
import { auditOf } from '../../src/engine/audit.ts';
import { observePoll } from '../../src/engine/observe.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import { loadHistory } from '../../src/engine/spending.ts';
import { inactiveAlert } from '../../src/engine/transition.ts';
import { endTurn } from '../../src/engine/turn.ts';
import { wordItem } from '../../src/messages/item-wording.ts';
import { askAtOnce } from '../../src/store/asking.ts';
import { loadState } from '../../src/store/records.ts';
import { openAsk } from '../../src/store/sqlite/connection.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { dayMs, hourMs, minuteMs } from '../support/account-facts.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { makeSettings } from '../support/settings.ts';
import { accountState, batch, incident, message, noon, notified, silence } from './sqlite/batches.ts';
import { makePath, open } from './sqlite/fixtures.ts';

/** Something of everything, with every key that is written only now and then. */
function leaveState(): string {
  const path = makePath();
  const store = open(path);
  const alert = inactiveAlert({ account: 'otp', rule: 'sms-negative', type: 'negative', balance: 'sms' });
  const value = { unit: 'money', micros: -18 } as const;
  const taken = { at: noon, by: 'ada', comment: 'paid', rises: 1, severity: 'warning' } as const;
  const last = { ...notified(false), receipt: 'r', pausedMs: 5, escalatedAt: noon, acknowledgedAt: noon };
  const item = { incident: 'one', account: 'otp', rule: 'sms-negative', kind: 'firing', at: noon } as const;
  const worse = {
    ...item,
    kind: 'worse',
    before: { severity: 'info', rises: 0, acknowledgedAt: noon },
  } as const;
  const entry = { at: noon, by: 'ada', from: null, action: 'x', account: 'otp', rule: null, detail: '' };
  const session = { id: 's', role: 'viewer', endsAt: noon + dayMs, usedAt: noon, from: 'a', agent: 'b' };
  const money = { account: 'otp', balance: 'sms', amountMicros: 5, by: noon + dayMs, orderedAt: noon };
  store.commit(
    batch({
      accounts: [
        accountState('otp', {
          facts: { autoRecharge: true, creditLimitMicros: 5, pendingMicros: 5 },
          purse: { address: 'abcdefgh', key: 'abcdefgh' },
        }),
      ],
      alerts: [
        {
          ...{ ...alert, state: 'firing', severity: 'critical', incident: 'one', breachedSince: noon, value },
          ...{ rising: { severity: 'critical', since: noon }, changedAt: [noon], threshold: value },
        },
      ],
      incidents: [
        incident('one', {
          ...{ rule: 'sms-negative', type: 'negative', acknowledgement: taken, threshold: value },
          ...{ eased: { severity: 'warning', rises: 1 }, notified: { ops: last } },
          facts: [
            { name: 'balance', value: { unit: 'count', count: 1 } },
            { name: 'read at', value: { unit: 'instant', at: noon } },
          ],
        }),
        incident('two', {
          resolvedAt: noon,
          resolution: { kind: 'topped-up', micros: 5 },
          notified: { ops: last },
        }),
      ],
      messages: [
        message('first', { items: [item, worse], owed: ['a'] }),
        message('second', { report: { id: 'weekly', since: noon - dayMs, until: noon } }),
      ],
      silences: [
        { ...silence('night', noon + dayMs), match: { labels: { a: ['b'] }, severity: ['warning'] } },
      ],
      backoffs: [{ group: 'otp', strikes: 2, until: noon + hourMs }],
      notes: {
        ...{
          'set-back': '[[1,2]]',
          'lived-at': String(noon),
          'order-at': String(noon),
          'report:weekly': String(noon),
        },
        ...{ 'digest-key': 'abcdefgh', 'calendar-key': 'abcdefgh', 'receiver:ops': 'abcdefgh' },
        ...{ 'link-keys': `${noon}:abcdefgh`, 'signed-out:s2': String(noon) },
        [`audit:${noon}:x`]: JSON.stringify(entry),
        'session:s': JSON.stringify(session),
        'expected:otp': JSON.stringify([
          { ...money, id: 'x', orderedBy: 'ada', comment: '', receivedMicros: 0 },
        ]),
      },
    }),
  );
  store.close();
  return path;
}

const settings = makeSettings({ accounts: ['otp'] });
const answer = { balances: { sms: 5, voip: 5 }, currency: 'CNY' };

/** A daemon's start on it, a poll, and all that is shown and sent of it. */
function live(stored: ReturnType<ReturnType<typeof openLoad>>): void {
  let now = noon + minuteMs;
  const state = startMonitor({ settings, stored, calendar: cronCalendar, random: seededRandom(), now });
  const account = state.accounts.get('otp');
  if (account === undefined) throw new Error('the account is gone');
  loadHistory(state, account, { readings: [], areAll: true });
  endTurn(state, now);
  now += minuteMs;
  observePoll(state, account, { kind: 'ok', answer, durationMs: 1, usage: {} }, now);
  for (const laterMs of [0, hourMs, 8 * dayMs]) endTurn(state, now + laterMs);
  const frame = { language: 'en', timezone: 'UTC', at: now, publicUrl: null };
  for (const each of state.incidents.values())
    wordItem(describeIncident(state, { incident: each, kinds: ['firing'], now }), frame);
  auditOf(state, { since: 0, before: now, limit: 9 });
  sessionsOf(state);
}

type Row = Record<string, unknown>;
type Change = (source: string, body: string) => string;

/** All that a start reads of the database, which is asked once for each of its questions. */
function openLoad(db: Database.Database) {
  const ask = openAsk(db);
  const answers = new Map<string, readonly Row[]>();
  return (change: Change = (_, body) => body) =>
    askAtOnce(loadState(noon + minuteMs), ({ text, values }) => {
      const source = / FROM (\w+)/.exec(text)?.[1] ?? '';
      const key = source === 'note' ? 'value' : 'body';
      return getOrMake(answers, JSON.stringify([text, values]), () => ask<Row>(text, values)).map((row) =>
        typeof row[key] === 'string' ? { ...row, [key]: change(source, row[key]) } : { ...row },
      );
    });
}

/** The value with one of its parts replaced by something of another type, each way once. */
function* damage(value: unknown): Generator<unknown> {
  for (const other of typeof value === 'string' ? [-1.5, null] : ['x', null, { x: 0 }]) yield other;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, each] of Object.entries(value))
    for (const other of [...damage(each), undefined])
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other };
}

it('whatever type stands anywhere in a record or note, a daemon starts, polls, and says what it left out', () => {
  const db = new Database(leaveState());
  const bodies: { readonly source: string; readonly body: string }[] = [];
  const load = openLoad(db);
  const whole = load((source, body) => {
    bodies.push({ source, body });
    return body;
  });
  expect(whole.damagedRecords).toBeUndefined();
  expect(bodies.length).toBeGreaterThan(18);
  let setAside = 0;
  for (const { source, body } of bodies) {
    const value = body.startsWith('{') || body.startsWith('[') ? JSON.parse(body) : body;
    for (const damaged of damage(value)) {
      const text = typeof damaged === 'string' ? damaged : (JSON.stringify(damaged) ?? '');
      const stored = load((table, known) => (table === source && known === body ? text : known));
      setAside += stored.damagedRecords?.length ?? 0;
      try {
        live(stored);
      } catch (error) {
        throw new Error(`${source}: ${text}`, { cause: error });
      }
    }
  }
  db.close();
  expect(setAside).toBeGreaterThan(500);
});
