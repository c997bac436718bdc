import type { OutcomeKind } from '../domain/reading.ts';
import type { DeliveryEnd } from '../engine/delivery-ended.ts';
import type { Log } from '../ports/log.ts';

/** Upper bounds of the histogram of poll durations, in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

type NotificationState = 'delivered' | 'dead' | 'retried';

const countedAs = {
  delivered: 'delivered',
  retry: 'retried',
  dead: 'dead',
  needless: 'dead',
} as const satisfies Record<DeliveryEnd['kind'], NotificationState>;

/** For metrics; since the start of the process. */
export interface Counters {
  polls(): Iterable<{ readonly account: string; readonly outcome: OutcomeKind; readonly count: number }>;
  /** In seconds, cumulative. */
  pollDurations(): {
    readonly buckets: readonly { readonly le: number; readonly count: number }[];
    readonly sum: number;
    readonly count: number;
  };
  droppedLogLines(): number;
  notifications(): Iterable<{
    readonly channel: string;
    readonly state: NotificationState;
    readonly count: number;
  }>;
}

export class Counting implements Counters {
  readonly #polls = new Map<string, Map<OutcomeKind, number>>();
  readonly #notifications = new Map<string, Map<NotificationState, number>>();
  readonly #durations: number[] = bounds.map(() => 0);
  #durationSum = 0;
  #durationCount = 0;
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  droppedLogLines(): number {
    return this.#log.dropped ?? 0;
  }

  countPoll(account: string, outcome: OutcomeKind, durationMs: number): void {
    increment(this.#polls, account, outcome);
    const seconds = durationMs / 1000;
    this.#durationSum += seconds;
    this.#durationCount++;
    const bucket = bounds.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1;
  }

  countDelivery(channel: string, end: DeliveryEnd['kind']): void {
    increment(this.#notifications, channel, countedAs[end]);
  }

  *polls() {
    for (const [account, outcomes] of this.#polls) {
      for (const [outcome, count] of outcomes) yield { account, outcome, count };
    }
  }

  *notifications() {
    for (const [channel, states] of this.#notifications) {
      for (const [state, count] of states) yield { channel, state, count };
    }
  }

  pollDurations() {
    let below = 0;
    const buckets = bounds.map((le, index) => {
      below += this.#durations[index] ?? 0;
      return { le, count: below };
    });
    return { buckets, sum: this.#durationSum, count: this.#durationCount };
  }
}

function increment<K>(counts: Map<string, Map<K, number>>, name: string, key: K): void {
  const inner = counts.get(name) ?? new Map<K, number>();
  counts.set(name, inner);
  inner.set(key, (inner.get(key) ?? 0) + 1);
}
