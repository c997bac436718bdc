import { expect, it, vi } from 'vitest';
import { below } from '../../src/rules/below.ts';
import { smsLow, units } from '../support/account-facts.ts';
import { makeAccount } from '../support/settings.ts';
import { read, startWorld } from '../support/world.ts';

it('works out the numbers of the alerts that somebody looks at, not of all that are listed', async () => {
  const world = await startWorld({
    accounts: ['otp', 'marketing', 'voice'].map((id) => makeAccount(id)),
    rules: [smsLow({ warning: units(200) })],
  });
  for (const id of ['marketing', 'voice']) world.provider.set(id, 20);
  await read(world, 20);
  const evaluate = vi.spyOn(below, 'evaluate');
  const listed = await world.views.alerts({ all: false });
  expect(listed.map(({ account, accountName, severity }) => [account, accountName, severity])).toHaveLength(
    3,
  );
  expect(evaluate).not.toHaveBeenCalled();
  expect(listed[0]).toMatchObject({ value: { micros: units(20) }, threshold: { micros: units(200) } });
  expect(evaluate).toHaveBeenCalledOnce();
  evaluate.mockRestore();
});
