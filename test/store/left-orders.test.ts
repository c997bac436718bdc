import { expect, it } from 'vitest';
import type { LeftOrder } from '../../src/ports/store.ts';
import { describeStores } from './beds.ts';
import { batch, noon, silence } from './sqlite/batches.ts';

const orders: readonly LeftOrder[] = [
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
    await bed.leaveOrder(orders[0] as LeftOrder);
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
    await bed.leaveOrder(orders[0] as LeftOrder);
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
    await bed.leaveOrder(orders[0] as LeftOrder);
    expect(await store.takeOrders()).toHaveLength(1);
    await bed.leaveOrder(orders[1] as LeftOrder);
    await store.commit(batch());
    expect(await store.takeOrders()).toEqual([orders[1]]);
  });

  it('that a newer program left stay for it', async () => {
    const bed = await makeBed();
    const store = await bed.open();
    const newer = { kind: 'buy-credit', at: noon };
    await bed.leaveOrder(newer);
    await bed.leaveOrder(orders[0] as LeftOrder);
    expect(await store.takeOrders()).toEqual([newer, orders[0]]);
    await store.commit(batch());
    await store.close();
    const again = await bed.open();
    expect(await again.takeOrders()).toEqual([newer]);
  });
});
