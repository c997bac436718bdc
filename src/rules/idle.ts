import { describeDuration, describeHistory, formatDuration, secondMs } from '../domain/duration.ts';
import type { MessageItem } from '../domain/message.ts';
import { roughDuration } from '../domain/moment.ts';
import type { Fact } from '../domain/quantity.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { duration as durationKey } from '../schema/texts.ts';
import { hiddenTime, lookBack } from '../spending/lookback.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import {
  type AccountFacts,
  breached,
  duration,
  durationFact,
  type Evaluation,
  instantFact,
  ok,
  readingFacts,
  textFact,
  unknown,
  unusable,
} from './evaluation.ts';
import { moneyFigures } from './figures.ts';
import { type InputOf, moneyKeys, type RuleKind, severityKey } from './kind.ts';
import { moneyOf, nameBalance, wholeSeconds } from './words.ts';

export interface IdleRule extends MoneyRule {
  readonly type: 'idle';
  readonly windowMs: number;
}

const keys = {
  ...moneyKeys,
  severity: severityKey.default('warning'),
  window: durationKey('Fires when nothing was spent for this long.', { minMs: secondMs }),
};

export const idle: RuleKind<IdleRule, InputOf<typeof keys>> = {
  type: 'idle',
  summary: 'No spending: perhaps nothing is sent any more.',
  keys,
  needsReading: true,
  build: (input) => ({ windowMs: input.window }),
  describe: (rule) =>
    `nothing of the ${nameBalance(rule)} spent during ${formatDuration(rule.windowMs)} (${rule.severity})`,
  // Watched time fills the window although nights or outages lie between.
  lookBackMs: (rule) => 3 * rule.windowMs,
  evaluate,
  factsBehind,
  wouldNotFire: (rule, { reading, log }) =>
    reading === null
      ? null
      : `It would not fire with a "window" longer than ${wholeSeconds(idleTime(rule, log), 'up')}.`,
  subject: (about) => `${moneyOf(about)} spending stopped`,
  firing: (item, frame) => {
    const length = lengthOf(item, frame);
    return `nothing spent from the ${moneyOf(item)} balance${length === null ? '' : ` for ${roughDuration(length)}`}`;
  },
  resolved: (item) => `${moneyOf(item)} spending seen again`,
  recovery: 'Resolved: the balance is being spent again.',
  figures: (item, frame) =>
    moneyFigures(item, frame, { threshold: (limit) => `${limit} without spending`, valueIsBalance: true }),
  advice: () => [
    'Check that what sends through this account is running: a balance in use does not stand still.',
  ],
};

/** The log has only its window; the incident knows since when it fires. */
function lengthOf(item: MessageItem, { now }: WordingFrame): number | null {
  if (item.value?.unit !== 'duration') return null;
  const windowMs = item.threshold?.unit === 'duration' ? item.threshold.ms : 0;
  const firedForMs = (item.account?.reading?.at ?? now) - item.firedAt;
  return Math.max(item.value.ms, windowMs + firedForMs);
}

/**
 * Breached when nothing was spent during the last `window` of watched time before the newest reading; resolved when
 * spending is seen. Time in gaps (the clock stepped, nobody watched, nothing could be read) is no time without spending.
 *
 * It gives no verdict with less watched time than the window, and while a top-up at the end of a gap may hide spending.
 */
function evaluate(rule: IdleRule, facts: AccountFacts): Evaluation {
  const problem = unusable(facts);
  const { log } = facts;
  const span = lookBack(log, rule.windowMs);
  if (problem !== null || span === null) return unknown(problem ?? 'no reading yet');
  const numbers = { value: duration(idleTime(rule, log)), threshold: duration(rule.windowMs) };
  if (log.spentBetween(rule.balance, span.cutByGap ? span.from - 1 : span.from, span.to) > 0)
    return ok(numbers);
  let from = span.to;
  while (from > 0 && watchedTime(log, from) < rule.windowMs) from--;
  if (log.spentBetween(rule.balance, from, span.to) > 0 || watchedTime(log, from) < rule.windowMs) {
    const seen = Math.min(watchedTime(log, from), idleTime(rule, log));
    return unknown(`${describeHistory(seen)}, needs ${describeDuration(rule.windowMs)}`);
  }
  if (hiddenTime(log, { balance: rule.balance, from, to: span.to }) > 0) {
    return unknown('a top-up while polling was interrupted may hide spending');
  }
  return breached(rule.severity, numbers);
}

/** Watched time since the last spending that is known. */
function idleTime(rule: IdleRule, log: ReadingLog): number {
  return log.length === 0 ? 0 : watchedTime(log, log.lastSpendingIndex(rule.balance));
}

/** Time up to the newest reading, without gaps. */
function watchedTime(log: ReadingLog, from: number): number {
  const to = log.length - 1;
  return log.instantAt(to) - log.instantAt(from) - log.blindBetween(from, to);
}

function factsBehind(rule: IdleRule, facts: AccountFacts): readonly Fact[] {
  const { log } = facts;
  const found = [...readingFacts(facts, rule.balance), durationFact('window', rule.windowMs)];
  if (log.length === 0) return found;
  const last = log.lastSpendingIndex(rule.balance);
  found.push(
    durationFact('nothing spent for', idleTime(rule, log)),
    instantFact(last === 0 ? 'history begins at' : 'spending last seen at', log.instantAt(last)),
  );
  const span = lookBack(log, rule.windowMs);
  if (span !== null) found.push(durationFact('in gaps', log.blindBetween(span.from, span.to)));
  if (last === 0) found.push(textFact('note', 'no spending in the history at hand'));
  return found;
}
