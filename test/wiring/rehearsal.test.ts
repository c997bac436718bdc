import { describe, expect, it, onTestFinished } from 'vitest';
import type { Channel } from '../../src/daemon/ports.ts';
import type { Message } from '../../src/domain/message.ts';
import type { Clock } from '../../src/domain/ports.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { rehearse } from '../../src/wiring/rehearsal.ts';
import { smsLow, units } from '../support/account-facts.ts';
import { makeSettings } from '../support/settings.ts';

/** Waits for nothing but its turn. */
const hurried: Clock = { ...systemClock, setTimer: (_delayMs, fire) => systemClock.setTimer(0, fire) };

describe('a rehearsal', () => {
  it('tells a channel of each kind that an account ran dry and was paid for, short of its receiver', async () => {
    const { rehearsed, sent, closed } = await playAll(['ops', 'also-ops', 'mail']);
    expect([...rehearsed.keys()].sort()).toEqual(['also-ops', 'mail']);
    for (const messages of rehearsed.values()) {
      expect(messages.length).toBeGreaterThanOrEqual(70);
      expect(kindsOf(messages[0])).toEqual(['firing']);
      expect(kindsOf(messages[1])).toContain('resolved');
    }
    expect(sent).toEqual([]);
    expect(closed.sort()).toEqual(['also-ops', 'mail']);
  });

  it('ends when it is told to', async () => {
    const stage = openStage(['ops']);
    const end = rehearse(stage.parts);
    while (stage.rehearsed.size === 0) await turn();
    end();
    const count = stage.rehearsed.get('ops')?.length;
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(stage.rehearsed.get('ops')?.length).toBe(count);
  });
});

function openStage(names: readonly string[]) {
  const rehearsed = new Map<string, Message[]>();
  const sent: Message[] = [];
  const closed: string[] = [];
  const open = (name: string): Channel => ({
    name,
    minGapMs: 1000,
    send: async (message) => {
      sent.push(message);
      return { kind: 'delivered' };
    },
    rehearse: async (message) => void rehearsed.set(name, [...(rehearsed.get(name) ?? []), message]),
    preview: async () => '',
    close: async () => void closed.push(name),
  });
  const parts = {
    settings: makeSettings({
      channels: names,
      rules: [smsLow({ warning: units(200), critical: units(50) })],
    }),
    random: systemRandom,
    calendar: cronCalendar,
    clock: hurried,
    acknowledgeUrl: () => null,
    openChannels: ({ channels }: { channels: readonly { name: string }[] }) =>
      channels.map(({ name }) => open(name)),
  };
  return { parts, rehearsed, sent, closed };
}

async function playAll(names: readonly string[]) {
  const stage = openStage(names);
  onTestFinished(rehearse(stage.parts));
  while (stage.closed.length === 0) await turn();
  return stage;
}

function turn(): Promise<void> {
  return new Promise((resolve) => void systemClock.setTimer(0, resolve));
}

function kindsOf(message: Message | undefined): unknown {
  return message?.kind === 'incidents' ? message.notices.flatMap(({ kinds }) => kinds) : message?.kind;
}
