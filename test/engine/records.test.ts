import { expect, test } from 'vitest';
import { AlertRecords, Records } from '../../src/engine/records.ts';
import { inactiveAlert } from '../../src/engine/transition.ts';

function records(...rows: [string, string][]): Records<string> {
  const table = new Records<string>();
  for (const [key, row] of rows) table.set(key, row);
  return table;
}

test('a batch is what was set or removed since the last one, as it is when the batch is taken', () => {
  const table = records(['a', 'old'], ['b', 'gone']);
  table.setInMemory('c', 'stored already');
  table.set('a', 'new');
  table.delete('b');
  expect(table.take()).toEqual({ rows: ['new'], removed: ['b'] });
  table.unsaved.stored();
  expect(table.take()).toEqual({ rows: [], removed: [] });
});

test('what changes while a batch is written goes out with the next', () => {
  const table = records(['a', '1']);
  table.take();
  table.set('b', '2');
  table.unsaved.stored();
  expect(table.take().rows).toEqual(['2']);
});

test('a batch that failed is put back, and goes out as the records are then', () => {
  const table = records(['a', '1'], ['b', '1']);
  table.take();
  table.set('b', '2');
  table.set('c', '1');
  table.delete('a');
  table.unsaved.putBack();
  expect(table.take()).toEqual({ rows: ['2', '1'], removed: ['a'] });
});

test('what came back after it was removed is stored again', () => {
  const table = records(['a', '1']);
  table.delete('a');
  table.set('a', '2');
  expect(table.take()).toEqual({ rows: ['2'], removed: [] });
});

test('a record that is not stored yet is not forgotten, even while it is being written', () => {
  const table = records(['a', '1']);
  table.forget('a');
  table.take();
  table.forget('a');
  expect(table.get('a')).toBe('1');
  table.unsaved.stored();
  table.forget('a');
  expect(table.get('a')).toBeUndefined();
});

test('a second batch is not taken before the first has ended', () => {
  const table = records(['a', '1']);
  table.take();
  table.set('b', '1');
  expect(() => table.take()).toThrow('before the last one ended');
});

test('alerts are found by account and rule, and removed ones are named by them', () => {
  const alert = inactiveAlert({
    account: '@provider:host/path',
    rule: 'provider-down',
    type: 'provider-down',
    balance: null,
  });
  const alerts = new AlertRecords();
  alerts.set(alert);
  alerts.set({ ...alert, account: 'otp', rule: 'low' });
  alerts.delete(alert);
  expect([...alerts.of('otp').keys()]).toEqual(['low']);
  expect(alerts.takeChanged().map(({ rule }) => rule)).toEqual(['low']);
  expect(alerts.take()).toEqual({
    rows: [expect.objectContaining({ account: 'otp', rule: 'low' })],
    removed: [{ account: '@provider:host/path', rule: 'provider-down' }],
  });
});

test('what changed of alerts is given once a change, however long nothing of it is stored', () => {
  const alert = inactiveAlert({ account: 'otp', rule: 'low', type: 'below', balance: 'sms' });
  const alerts = new AlertRecords();
  alerts.set(alert);
  alerts.set({ ...alert, rule: 'lower' });
  expect(alerts.takeChanged()).toHaveLength(2);
  expect(alerts.takeChanged()).toEqual([]);
  alerts.setInMemory(alert);
  alerts.set({ ...alert, rule: 'lower', state: 'firing' });
  expect(alerts.takeChanged()).toMatchObject([{ rule: 'lower', state: 'firing' }]);
  expect(alerts.unsaved.size).toBe(2);
});
