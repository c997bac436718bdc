import type { Message } from '../domain/message.ts';
import { retryDelayMs } from '../domain/outbox.ts';
import { minuteMs } from '../domain/time.ts';
import { unsent } from '../engine/delivery-ended.ts';
import { pauseOrEnd } from '../net/deadline.ts';
import { type Channel, type Delivery, wordMissed } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';
import type { DaemonMembership } from '../ports/cluster.ts';

/** A farewell is tried for so long at most. */
const lastsMs = 15 * minuteMs;

export interface FarewellDependencies {
  readonly clock: Clock;
  readonly membership?: DaemonMembership;
  readonly storeChanges: () => Promise<boolean>;
  /** Gives what is called at the end. `missed`: why the receiver has not heard all; null where it has. `isBack`: it is configured again. */
  readonly farewellBegins: (channel: string) => (missed: string | null, isBack: boolean) => void;
}

/** Sends the last messages to receivers that the configuration has no more: what they have open ends. No outbox has them: their settings are gone. */
export class FarewellSender {
  readonly #dependencies: FarewellDependencies;
  readonly #stopping = new AbortController();
  /** The receiver of each, by what ends it. */
  readonly #open = new Map<AbortController, string>();

  constructor(dependencies: FarewellDependencies) {
    this.#dependencies = dependencies;
  }

  get running(): number {
    return this.#open.size;
  }

  /** Begins once `free`: what is under way there is no more overtaken by its end. Never rejects. */
  async say(channel: Channel, receiver: string, messages: readonly Message[], free: Promise<unknown>) {
    const ending = new AbortController();
    this.#open.set(ending, receiver);
    const ended = this.#dependencies.farewellBegins(channel.name);
    await free;
    let missed: string | null = null;
    for (const message of messages) missed = (await this.#tell(channel, message, ending.signal)) ?? missed;
    ended(missed, !this.#open.delete(ending));
  }

  /** Ends those to these receivers, which hear again of what is open: an end that comes late would close it. */
  callOff(receivers: ReadonlySet<string>): void {
    for (const [ending, receiver] of this.#open) {
      if (!receivers.has(receiver)) continue;
      this.#open.delete(ending);
      ending.abort(unsent.configuredAgain());
    }
  }

  /** Tries at once, and again each second, what its receiver did not ask to wait for. */
  stop(): void {
    this.#stopping.abort();
  }

  abandon(): void {
    for (const ending of this.#open.keys()) ending.abort(unsent.ended());
  }

  async #tell(channel: Channel, farewell: Message, signal: AbortSignal): Promise<string | null> {
    const { clock } = this.#dependencies;
    const until = clock.monotonic() + lastsMs;
    let message = farewell;
    let refused: string | null = null;
    for (let attempts = 1; !signal.aborted; attempts += 1) {
      const end = endOf(await this.#send(channel, message, signal));
      if ('missed' in end) return end.missed ?? refused;
      refused = end.refused ?? refused;
      const { reason, afterMs, recipients, tries = Number.POSITIVE_INFINITY } = end;
      if (recipients !== undefined) message = { ...message, recipients };
      const waitMs = retryDelayMs(this.#stopping.signal.aborted ? 1 : attempts, afterMs);
      if (attempts >= tries || clock.monotonic() + waitMs > until) return reason;
      await this.#wait(waitMs, afterMs === undefined, signal);
      if (signal.aborted) return reason;
    }
    return String(signal.reason);
  }

  /** Only once it is stored that the receiver is left: the next process might take it for one that has all open. */
  async #send(channel: Channel, message: Message, signal: AbortSignal): Promise<Delivery> {
    const isStored = await this.#dependencies.storeChanges();
    if (signal.aborted) return notSent(String(signal.reason));
    if (this.#dependencies.membership?.maySend() === false) return notSent(unsent.notOwned());
    return isStored ? channel.send(message, signal) : notSent(unsent.notStored());
  }

  #wait(ms: number, isOurs: boolean, signal: AbortSignal): Promise<void> {
    const { signal: stopping } = this.#stopping;
    const endsAtStop = isOurs && !stopping.aborted;
    const end = endsAtStop ? AbortSignal.any([signal, stopping]) : signal;
    return pauseOrEnd(this.#dependencies.clock, ms, end);
  }
}

function notSent(reason: string): Delivery {
  return { kind: 'retry', certainty: 'refused', reason };
}

interface Left {
  readonly reason: string;
  readonly afterMs?: number;
  readonly tries?: number;
  readonly recipients?: readonly string[] | undefined;
  /** Recipients who refused it for good, and why: they are not asked again. */
  readonly refused: string | null;
}

/** The rest to be tried again; else what was missed for good, where anything was. */
function endOf(delivery: Delivery): Left | { readonly missed: string | null } {
  if (delivery.kind === 'dead') return { missed: delivery.reason };
  if (delivery.kind === 'retry') {
    const { recipients, others, refusal } = delivery.refused ?? {};
    return {
      ...delivery,
      recipients: others,
      refused: wordMissed({ refusedRecipients: recipients, refusal }),
    };
  }
  const { owed, ...taken } = delivery;
  return owed === undefined ? { missed: wordMissed(taken) } : { ...owed, refused: wordMissed(taken) };
}
