import type { Alert } from '../../../src/domain/alert.ts';
import type { Reading } from '../../../src/domain/reading.ts';
import type { AnyRule } from '../../../src/rules/registry.ts';
import { dayMs } from '../../support/account-facts.ts';
import { Violation } from '../story.ts';

/** The longest window that scenarios draw, and some. */
const keptMs = 30 * 3_600_000;

/** A reading, and when it came by a clock that no step moves. */
interface Seen extends Reading {
  readonly seenAt: number;
}

/** What was read of one account, as a plain list. */
export class History {
  #live: Seen[] = [];
  /** So many of them are stored. */
  #durable = 0;
  #taken = 0;
  #backup: readonly Seen[] = [];

  add(reading: Reading, seenAt: number): void {
    this.#live.push({ ...reading, seenAt });
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
  spentSince(balance: 'sms' | 'voip', since: number): number {
    return this.#spentWhile(balance, ({ at }) => at >= since);
  }

  /** The same for so long before the newest reading, whatever the clock was set to meanwhile. */
  spentWithin(balance: 'sms' | 'voip', ms: number): number {
    const newest = this.#live.at(-1)?.seenAt ?? 0;
    return this.#spentWhile(balance, ({ seenAt }) => seenAt >= newest - ms);
  }

  #spentWhile(balance: 'sms' | 'voip', counts: (reading: Seen) => boolean): number {
    let spent = 0;
    for (let place = this.#live.length - 1; place > 0; place--) {
      const reading = this.#live[place];
      const before = this.#live[place - 1];
      if (reading === undefined || before === undefined || !counts(reading)) break;
      if (before.currency === reading.currency) spent += Math.max(0, before[balance] - reading[balance]);
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
    // Time that nobody watched makes the window longer than this by every clock, and a step of the clock makes it no shorter.
    const spent = history.spentWithin(rule.balance, rule.windowMs * 0.9);
    if (spent > 0) throw new Violation('only falls are spending', `${words}, but ${spent} was spent`);
  }
  if (rule.type === 'runway' && reading[rule.balance] > (rule.floorMicros ?? 0)) {
    // What is foretold rests on weeks.
    const backMs = rule.lookbackMs === null ? 70 * dayMs : rule.lookbackMs * 1.1 + 4 * intervalMs;
    const spent = history.spentSince(rule.balance, reading.at - backMs);
    if (spent === 0) throw new Violation('only falls are spending', `${words}, but nothing was spent`);
  }
}
