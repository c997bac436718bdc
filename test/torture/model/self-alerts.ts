import type { Incident } from '../../../src/domain/alert.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { Delivery } from '../../../src/ports/channel.ts';
import type { Send } from '../observer.ts';
import { Violation } from '../story.ts';
import type { AlertBook } from './alert-book.ts';
import type { Ledger, Moment } from './ledger.ts';

const settleMs = 30_000;
/** Rounds that a receiver may miss before people are notified. */
const missedRounds = 10;

/** Compares alerts about lowwater itself with what really failed. */
export class SelfAlerts {
  /** Since when commits fail; null while they do not. */
  #failingSince: number | null = null;
  /** By the simulation's time, and by the daemon's, which does not pass while its machine sleeps. */
  #lastFailure: Moment = { at: Number.NEGATIVE_INFINITY, now: Number.NEGATIVE_INFINITY };
  /** Since when commits succeed; null until the first one does. */
  #worksSince: number | null = null;
  #refusedAt = Number.NEGATIVE_INFINITY;
  /** The number of rounds in a row that each receiver missed, and when it was one too many. */
  readonly #missed = new Map<string, number>();
  readonly #lapsedAt = new Map<string, number>();

  committed(stored: boolean, { at, now }: Moment): void {
    if (!stored) this.#lastFailure = { at, now };
    this.#failingSince = stored ? null : (this.#failingSince ?? at);
    if (!stored) this.#worksSince = null;
    else this.#worksSince ??= at;
  }

  /** A batch of unknown outcome proved to be stored: the next one shows whether more can be written. */
  settled(): void {
    this.#failingSince = null;
  }

  booted(): void {
    this.#failingSince = null;
    this.#worksSince = null;
  }

  refused(at: number): void {
    this.#refusedAt = at;
  }

  roundAnswered({ channel, message }: Send, { kind }: Delivery, at: number): void {
    if (message.kind !== 'incidents' || message.items.length === 0) return;
    const missed = kind === 'delivered' ? 0 : (this.#missed.get(channel) ?? 0) + 1;
    this.#missed.set(channel, missed);
    if (missed >= missedRounds) this.#lapsedAt.set(channel, at);
  }

  /** A failure seen just before the machine sleeps is stored when it wakes. */
  sleeps(at: number, forMs: number): void {
    if (at - this.#refusedAt <= settleMs) this.#refusedAt += forMs;
  }

  /** An incident about lowwater itself must have a cause. */
  opened(
    incident: Incident,
    it: { readonly state: MonitorState; readonly book: AlertBook; readonly ledger: Ledger } & Moment,
  ): void {
    const { state, ledger } = it;
    // The incident may have waited long for a batch whose outcome was unknown.
    const at = it.at - Math.max(0, it.now - incident.firedAt);
    switch (incident.type) {
      case 'storage-failed':
        if (at - this.#lastFailure.at > settleMs && incident.firedAt - this.#lastFailure.now > settleMs)
          throw invented(incident, 'no commit failed');
        return;
      case 'config-invalid':
        if (at - this.#refusedAt > settleMs) throw invented(incident, 'no configuration was refused');
        return;
      case 'channel-failed': {
        const channel = incident.rule.slice('channel-failed:'.length);
        const givenUp = ledger.pending.some((row) => row.channel === channel && row.attempts > 0);
        const last = Math.max(
          ledger.lastDead.get(channel) ?? Number.NEGATIVE_INFINITY,
          this.#lapsedAt.get(channel) ?? Number.NEGATIVE_INFINITY,
        );
        if (!givenUp && at - last > settleMs) throw invented(incident, 'the channel refused nothing');
        return;
      }
      case 'provider-down': {
        // Some accounts may have been read again before this was stored.
        const stale = [...state.alerts.values()].filter(
          ({ type, account, rule, state: now }) =>
            type === 'stale' &&
            (now === 'firing' ||
              it.book
                .fact(account)
                ?.alerts.get(rule)
                ?.changes.some((at) => at >= incident.firedAt) === true),
        );
        if (stale.length < 3) throw invented(incident, `only ${stale.length} accounts are stale`);
        return;
      }
      default:
        return;
    }
  }

  /** `refused`: why the configuration on disk is not in use; null when it is. */
  review(state: MonitorState, at: number, refused: string | null): void {
    // A flapping alert stays open until it calms down, even if its cause is gone.
    const isFiring = (rule: string): boolean => {
      const alert = state.alerts.get('@lowwater', rule);
      return alert?.state === 'firing' && alert.recoveringSince === null;
    };
    const isTold = isFiring('config-invalid');
    if (isTold !== (refused !== null) && at - this.#refusedAt > settleMs)
      throw new Violation('an invalid configuration is told while it is that', `${refused} and ${isTold}`);
    const firing = isFiring('storage-failed');
    if (!firing && this.#failingSince !== null && at - this.#failingSince > settleMs) {
      throw new Violation('a disk that fails is reported', `since ${at - this.#failingSince} ms`);
    }
    const since = this.#worksSince;
    if (firing && since !== null && at - since > settleMs) {
      throw new Violation('a disk that works again is reported', `since ${at - since} ms`);
    }
  }
}

function invented(incident: Incident, why: string): Violation {
  return new Violation('nothing is reported without a cause', `${incident.type} was raised, but ${why}`);
}
