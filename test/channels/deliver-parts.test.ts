import { expect, test } from 'vitest';
import { deliverParts } from '../../src/channels/deliver-parts.ts';
import type { Delivery } from '../../src/ports/channel.ts';

test('what is refused for good is not sent again with the parts that are refused for now, also where nothing was taken', async () => {
  const ends = new Map<string, Delivery>([
    ['otp', { kind: 'dead', reason: '400 no such service' }],
    ['ads', { kind: 'retry', certainty: 'refused', reason: '503', afterMs: 5000 }],
  ]);
  const parts = [{ name: 'otp' }, { name: 'ads' }, { name: 'voice' }];
  const send = async ({ name }: { readonly name: string }): Promise<Delivery> =>
    ends.get(name) ?? { kind: 'delivered' };
  expect(await deliverParts(parts, {}, send)).toEqual({
    kind: 'retry',
    certainty: 'refused',
    reason: '503',
    afterMs: 5000,
    refused: { recipients: ['otp'], others: ['voice', 'ads'], refusal: '400 no such service' },
  });
});
