import { getOrMake } from '../domain/get-or-make.ts';
import { clearOwnFailure, isOwnFailureRaised, raiseChannelFailed } from '../engine/self-alerts.ts';
import type { Channel, Delivery } from '../ports/channel.ts';
import { channelFailedRule } from '../rules/self-alert-kinds.ts';
import { sentences } from '../wording/phrase.ts';
import { type ComposeDependencies, composeOpen } from './compose.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** A receiver that took nothing for this many rounds is about to forget what fires. */
const maxMissedRounds = 10;

const told = sentences('restating', { lapses: '{reason}; it soon takes what fires for resolved' });

interface Round {
  nextAt: number;
  isBusy: boolean;
  missed: number;
}

/** Repeats what fires to receivers that would forget it. Nothing is stored: the first round follows the start. */
export function createRestating(parts: DaemonParts, dependencies: ComposeDependencies) {
  const rounds = new Map<string, Round>();
  const ending = new AbortController();
  let nextAt = Number.POSITIVE_INFINITY;

  /** Begins a round if one is due. Returns when the next one is. */
  function begin(channel: Channel, restateEveryMs: number, now: number): number {
    const round = getOrMake(rounds, channel.name, () => ({ nextAt: now, isBusy: false, missed: 0 }));
    // A clock change makes the round due at once, or after one interval at most.
    if (round.nextAt <= now || round.nextAt > now + restateEveryMs) {
      round.nextAt = now + restateEveryMs;
      if (!round.isBusy) void restate(channel, round);
    }
    return round.nextAt;
  }

  async function restate(channel: Channel, round: Round): Promise<void> {
    round.isBusy = true;
    const message = await composeOpen(dependencies, channel.name);
    // Sent even if nothing fires: a receiver that is a cluster member may have missed an end.
    const delivery = await channel.send(message, ending.signal);
    round.isBusy = false;
    if (message.items.length > 0 && !ending.signal.aborted) noteEnd(parts, channel.name, round, delivery);
  }

  return {
    get nextAt(): number {
      return nextAt;
    },
    start(now: number): void {
      nextAt = Number.POSITIVE_INFINITY;
      if (ending.signal.aborted || parts.membership?.maySend() === false) return;
      for (const channel of parts.connections.channels)
        if (channel.restateEveryMs !== undefined)
          nextAt = Math.min(nextAt, begin(channel, channel.restateEveryMs, now));
    },
    stop: () => ending.abort(),
  };
}

function noteEnd({ act, log, state }: DaemonParts, name: string, round: Round, delivery: Delivery): void {
  const hadMissed = round.missed;
  if (delivery.kind === 'delivered') {
    round.missed = 0;
    if (hadMissed > 0) log.info({ channel: name }, 'the receiver takes what fires again');
    if (hadMissed >= maxMissedRounds && isOwnFailureRaised(state, channelFailedRule(name)))
      act((now) => clearOwnFailure(state, channelFailedRule(name), now));
    return;
  }
  round.missed += 1;
  const { reason } = delivery;
  if (hadMissed === 0) log.warn({ channel: name, reason }, 'the receiver does not take what fires');
  if (round.missed !== maxMissedRounds) return;
  const text = told.lapses({ reason });
  act((now) => raiseChannelFailed(state, name, { severity: 'critical', text }, now));
}
