import { describeDuration, describeHistory, formatDuration } from '../domain/duration.ts';
import type { Fact } from '../domain/quantity.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { duration as durationKey } from '../schema/texts.ts';
import { hiddenTime, lookBack } from '../spending/lookback.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import { type InputOf, moneyKeys, secondMs, severityKey } from './common-keys.ts';
import type { AccountFacts, Evaluation } from './evaluation.ts';
import { moneyFigures } from './figures.ts';
import type { RuleKind } from './kind.ts';
import { moneyOf, wordValue } from './notice-words.ts';
import { nameBalance, wholeSeconds } from './rule-words.ts';
import { readingFacts, unusable } from './usable-reading.ts';
import { breached, duration, durationFact, instantFact, ok, textFact, unknown } from './verdict.ts';

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
  build: (common, input) => ({
    ...common,
    type: 'idle',
    balance: input.balance,
    windowMs: input.window,
  }),
  describe: (rule) =>
    `nothing of the ${nameBalance(rule)} spent during ${formatDuration(rule.windowMs)} (${rule.severity})`,
  lookBackMs: (rule) => rule.windowMs,
  evaluate,
  factsBehind,
  wouldNotFire: (rule, { reading, log }) =>
    reading === null
      ? null
      : `It would not fire with a \`window\` longer than ${wholeSeconds(idleTime(rule, log), 'up')}.`,
  matter: (about) => `${moneyOf(about)} spending stopped`,
  firing: (notice, frame) => {
    const value = wordValue(notice, frame);
    return `nothing spent from the ${moneyOf(notice)} balance${value === null ? '' : ` for ${value}`}`;
  },
  resolved: (notice) => `${moneyOf(notice)} spending seen again`,
  recovery: 'Resolved: the balance is being spent again.',
  figures: (notice, frame) =>
    moneyFigures(notice, frame, { threshold: (limit) => `${limit} without spending`, valueIsBalance: true }),
  advice: () => [
    'Check that what sends through this account is running: a balance in use does not stand still.',
  ],
};

/**
 * Breached when nothing was spent during the last `window` before the newest reading; resolved when
 * spending is seen. It judges the time since the reading that showed the last fall.
 *
 * It speaks of a breach only with a history as long as the window, and not while a top-up at the end of a gap
 * within the window may hide spending. A gap with the same balance before and after it hides nothing.
 */
function evaluate(rule: IdleRule, facts: AccountFacts): Evaluation {
  const problem = unusable(facts);
  const span = lookBack(facts.log, rule.windowMs);
  if (problem !== null || span === null) return unknown(problem ?? 'no reading yet');
  const { log } = facts;
  const numbers = { value: duration(idleTime(rule, log)), threshold: duration(rule.windowMs) };
  const from = span.cutByGap ? span.from - 1 : span.from;
  if (log.spentBetween(rule.balance, from, span.to) > 0) return ok(numbers);
  if (!span.covers && !span.cutByGap) {
    const seen = describeHistory(log.instantAt(span.to) - log.instantAt(span.from));
    return unknown(`${seen}, needs ${describeDuration(rule.windowMs)}`);
  }
  if (hiddenTime(log, { balance: rule.balance, from, to: span.to }) > 0) {
    return unknown('a top-up while polling was interrupted may hide spending');
  }
  return breached(rule.severity, numbers);
}

/** Time from the reading that showed the last spending, or from the first one known, to the newest. */
function idleTime(rule: IdleRule, log: ReadingLog): number {
  if (log.length === 0) return 0;
  return log.instantAt(log.length - 1) - log.instantAt(log.lastSpendingIndex(rule.balance));
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
