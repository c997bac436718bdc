import { describeDuration, describeHistory, formatDuration, secondMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import type { AmountOrShare, MoneyRule } from '../domain/rule.ts';
import { amountOrShare, duration as durationKey } from '../schema/texts.ts';
import { hiddenTime, type Lookback, lookBack } from '../spending/lookback.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import {
  type AccountFacts,
  breached,
  durationFact,
  type Evaluation,
  money,
  moneyFact,
  ok,
  readingFacts,
  textFact,
  unknown,
  unusable,
} from './evaluation.ts';
import { moneyFigures } from './figures.ts';
import { type InputOf, moneyKeys, type RuleKind, severityKey } from './kind.ts';
import {
  describeAmount,
  exactAmount,
  factText,
  formatShare,
  moneyOf,
  nameBalance,
  topUpIfKnown,
  wordLimit,
  wordValue,
} from './words.ts';

export interface DropRule extends MoneyRule {
  readonly type: 'drop';
  readonly by: AmountOrShare;
  readonly windowMs: number;
}

const keys = {
  ...moneyKeys,
  severity: severityKey.default('warning'),
  by: amountOrShare(
    'Fires when more than this is spent: an amount, or a percentage of the balance at the start.',
    { sign: 'positive', maxPercent: 100 },
  ),
  window: durationKey('The time within which it is spent.', { minMs: secondMs }),
};

export const drop: RuleKind<DropRule, InputOf<typeof keys>> = {
  type: 'drop',
  summary: 'Spending that is faster than expected.',
  keys,
  needsReading: true,
  build: (input) => ({ by: input.by, windowMs: input.window }),
  describe: (rule) =>
    `more than ${describeAmount(rule.by)} of the ${nameBalance(rule)} spent within ${formatDuration(rule.windowMs)} (${rule.severity})`,
  lookBackMs: (rule) => rule.windowMs,
  evaluate,
  isSurelyOk: (rule, { log }) => {
    const span = lookBack(log, rule.windowMs);
    const spent = span === null ? 0 : log.spentBetween(rule.balance, span.from, span.to);
    if (span === null || spent === 0) return true;
    return spent <= (limitsOf(rule, log, span)?.certainlyBreached ?? Number.POSITIVE_INFINITY);
  },
  factsBehind,
  wouldNotFire,
  subject: (about) => `${moneyOf(about)} spending high`,
  firing: (item, frame) => {
    const limit = wordLimit(item, frame);
    const window = factText(item, 'window', frame);
    return `${moneyOf(item)} spending ${wordValue(item, frame) ?? 'is high'}${limit === null ? '' : `, more than ${limit}`}${window === null ? '' : ` within ${window}`}`;
  },
  resolved: (item) => `${moneyOf(item)} spending is back to normal`,
  recovery: 'Resolved: spending slowed down.',
  figures: (item, frame) =>
    moneyFigures(item, frame, { threshold: (limit) => `more than ${limit} spent`, valueIsBalance: false }),
  advice: (item, frame) => [
    'Find out what is sending more than usual. If it is not yours, replace the access key.',
    ...topUpIfKnown(item, frame),
  ],
};

/**
 * Breached when more than `by` was spent within the last `window` before the newest reading; a share
 * is of the balance at the window's start. Spent is the sum of falls, so a top-up in the
 * window hides nothing.
 *
 * With a history that does not cover the window it still speaks where the outcome is certain: more than `by`
 * in the part that is known is a breach; not even `by` in a span longer than the window is ok. All else is
 * unknown.
 */
function evaluate(rule: DropRule, facts: AccountFacts): Evaluation {
  const problem = unusable(facts);
  const span = lookBack(facts.log, rule.windowMs);
  if (problem !== null || span === null) return unknown(problem ?? 'no reading yet');
  const { log } = facts;
  const spent = log.spentBetween(rule.balance, span.from, span.to);
  const limits = limitsOf(rule, log, span);
  if (limits === null) {
    return unknown(
      span.covers || span.cutByGap
        ? 'nothing at the start of the window to take a share of'
        : tooShort(rule, log, span),
    );
  }
  if (spent > limits.certainlyBreached) {
    return breached(rule.severity, { value: money(spent), threshold: money(limits.certainlyBreached) });
  }
  if (span.covers || isCertainlyOk(rule, log, { span, limit: limits.certainlyOk })) {
    return ok({ value: money(spent), threshold: money(limits.certainlyBreached) });
  }
  return unknown(
    span.cutByGap ? 'polling was interrupted over the start of the window' : tooShort(rule, log, span),
  );
}

function factsBehind(rule: DropRule, facts: AccountFacts): readonly Fact[] {
  const { log } = facts;
  const found = [...readingFacts(facts, rule.balance), durationFact('window', rule.windowMs)];
  const span = lookBack(log, rule.windowMs);
  if (span === null) return found;
  const { from, to } = span;
  const limits = limitsOf(rule, log, span);
  found.push(
    durationFact('observed', log.instantAt(to) - log.instantAt(from)),
    durationFact('in gaps', log.blindBetween(from, to)),
    moneyFact('balance at the start', log.balanceAt(from, rule.balance)),
    moneyFact('spent', log.spentBetween(rule.balance, from, to)),
    moneyFact('topped up', log.toppedUpBetween(rule.balance, from, to)),
  );
  if (hiddenTime(log, { balance: rule.balance, from, to }) > 0) {
    found.push(textFact('note', 'a top-up during a gap may hide more spending'));
  }
  if (limits !== null) found.push(moneyFact('breached above', limits.certainlyBreached));
  return found;
}

/**
 * The amounts that decide. They differ only for a share while a gap lies over the window's start: the balance
 * there was something between those on the gap's two sides. Null when there is no share to take.
 */
function limitsOf(
  rule: DropRule,
  log: ReadingLog,
  span: Lookback,
): { readonly certainlyBreached: Micros; readonly certainlyOk: Micros } | null {
  if (rule.by.kind === 'amount') return { certainlyBreached: rule.by.micros, certainlyOk: rule.by.micros };
  if (!span.covers && !span.cutByGap) return null;
  const start = log.balanceAt(span.from, rule.balance);
  const other = span.cutByGap ? log.balanceAt(span.from - 1, rule.balance) : start;
  if (Math.min(start, other) <= 0) return null;
  return {
    certainlyBreached: Math.round(Math.max(start, other) * rule.by.share),
    certainlyOk: Math.round(Math.min(start, other) * rule.by.share),
  };
}

function isCertainlyOk(
  rule: DropRule,
  log: ReadingLog,
  { span, limit }: { span: Lookback; limit: Micros },
): boolean {
  if (!span.cutByGap) return false;
  const from = span.from - 1;
  const mayHide = hiddenTime(log, { balance: rule.balance, from, to: span.from }) > 0;
  return !mayHide && log.spentBetween(rule.balance, from, span.to) <= limit;
}

function tooShort(rule: DropRule, log: ReadingLog, span: Lookback): string {
  const seen = describeHistory(log.instantAt(span.to) - log.instantAt(span.from));
  return `${seen}, needs ${describeDuration(rule.windowMs)}`;
}

function wouldNotFire(rule: DropRule, { reading, log }: AccountFacts): string | null {
  const span = lookBack(log, rule.windowMs);
  if (reading === null || span === null) return null;
  const spentMicros = log.spentBetween(rule.balance, span.from, span.to);
  if (rule.by.kind === 'amount') {
    return `It would not fire with "by" of ${exactAmount(spentMicros, reading.currency)} or more.`;
  }
  const startMicros = log.balanceAt(span.from, rule.balance);
  // Rounded up to the four decimals that are shown, so that this share is enough.
  const share = Math.ceil((spentMicros / startMicros) * 1_000_000) / 1_000_000;
  return `It would not fire with "by" of ${formatShare(share)} or more.`;
}
