import { describe, expect, test } from 'vitest';
import type { Route } from '../../src/domain/route.ts';
import { hourMs, minuteMs, smsLow, units } from '../support/account-facts.ts';
import { makeAccount, makeRoute } from '../support/settings.ts';
import { read, startWorld } from '../support/world.ts';

describe('whether a message mentions people', () => {
  test.each<[Route['mention'], readonly (readonly [string, boolean])[]]>([
    [
      true,
      [
        ['firing', true],
        ['reminder', false],
      ],
    ],
    [
      'reminders',
      [
        ['firing', true],
        ['reminder', true],
      ],
    ],
    [
      false,
      [
        ['firing', false],
        ['reminder', false],
      ],
    ],
  ])('with %s on its route', async (mention, expected) => {
    const routes = [makeRoute({ mention, repeatEveryMs: hourMs })];
    const world = await startWorld({ rules: [smsLow({ warning: units(200) })], routes });
    await read(world, 100);
    await world.pass(hourMs + minuteMs);
    const notified = world
      .channel('ops')
      .delivered.map(({ message }) =>
        message.kind === 'incidents' ? [message.items[0]?.kinds.join('+'), message.items[0]?.mention] : [],
      );
    expect(notified).toEqual(expected);
  });
});

test('a message carries what the operators left for whoever is woken', async () => {
  const account = makeAccount('otp', {
    topUpUrl: 'https://pay.example.com/otp',
    runbookUrl: 'https://wiki.example.com/otp',
    note: 'Finance tops up by phone: 555-0100.',
  });
  const world = await startWorld({ accounts: [account], rules: [smsLow({ warning: units(200) })] });
  await read(world, 100);
  const [received] = world.channel('ops').delivered;
  expect(received?.message).toMatchObject({
    items: [
      {
        account: {
          topUpUrl: 'https://pay.example.com/otp',
          runbookUrl: 'https://wiki.example.com/otp',
          note: 'Finance tops up by phone: 555-0100.',
        },
      },
    ],
  });
});
