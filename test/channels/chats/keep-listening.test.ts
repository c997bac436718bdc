import { Agent } from 'undici';
import { expect, test } from 'vitest';
import { keepListening } from '../../../src/channels/chats/keep-listening.ts';
import { hourMs } from '../../../src/domain/time.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('a connection that lasted is made anew at once, one that ends soon after a pause that grows', async () => {
  const clock = new FakeClock(0);
  const connectedAt: number[] = [];
  const lasting = [hourMs, 0, 0, hourMs];
  const listener = keepListening({ clock, dispatcher: new Agent() }, async (_signal, connected) => {
    connectedAt.push(clock.monotonic());
    connected();
    await new Promise<void>((resolve) => clock.setTimer(lasting.shift() ?? 9 * hourMs, resolve));
    return 'asked to connect again';
  });
  await clock.pass(3 * hourMs);
  const seconds = connectedAt.map((at) => at / 1000);
  expect(seconds).toEqual([0, 3600, 3602, 3606, 7206]);
  await listener.close();
});
