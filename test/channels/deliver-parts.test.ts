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

test.each([
  ['is refused for now', { kind: 'retry', certainty: 'refused', reason: '503' }],
  ['asks to wait', { kind: 'retry', certainty: 'refused', reason: '429', afterMs: 1000 }],
  ['is lost', { kind: 'retry', certainty: 'unknown', reason: 'cut' }],
] as const)(
  'what ends another part goes after it, also where that %s and is tried again',
  async (_, first) => {
    const parts = [{ name: 'otp' }, { name: 'top-up' }, { name: 'top-up, closing', after: 'top-up' }];
    const taken: string[] = [];
    let answers: readonly Delivery[] = [{ kind: 'delivered' }, first];
    const send = async ({ name }: { readonly name: string }): Promise<Delivery> => {
      const [answer = { kind: 'delivered' } as const, ...others] = answers;
      answers = others;
      if (answer.kind === 'delivered') taken.push(name);
      return answer;
    };
    const once = await deliverParts(parts, {}, send);
    const recipients = once.kind === 'delivered' ? once.owed?.recipients : undefined;
    expect(await deliverParts(parts, recipients === undefined ? {} : { recipients }, send)).toEqual({
      kind: 'delivered',
    });
    expect(taken.filter((name) => name !== 'otp')).toEqual(['top-up', 'top-up, closing']);
  },
);
