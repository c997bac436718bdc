import type { Alert } from '../../../src/domain/alert.ts';
import { amountOf, type Reading } from '../../../src/domain/reading.ts';
import type { AnyRule } from '../../../src/rules/registry.ts';
import { dayMs } from '../../support/account-facts.ts';
import { Violation } from '../story.ts';

/** A little more than the longest window that scenarios draw. */
const keptMs = 8 * dayMs;

/** Readings more than this many usual intervals apart have a gap between them. */
const intervalsPerGap = 2.5;

/** A reading, and the account's poll interval at that time. */
interface Seen extends Reading {
  readonly intervalMs: number;
}

/** The readings of one account, as a plain list. */
export class History {
  #live: Seen[] = [];
  /** The number of readings that are stored. */
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

  /** Falls of a balance since an instant, counted from the last reading before it: no less than any rule may count. */
  spentSince(balance: string, since: number): number {
    return this.#spentWhile(balance, ({ at }) => at >= since);
  }

  /** The same over this much watched time before the newest reading: no more than any rule must count. */
  spentWhileWatched(balance: string, ms: number, intervalMs: number): number {
    let watchedMs = 0;
    return this.#spentWhile(balance, (_, place) => {
      const counts = watchedMs < ms;
      watchedMs += this.#watchedBefore(place, intervalMs);
      return counts;
    });
  }

  /** The time between a reading and the one before it; 0 if it is a gap however usual intervals are calculated. */
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
 * Soft rules depend on where their windows begin, on gaps and on thinning. What they say must at least be possible: spending that they
 * report happened, and none happened when they report none.
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
    // A clock change longer than the poll interval, and time that nobody watched, are not time without spending.
    const spent = history.spentWhileWatched(rule.balance, rule.windowMs * 0.9, intervalMs);
    if (spent > 0) throw new Violation('only falls are spending', `${words}, but ${spent} was spent`);
  }
  if (rule.type === 'runway' && amountOf(reading, rule.balance) > (rule.floorMicros ?? 0)) {
    // A forecast rests on weeks.
    const backMs = rule.lookbackMs === null ? 70 * dayMs : rule.lookbackMs * 1.1 + 4 * intervalMs;
    const spent = history.spentSince(rule.balance, reading.at - backMs);
    if (spent === 0) throw new Violation('only falls are spending', `${words}, but nothing was spent`);
  }
}
