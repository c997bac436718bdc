import { describe, expect, it } from 'vitest';
import { sendWhole } from '../../src/channels/send-whole.ts';
import { type Delivery, wordMissed } from '../../src/ports/channel.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { buildTestMessage } from '../support/messages.ts';

const owing = (...recipients: string[]): Extract<Delivery, { readonly kind: 'delivered' }> => ({
  kind: 'delivered',
  said: 'ok',
  owed: { recipients, reason: '451 later' },
});
const busy: Delivery = { kind: 'retry', certainty: 'refused', reason: '503 busy' };

/** Sends to a receiver that answers so, one answer after the other and then the last for good. */
async function send(...answers: readonly Delivery[]) {
  const clock = new FakeClock(0);
  const asked: (readonly string[] | undefined)[] = [];
  const channel = {
    send: async ({ recipients }: { readonly recipients?: readonly string[] }) => {
      asked.push(recipients);
      return answers[asked.length - 1] ?? answers.at(-1) ?? busy;
    },
  };
  const sending = sendWhole(channel, buildTestMessage(), { clock, signal: new AbortController().signal });
  await clock.pass(120_000);
  return { delivery: await sending, asked };
}

describe('a message of a command, taken in part', () => {
  it('is tried again for those who were owed it, until they have it', async () => {
    const { delivery, asked } = await send(owing('kim', 'wei'), busy, owing('wei'), { kind: 'delivered' });
    expect(asked).toEqual([undefined, ['kim', 'wei'], ['kim', 'wei'], ['wei']]);
    expect(delivery).toEqual({ kind: 'delivered', said: 'ok' });
  });

  it('is given up after a minute, and it is said who did not get it', async () => {
    const { delivery, asked } = await send(owing('kim'), busy);
    expect(asked.length).toBe(6);
    if (delivery.kind !== 'delivered') throw new Error(delivery.reason);
    expect(wordMissed(delivery)).toBe('not taken for kim (503 busy)');
  });

  it('says who refused it for good', async () => {
    const dead: Delivery = { kind: 'dead', reason: '550 unknown' };
    const { delivery } = await send({ ...owing('kim'), refusedRecipients: ['gone'], refusal: '553' }, dead);
    if (delivery.kind !== 'delivered') throw new Error(delivery.reason);
    expect(wordMissed(delivery)).toBe('refused for gone, kim (550 unknown)');
  });

  it('is not begun again where nothing was taken', async () => {
    expect(await send(busy)).toEqual({ delivery: busy, asked: [undefined] });
  });
});
