import type { Incident } from '../../src/domain/alert.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import type { Quantity } from '../../src/domain/quantity.ts';
import type { PollRecord } from '../../src/domain/reading.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { batchStored, takeBatch } from '../../src/engine/batch.ts';
import { endTurn, startMonitor } from '../../src/engine/monitor.ts';
import { observePoll } from '../../src/engine/observe.ts';
import { putMessage, queueOf } from '../../src/engine/queue.ts';
import { settleDelivery } from '../../src/engine/settle.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { emptyReader } from '../../src/views/empty-reader.ts';
import { seededRandom } from './seeded-random.ts';

/** What the daemon's own monitor made of polls. */
export interface MonitorRun {
  readonly incidents: readonly { readonly incident: Incident; readonly value: Quantity | null }[];
  readonly messages: readonly { readonly at: number; readonly channel: string }[];
}

/** Feeds the monitor polls of accounts at their instants, as the daemon does, with channels that deliver at once. */
export function runMonitor(
  settings: Settings,
  polls: readonly { readonly account: string; readonly poll: PollRecord }[],
  until: number,
): MonitorRun {
  const startAt = polls[0]?.poll.at ?? until;
  const state = startMonitor({
    settings,
    calendar: cronCalendar,
    random: seededRandom(),
    reader: emptyReader,
    now: startAt,
  });
  const seen = new Map<string, { incident: Incident; value: Quantity | null }>();
  const messages: { at: number; channel: string }[] = [];

  const commit = () => {
    const batch = takeBatch(state);
    if (batch === null) return;
    for (const incident of batch.incidents) {
      const value = seen.get(incident.id)?.value ?? incident.value;
      seen.set(incident.id, { incident, value });
    }
    batchStored(state, batch);
  };
  const turn = (now: number) => {
    endTurn(state, now);
    commit();
    for (let sent = deliverDue(state, now); sent.length > 0; sent = deliverDue(state, now)) {
      messages.push(...sent.map((channel) => ({ at: now, channel })));
      endTurn(state, now);
      commit();
    }
  };
  const liveUntil = (at: number) => {
    for (let due = nextAt(state); due < at; due = nextAt(state)) turn(due);
  };
  for (const { account, poll } of polls) {
    liveUntil(poll.at);
    const watched = state.accounts.get(account);
    if (watched === undefined) throw new Error(`no account ${account}`);
    observePoll(state, watched, outcomeOf(poll), poll.at);
    turn(poll.at);
  }
  liveUntil(until);
  for (const channel of settings.channels) {
    for (const message of queueOf(state, channel.name))
      messages.push({ at: message.dueAt, channel: channel.name });
  }
  return { incidents: [...seen.values()], messages };
}

function nextAt(state: MonitorState): number {
  const messages = [...state.messages.values()].filter((message) => message.state === 'pending');
  return Math.min(state.due.nextAt, ...messages.map((message) => message.dueAt));
}

function deliverDue(state: MonitorState, now: number): string[] {
  const due = [...state.messages.values()].filter((it) => it.state === 'pending' && it.dueAt <= now);
  for (const message of due) {
    const tried = { ...message, attempts: message.attempts + 1, uncertain: true };
    putMessage(state, tried);
    settleDelivery(
      state,
      { message: tried, wasUncertain: false, subject: null, delivery: { kind: 'delivered' } },
      now,
    );
  }
  return due.map((message) => message.channel);
}

function outcomeOf({ outcome, reading }: PollRecord): Outcome {
  const common = { durationMs: 10, usage: {} };
  if (outcome === 'ok' && reading !== null) {
    const { sms, voip, currency } = reading;
    return { kind: 'ok', answer: { sms, voip, currency }, ...common };
  }
  if (outcome === 'ok') throw new Error('an ok poll has a reading');
  return { kind: outcome, reason: 'as the test says', ...common };
}
