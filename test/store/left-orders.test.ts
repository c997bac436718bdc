import { expect, it } from 'vitest';
import type { OperatorOrder } from '../../src/domain/operator.ts';
import { describeStores } from './beds.ts';
import { batch, noon, silence } from './sqlite/batches.ts';

const orders: readonly OperatorOrder[] = [
  { kind: 'acknowledge', account: 'otp', rule: 'sms-low', by: 'ana', comment: 'topping up', at: noon },
  { kind: 'silence', silence: silence('silence-1', noon + 1) },
  { kind: 'expire', id: 'silence-1', at: noon },
];

describeStores('orders that the command line leaves', (makeBed) => {
  it('are taken once, oldest first, while the daemon runs', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    expect(await store.takeOrders()).toEqual([]);
    for (const order of orders) await bed.leaveOrder(order);
    expect(await store.takeOrders()).toEqual(orders);
    expect(await store.takeOrders()).toEqual([]);
    await bed.leaveOrder(orders[0] as OperatorOrder);
    expect(await store.takeOrders()).toEqual([orders[0]]);
  });

  it('wait for a daemon that does not run', async () => {
    const bed = await makeBed();
    await (await bed.open()).close();
    for (const order of orders) await bed.leaveOrder(order);
    expect(await (await bed.open()).takeOrders()).toEqual(orders);
  });

  it('are taken again when the daemon ended before it stored what they did, and not when after', async () => {
    const bed = await makeBed();
    const first = await bed.open();
    await bed.leaveOrder(orders[0] as OperatorOrder);
    await first.takeOrders();
    await first.close();
    const second = await bed.open();
    expect(await second.takeOrders()).toEqual([orders[0]]);
    await second.commit(batch());
    await second.close();
    expect(await (await bed.open()).takeOrders()).toEqual([]);
  });

  it('that came after the last look are not swept away by a commit', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    await bed.leaveOrder(orders[0] as OperatorOrder);
    expect(await store.takeOrders()).toHaveLength(1);
    await bed.leaveOrder(orders[1] as OperatorOrder);
    await store.commit(batch());
    expect(await store.takeOrders()).toEqual([orders[1]]);
  });

  it('that cannot be read are named; one of a newer program stays for it', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    await bed.leaveOrder({ kind: 'expire', id: 5 } as never);
    await bed.leaveOrder({ kind: 'expect-spending', at: noon } as never);
    await bed.leaveOrder(orders[0] as OperatorOrder);
    expect(await store.takeOrders()).toEqual([
      { kind: 'unreadable', why: 'damaged' },
      { kind: 'unreadable', why: 'of another version' },
      orders[0],
    ]);
    await store.commit(batch());
    await store.close();
    const again = await bed.open();
    expect(await again.takeOrders()).toEqual([{ kind: 'unreadable', why: 'of another version' }]);
  });
});
