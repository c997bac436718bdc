import { expect, test } from 'vitest';
import { keepOrders } from '../../src/cluster/kept-orders.ts';
import { StorageError } from '../../src/domain/operator-error.ts';
import { minuteMs } from '../../src/domain/time.ts';
import type { LeftOrder } from '../../src/ports/store.ts';
import { FakeClock } from '../support/fake-clock.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** A daemon that stands by, and the orders that arrived in its database; nothing arrives while that is `away`. */
function standBy() {
  const clock = new FakeClock(0);
  const news = { upsets: 0, programs: ['lowwater 0.4.0'] };
  const database = { arrived: [] as LeftOrder[], away: false };
  const leaveOrder = async (order: LeftOrder): Promise<void> => {
    if (database.away) throw new StorageError('other', 'no answer');
    database.arrived.push(order);
  };
  return { clock, news, database, orders: keepOrders({ clock, log: silent, leaveOrder, news: () => news }) };
}

const [first, second] = [
  { kind: 'expire', id: 's-1', orderId: 'first' },
  { kind: 'unacknowledge', account: 'otp', rule: 'low', orderId: 'second' },
];

test('what a person ordered of a standby is left again, once and in its order, each time that the database may have lost it', async () => {
  const { news, database, orders } = standBy();
  for (const order of [first, second]) await orders.leave(order);
  await orders.looked();
  expect(database.arrived).toEqual([first, second]);
  for (const upsets of [1, 2]) {
    news.upsets = upsets;
    database.arrived = [];
    for (let look = 0; look < 3; look++) await orders.looked();
    expect(database.arrived).toEqual([first, second]);
  }
});

test('what the database does not take when it is left again is left at a later look', async () => {
  const { news, database, orders } = standBy();
  await orders.leave(first);
  database.arrived = [];
  database.away = true;
  news.upsets += 1;
  await orders.looked();
  database.away = false;
  for (let look = 0; look < 2; look++) await orders.looked();
  expect(database.arrived).toEqual([first]);
});

test('an order that nobody took is not left again', async () => {
  const { news, database, orders } = standBy();
  database.away = true;
  await expect(orders.leave(first)).rejects.toThrow('no answer');
  database.away = false;
  news.upsets += 1;
  await orders.looked();
  expect(database.arrived).toEqual([]);
});

test('nothing is left again for programs that would do it twice', async () => {
  const { news, database, orders } = standBy();
  await orders.leave(first);
  news.upsets += 1;
  news.programs.push('lowwater 0.3.0');
  await orders.looked();
  expect(database.arrived).toEqual([first]);
});

test('an order is kept for minutes in which the database answers, and of many the last thousand', async () => {
  const { clock, news, database, orders } = standBy();
  await orders.leave(first);
  await clock.pass(11 * minuteMs);
  // The database was away until then.
  news.upsets += 1;
  await orders.looked();
  expect(database.arrived).toEqual([first, first]);
  database.arrived = [];
  news.upsets += 1;
  await orders.looked();
  expect(database.arrived).toEqual([]);
  for (let no = 0; no <= 1000; no++) await orders.leave({ ...first, orderId: `${no}` });
  database.arrived = [];
  news.upsets += 1;
  await orders.looked();
  expect(database.arrived.map(({ orderId }) => orderId)).toEqual(
    Array.from({ length: 1000 }, (_, no) => `${no + 1}`),
  );
});
