import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkThroughDaemon } from '../../../src/cli/daemon/remote-views.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { AccountView } from '../../../src/views/views.ts';
import { buildAccountView, viewsNow } from '../../support/built-views.ts';

/** Polls, and reads at `viewsNow`. */
const daemon = createServer((_, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ outcome: 'ok', account: { readAt: new Date(viewsNow).toISOString() } }));
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => daemon.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(daemon.address() as AddressInfo).port}`;
});
afterAll(() => daemon.close());

/** `found`: what each look into the database shows, one after the other. */
async function check(...found: readonly AccountView[]) {
  let looks = 0;
  const open = async () => {
    const view = found[looks++] ?? found.at(-1) ?? null;
    return { account: async () => view, explain: async () => [] };
  };
  // A timer ends at once, as late as it was set.
  let monotonic = 0;
  const setTimer = (delayMs: number, fire: () => void) => {
    monotonic += delayMs;
    fire();
    return () => undefined;
  };
  const clock: Clock = { now: () => viewsNow, monotonic: () => monotonic, setTimer };
  const order = { accounts: ['otp'], by: 'ada', clock };
  const [checked] = await checkThroughDaemon(open, { url, token: null }, order);
  return checked;
}

const before = buildAccountView({ readAt: viewsNow - 60_000, isRead: true });
const after = buildAccountView({ readAt: viewsNow, isRead: true });

it('a check that reads the database of a daemon of another version shows what was polled for it, not what was stored before', async () => {
  expect(await check(before, after)).toMatchObject({
    view: { readAt: viewsNow, isRead: true },
    reason: null,
  });
});

it('a check waits for the half second in which a daemon gathers readings before it stores them', async () => {
  expect(await check(before, before, before, after)).toMatchObject({ view: { isRead: true }, reason: null });
});

it('a check does not take the reading before for the polled one where the daemon could not store that', async () => {
  expect(await check(before, before)).toMatchObject({
    outcome: 'ok',
    view: { isRead: false },
    reason: expect.stringContaining('did not store'),
  });
});
