import type { Incident } from '../../../src/domain/alert.ts';
import { amountOf, type Reading } from '../../../src/domain/reading.ts';
import type { AnyRule } from '../../../src/rules/registry.ts';
import { channelFailed } from '../../../src/rules/self-alert-kinds.ts';
import { Violation } from '../story.ts';
import { tieMs } from './judge-alerts.ts';

/** An event that the last reading must have caused, kept until it is committed. */
interface ExpectedEvent {
  readonly account: string;
  readonly rule: string;
  readonly at: number;
}

/** Events such as top-ups: exactly those that readings caused are recorded. */
export class ExpectedEvents {
  #left: ExpectedEvent[] = [];
  readonly #seen = new Set<string>();

  /** A reading that follows another one. */
  read(
    account: string,
    rule: Extract<AnyRule, { type: 'top-up' }>,
    it: {
      readonly reading: Reading | null;
      readonly before: Reading | null;
      readonly currency: string | null;
      readonly now: number;
    },
  ): void {
    const { reading, before, currency, now } = it;
    if (reading === null || before === null || before.currency !== reading.currency) return;
    if (currency !== null && currency !== reading.currency) return;
    const rise = amountOf(reading, rule.balance) - amountOf(before, rule.balance);
    if (rise > 0 && rise >= rule.atLeastMicros) this.#left.push({ account, rule: rule.id, at: now });
  }

  forget(): void {
    this.#left = [];
  }

  shift(byMs: number): void {
    this.#left = this.#left.map((it) => ({ ...it, at: it.at + byMs }));
  }

  /** An event in a batch, which a reading must have caused. */
  happened(incident: Incident, now: number): void {
    // As an event, this type says that a removed receiver missed its last message: no reading causes that.
    if (incident.type === channelFailed.type || this.#seen.has(incident.id)) return;
    this.#seen.add(incident.id);
    const place = this.#left.findIndex(
      (it) =>
        it.account === incident.account &&
        it.rule === incident.rule &&
        Math.abs(it.at - incident.firedAt) <= tieMs,
    );
    if (place < 0) {
      throw new Violation(
        'no event without a cause',
        `a ${incident.type} of ${incident.account}/${incident.rule} was made up at ${now}`,
      );
    }
    this.#left.splice(place, 1);
  }

  /** Called after the incidents of a batch were seen. */
  expectNothingLeft(now: number): void {
    const left = this.#left.find((it) => it.at < now - 1000);
    if (left === undefined) return;
    throw new Violation('no event is lost', `${left.account}/${left.rule} at ${left.at} was never recorded`);
  }
}
