import { clearOwnFailure, isOwnFailureRaised, raiseChannelFailed } from '../engine/self-alerts.ts';
import type { Channel, Delivery } from '../ports/channel.ts';
import { channelFailedRule } from '../rules/self-alert-kinds.ts';
import { sentences } from '../wording/phrase.ts';
import { type ComposeDependencies, composeOpen } from './compose.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** A receiver that took nothing for so many rounds is about to forget what fires. */
const maxMissedRounds = 10;

const told = sentences('restating', { lapses: '{reason}; it soon takes what fires for resolved' });

interface Round {
  nextAt: number;
  isBusy: boolean;
  missed: number;
}

/** For channels whose receivers forget what is not repeated. Nothing is stored: the first round follows the start. */
export class Restating {
  readonly #parts: DaemonParts;
  readonly #dependencies: ComposeDependencies;
  readonly #rounds = new Map<string, Round>();
  readonly #ending = new AbortController();
  #nextAt = Number.POSITIVE_INFINITY;

  constructor(parts: DaemonParts, dependencies: ComposeDependencies) {
    this.#parts = parts;
    this.#dependencies = dependencies;
  }

  get nextAt(): number {
    return this.#nextAt;
  }

  start(now: number): void {
    this.#nextAt = Number.POSITIVE_INFINITY;
    if (this.#ending.signal.aborted || this.#parts.membership?.maySend() === false) return;
    for (const channel of this.#parts.connections.channels) {
      const { name, restateEveryMs } = channel;
      if (restateEveryMs === undefined) continue;
      const round = this.#rounds.get(name) ?? { nextAt: now, isBusy: false, missed: 0 };
      this.#rounds.set(name, round);
      // After a clock change the round is due at once, or as soon as usual.
      if (round.nextAt <= now || round.nextAt > now + restateEveryMs) {
        round.nextAt = now + restateEveryMs;
        if (!round.isBusy) void this.#restate(channel, round);
      }
      this.#nextAt = Math.min(this.#nextAt, round.nextAt);
    }
  }

  stop(): void {
    this.#ending.abort();
  }

  async #restate(channel: Channel, round: Round): Promise<void> {
    round.isBusy = true;
    const message = await composeOpen(this.#dependencies, channel.name);
    // Sent too where nothing fires: a member of a cluster may have missed an end.
    const delivery = await channel.send(message, this.#ending.signal);
    round.isBusy = false;
    if (message.items.length > 0 && !this.#ending.signal.aborted) this.#ended(channel.name, round, delivery);
  }

  #ended(name: string, round: Round, delivery: Delivery): void {
    const { act, log, state } = this.#parts;
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
}
