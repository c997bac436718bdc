import { expect, test } from 'vitest';
import { clusterDegradedRules, damagedPollsRule } from '../../../src/rules/self-alert-kinds.ts';
import { hourMs } from '../../support/account-facts.ts';
import { giveAtOnce } from '../../support/orders.ts';
import { read, startWorld } from '../../support/world.ts';

test('every alert about lowwater itself can be muted, also those of which there are several', async () => {
  const world = await startWorld();
  await read(world, 100);
  const startsAt = world.daemon.now();
  const quiet = (rule: string) => {
    const match = { account: ['@lowwater'], rule: [rule] };
    const window = { startsAt, endsAt: startsAt + hourMs, comment: '', everything: false };
    return giveAtOnce(world, { kind: 'silence', match, ...window }, 'Ada');
  };
  for (const rule of [damagedPollsRule('otp'), ...clusterDegradedRules.map(([, id]) => id), 'chat-lost'])
    expect(quiet(rule)).toMatchObject({ match: { rule: [rule] } });
  expect(quiet('channel-failed:gone')).toMatchObject({ refused: 'invalid', about: 'rule' });
});
