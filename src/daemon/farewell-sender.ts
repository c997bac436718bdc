import type { Message } from '../domain/message.ts';
import { retryDelayMs } from '../domain/outbox.ts';
import { minuteMs } from '../domain/time.ts';
import { unsent } from '../engine/delivery-ended.ts';
import { pauseOrEnd } from '../net/deadline.ts';
import { type Channel, type Delivery, wordMissed } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';
import type { DaemonMembership } from '../ports/cluster.ts';

/** The longest time for which a farewell is tried. */
const lastsMs = 15 * minuteMs;

export interface FarewellDependencies {
  readonly clock: Clock;
  readonly membership?: DaemonMembership;
  readonly storeChanges: () => Promise<boolean>;
  /** Returns a function to call at the end. `missed`: why the receiver did not get everything, else null. `isBack`: it is configured again. */
  readonly farewellBegins: (channel: string) => (missed: string | null, isBack: boolean) => void;
}

/** Sends last messages to receivers removed from the configuration, so that their open incidents end. The outbox cannot: their settings are gone. */
export class FarewellSender {
  readonly #dependencies: FarewellDependencies;
  readonly #stopping = new AbortController();
  /** The receiver of each farewell, by the controller that ends it. */
  readonly #open = new Map<AbortController, string>();

  constructor(dependencies: FarewellDependencies) {
    this.#dependencies = dependencies;
  }

  get running(): number {
    return this.#open.size;
  }

  /** Begins once `free` resolves: then the end cannot overtake a message that is still under way there. Never rejects. */
  async say(channel: Channel, receiver: string, messages: readonly Message[], free: Promise<unknown>) {
    const ending = new AbortController();
    this.#open.set(ending, receiver);
    const ended = this.#dependencies.farewellBegins(channel.name);
    await free;
    let missed: string | null = null;
    for (const message of messages) missed = (await this.#tell(channel, message, ending.signal)) ?? missed;
    ended(missed, !this.#open.delete(ending));
  }

  /** Ends the farewells to receivers that are configured again. They are notified of what is open, and a late end would close it. */
  callOff(receivers: ReadonlySet<string>): void {
    for (const [ending, receiver] of this.#open) {
      if (!receivers.has(receiver)) continue;
      this.#open.delete(ending);
      ending.abort(unsent.configuredAgain());
    }
  }

  /** Tries at once and then each second, unless the receiver asked for a longer wait. */
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

  /** Waits until the removal is stored: else the next process might believe that the receiver still shows everything as open. */
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
  /** Recipients that refused the message for good, and why: they are not tried again. */
  readonly refused: string | null;
}

/** The rest that is to be tried again; else why some of it was missed for good, or null. */
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
