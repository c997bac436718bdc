import type { OutcomeKind } from '../domain/reading.ts';
import type { DeliveryEnd } from '../engine/delivery-ended.ts';
import type { Log } from '../ports/log.ts';

/** Upper bounds of the histogram of poll durations, in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

const countedAs = {
  delivered: 'delivered',
  retry: 'retried',
  dead: 'dead',
  needless: 'dead',
  untried: 'retried',
} as const satisfies Record<DeliveryEnd['kind'], string>;

type NotificationState = (typeof countedAs)[DeliveryEnd['kind']];

/** Counts for metrics, since the start of the process. */
export type Counters = Pick<Counting, 'polls' | 'pollDurations' | 'droppedLogLines' | 'notifications'>;

export class Counting {
  readonly #polls = new Map<string, Map<OutcomeKind, number>>();
  readonly #notifications = new Map<string, Map<NotificationState, number>>();
  /** Counts by bucket; the last is for durations beyond the last bound. */
  readonly #durations = [...bounds, 0].map(() => 0);
  #durationSum = 0;
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
    let bucket = 0;
    while (seconds > (bounds[bucket] ?? seconds)) bucket++;
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + 1;
  }

  countDelivery(channel: string, end: DeliveryEnd['kind']): void {
    increment(this.#notifications, channel, countedAs[end]);
  }

  *polls(): Iterable<{ readonly account: string; readonly outcome: OutcomeKind; readonly count: number }> {
    for (const [account, outcomes] of this.#polls)
      for (const [outcome, count] of outcomes) yield { account, outcome, count };
  }

  *notifications(): Iterable<{
    readonly channel: string;
    readonly state: NotificationState;
    readonly count: number;
  }> {
    for (const [channel, states] of this.#notifications)
      for (const [state, count] of states) yield { channel, state, count };
  }

  /** Buckets with upper bounds in seconds, and cumulative counts. */
  pollDurations() {
    let count = 0;
    const buckets = bounds.map((le, index) => {
      count += this.#durations[index] ?? 0;
      return { le, count };
    });
    return { buckets, sum: this.#durationSum, count: count + (this.#durations.at(-1) ?? 0) };
  }
}

function increment<K>(counts: Map<string, Map<K, number>>, name: string, key: K): void {
  const inner = counts.get(name) ?? new Map<K, number>();
  counts.set(name, inner);
  inner.set(key, (inner.get(key) ?? 0) + 1);
}
