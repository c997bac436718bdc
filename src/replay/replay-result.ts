import type { Reading } from '../domain/reading.ts';
import { isoText } from '../domain/time.ts';
import type { WatchedAccount } from '../engine/state.ts';
import { isoOrNull, quantityJson } from '../views/public-object.ts';
import type { ReplayedIncident } from './incident-book.ts';
import type { MessageCount } from './message-counter.ts';
import type { SurveyedPast } from './past.ts';

/** The past as the configuration would have reported it. */
export interface ReplayResult {
  /** In the order in which they fired; those of a provider as a whole among them. */
  readonly incidents: readonly ReplayedIncident[];
  readonly messages: MessageCount;
  /** The accounts that have a past, in the order given. */
  readonly accounts: readonly SurveyedPast[];
  /** The first poll, and the end of what was watched. Both 0 without any poll. */
  readonly since: number;
  readonly until: number;
}

/** Somebody who looks on. */
export interface ReplayObserver {
  /** Before the first poll is judged. */
  begins?(accounts: readonly SurveyedPast[]): void;
  /** A reading was judged; `account` is as the engine knows it after that. */
  read?(account: WatchedAccount, reading: Reading): void;
}

/** The public JSON of a replay. `severity` is the worst that was reached, `value` what it fired with. */
export function replayJson({ incidents, messages }: ReplayResult) {
  return {
    incidents: incidents.map(({ account, rule, type, severity, firedAt, resolvedAt, value, empty }) => ({
      account,
      rule,
      type,
      severity,
      firedAt: isoText(firedAt),
      resolvedAt: isoOrNull(resolvedAt),
      value: value && quantityJson(value),
      emptyAt: isoOrNull(empty?.at ?? null),
      emptyBy: empty?.how ?? null,
    })),
    messages: messages.total,
  };
}
