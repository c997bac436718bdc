import { rmSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { minuteMs, smsLow, units } from '../support/account-facts.ts';
import { read, startWorld } from '../support/world.ts';

const secondMs = 1000;
const rules = [smsLow({ warning: units(200) })];

test.each<[string, (log: string) => void]>([
  ['removed', (log) => rmSync(log)],
  ['cut', (log) => truncateSync(log, 0)],
])(
  'a write-ahead log that is %s between two polls is reported, mended, and no incident is forgotten',
  async (_name, lose) => {
    const world = await startWorld({ rules }, { takesOrders: true });
    expect(await read(world, 100)).toEqual(['otp/sms-low firing warning']);
    lose(`${world.path}-wal`);
    await world.pass(13 * secondMs);
    // Both ends of it within the time in which messages gather: one message says so.
    expect(world.news()).toEqual(['@lowwater/storage-failed firing+resolved critical']);
    expect(world.daemon.committer.failing).toBe(false);
    world.crash();
    world.start();
    await world.pass(2 * minuteMs);
    expect(world.news()).toEqual([]);
    expect(await read(world, 300)).toEqual(['otp/sms-low resolved warning (topped-up)']);
  },
);
