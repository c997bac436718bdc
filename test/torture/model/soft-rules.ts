import type { Alert } from '../../../src/domain/alert.ts';
import { amountOf, type Reading } from '../../../src/domain/reading.ts';
import type { AnyRule } from '../../../src/rules/registry.ts';
import { dayMs } from '../../support/account-facts.ts';
import { Violation } from '../story.ts';

/** The longest window that scenarios draw, and some. */
const keptMs = 8 * dayMs;

/** Readings further apart than so many usual intervals have a gap between them. */
const intervalsPerGap = 2.5;

/** A reading, and how often the account was to be polled then. */
interface Seen extends Reading {
  readonly intervalMs: number;
}

/** What was read of one account, as a plain list. */
export class History {
  #live: Seen[] = [];
  /** So many of them are stored. */
  #durable = 0;
  #taken = 0;
  #backup: readonly Seen[] = [];

  add(reading: Reading, intervalMs: number): void {
    this.#live.push({ ...reading, intervalMs });
  }

  take(): void {
    this.#taken = this.#live.length;
  }

  commit(): void {
    this.#durable = this.#taken;
    const newest = this.#live.at(-1);
    if (newest === undefined || this.#live.length <= 4096) return;
    const before = this.#live.length;
    this.#live = this.#live.filter((it) => newest.at - it.at < keptMs);
    this.#durable = Math.max(0, this.#durable - (before - this.#live.length));
  }

  crash(): void {
    this.#live.length = this.#durable;
  }

  backUp(): void {
    this.#backup = this.#live.slice(0, this.#durable);
  }

  restore(): void {
    this.#live = [...this.#backup];
    this.#durable = this.#live.length;
  }

  /** Falls of a balance since an instant, from the last reading before it on: at least what any rule may count. */
  spentSince(balance: string, since: number): number {
    return this.#spentWhile(balance, ({ at }) => at >= since);
  }

  /** The same during so much watched time before the newest reading: at least what had to be looked at. */
  spentWhileWatched(balance: string, ms: number, intervalMs: number): number {
    let watchedMs = 0;
    return this.#spentWhile(balance, (_, place) => {
      const counts = watchedMs < ms;
      watchedMs += this.#watchedBefore(place, intervalMs);
      return counts;
    });
  }

  /** Time between a reading and the one before it; none where that is a gap however usual intervals are reckoned. */
  #watchedBefore(place: number, intervalMs: number): number {
    const apart = (at: number): number => {
      const reading = this.#live[at];
      return (reading?.at ?? 0) - (this.#live[at - 1]?.at ?? reading?.at ?? 0);
    };
    const then = this.#live[place]?.intervalMs ?? intervalMs;
    const usualMs = Math.max(intervalMs, then, ...[1, 2, 3].map((back) => apart(place - back)));
    return apart(place) > intervalsPerGap * usualMs ? 0 : Math.max(0, apart(place));
  }

  #spentWhile(balance: string, counts: (reading: Seen, place: number) => boolean): number {
    let spent = 0;
    for (let place = this.#live.length - 1; place > 0; place--) {
      const reading = this.#live[place];
      const before = this.#live[place - 1];
      if (reading === undefined || before === undefined || !counts(reading, place)) break;
      if (before.currency === reading.currency)
        spent += Math.max(0, amountOf(before, balance) - amountOf(reading, balance));
    }
    return spent;
  }
}

/**
 * Rules about a stretch of time depend on where its windows begin, on gaps and on thinning. What they say must at least be possible:
 * nothing is spent that was not, and nothing was spent where they say so.
 */
export function expectPossible(
  it: {
    readonly rule: AnyRule;
    readonly alert: Alert;
    readonly history: History;
    readonly intervalMs: number;
  },
  reading: Reading,
): void {
  const { rule, alert, history, intervalMs } = it;
  if (alert.state === 'inactive') return;
  const words = `${alert.account}/${alert.rule} is ${alert.state} at ${JSON.stringify(reading)}`;
  if (rule.type === 'drop') {
    const slackMs = rule.windowMs / 20 + 4 * intervalMs;
    const spent = history.spentSince(rule.balance, reading.at - rule.windowMs - slackMs);
    const least = rule.by.kind === 'amount' ? rule.by.micros : 0;
    if (spent <= least)
      throw new Violation('only falls are spending', `${words}, but only ${spent} was spent`);
  }
  if (rule.type === 'idle') {
    // A step of the clock and time that nobody watched are no time without spending, where they are longer than polls are apart.
    const spent = history.spentWhileWatched(rule.balance, rule.windowMs * 0.9, intervalMs);
    if (spent > 0) throw new Violation('only falls are spending', `${words}, but ${spent} was spent`);
  }
  if (rule.type === 'runway' && amountOf(reading, rule.balance) > (rule.floorMicros ?? 0)) {
    // What is predicted rests on weeks.
    const backMs = rule.lookbackMs === null ? 70 * dayMs : rule.lookbackMs * 1.1 + 4 * intervalMs;
    const spent = history.spentSince(rule.balance, reading.at - backMs);
    if (spent === 0) throw new Violation('only falls are spending', `${words}, but nothing was spent`);
  }
}
