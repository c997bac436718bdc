import { describe, expect, it } from 'vitest';
import type { OperatorOrder } from '../../../src/domain/ports.ts';
import { leaveOrder } from '../../../src/store/store.ts';
import { batch, noon, silence } from './batches.ts';
import { makePath, open } from './fixtures.ts';

const orders: readonly OperatorOrder[] = [
  { kind: 'acknowledge', account: 'otp', rule: 'sms-low', by: 'ana', comment: 'topping up', at: noon },
  { kind: 'silence', silence: silence('silence-1', noon + 1) },
  { kind: 'expire', id: 'silence-1', at: noon },
];

describe('orders that the command line leaves', () => {
  it('are taken once, oldest first, while the daemon runs', () => {
    const path = makePath();
    const store = open(path);
    expect(store.takeOrders()).toEqual([]);
    for (const order of orders) leaveOrder(path, order);
    expect(store.takeOrders()).toEqual(orders);
    expect(store.takeOrders()).toEqual([]);
    leaveOrder(path, orders[0] as OperatorOrder);
    expect(store.takeOrders()).toEqual([orders[0]]);
  });

  it('wait for a daemon that does not run', () => {
    const path = makePath();
    open(path).close();
    for (const order of orders) leaveOrder(path, order);
    expect(open(path).takeOrders()).toEqual(orders);
  });

  it('are taken again when the daemon ended before it stored what they did, and not when after', () => {
    const path = makePath();
    const first = open(path);
    leaveOrder(path, orders[0] as OperatorOrder);
    first.takeOrders();
    first.close();
    const second = open(path);
    expect(second.takeOrders()).toEqual([orders[0]]);
    second.commit(batch());
    second.close();
    expect(open(path).takeOrders()).toEqual([]);
  });

  it('that came after the last look are not swept away by a commit', () => {
    const path = makePath();
    const store = open(path);
    leaveOrder(path, orders[0] as OperatorOrder);
    expect(store.takeOrders()).toHaveLength(1);
    leaveOrder(path, orders[1] as OperatorOrder);
    store.commit(batch());
    expect(store.takeOrders()).toEqual([orders[1]]);
  });
});
