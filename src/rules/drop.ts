import type { Micros } from '../domain/money.ts';
import { duration, type Fact, listFacts, money, text } from '../domain/quantity.ts';
import type { AmountOrShare, MoneyRule } from '../domain/rule.ts';
import { formatDuration, secondMs } from '../domain/time.ts';
import { amountOrShare, duration as durationKey } from '../schema/texts.ts';
import { hiddenTime, type Lookback, lookBack } from '../spending/burn.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayLabel, sayLimit, sayValue } from '../wording/quantity-wording.ts';
import { balanceKind } from './balance-kind.ts';
import { type AccountFacts, describeHistory, type Evaluation, unknown, verdict, why } from './evaluation.ts';
import { severityKey } from './kind.ts';
import * as words from './words.ts';

export interface DropRule extends MoneyRule {
  readonly type: 'drop';
  readonly by: AmountOrShare;
  readonly windowMs: number;
}

const says = phrases('drop', {
  subject: '{label} spending high',
  firing: '{label} spending {amount}, more than {limit}',
  firingWithin: '{label} spending {amount}, more than {limit} within {window}',
  resolved: '{label} spending is back to normal',
  recovery: 'Resolved: spending slowed down.',
  threshold: 'more than {limit} spent',
  advice: 'Find out what is sending more than usual. If it is not yours, replace the access key.',
});

const told = sentences('drop', {
  describes: 'more than {amount} of the {balance} spent within {window} ({severity})',
  notWith: 'It would not fire with "by" of {amount} or more.',
  hidden: 'a top-up during a gap may hide more spending',
  noShare: 'nothing at the start of the window to take a share of',
  interrupted: 'polling was interrupted over the start of the window',
});

const keys = {
  severity: severityKey.default('warning'),
  by: amountOrShare(
    'Fires when more than this is spent: an amount, or a percentage of the balance at the start. No verdict where something was spent from a balance that began at or below zero.',
    { sign: 'positive', maxPercent: 100 },
  ),
  window: durationKey(
    'The time within which it is spent, from the last reading at or before its beginning.',
    { minMs: secondMs },
  ),
};

export const drop = balanceKind<DropRule, typeof keys>({
  type: 'drop',
  summary: 'Spending that is faster than expected.',
  keys,
  build: (input) => ({ by: input.by, windowMs: input.window }),
  describe: (rule) =>
    told.describes({
      amount: words.describeAmount(rule.by),
      balance: words.nameBalance(rule),
      window: formatDuration(rule.windowMs),
      severity: rule.severity,
    }),
  lookBackMs: (rule) => rule.windowMs,
  judge,
  isSurelyOk(rule, { log }) {
    const span = lookBack(log, rule.windowMs);
    const spent = span === null ? 0 : log.spentBetween(rule.balance, span.from, span.to);
    if (span === null || spent === 0) return true;
    return spent <= (limitsOf(rule, log, span)?.certainlyBreached ?? Number.POSITIVE_INFINITY);
  },
  factsBehind,
  wouldNotFire(rule, { reading, log }) {
    const span = lookBack(log, rule.windowMs);
    if (span === null) return null;
    const spentMicros = log.spentBetween(rule.balance, span.from, span.to);
    // A share is rounded up to the four decimals that are shown, so that it is enough.
    const share = Math.ceil((spentMicros / log.balanceAt(span.from, rule.balance)) * 1_000_000) / 1_000_000;
    const amount =
      rule.by.kind === 'amount' ? words.exactAmount(spentMicros, reading.currency) : words.formatShare(share);
    return told.notWith({ amount });
  },
  subject: says.subject,
  firing(item, frame) {
    const [amount, limit, window] = [
      sayValue(item, frame),
      sayLimit(item, frame),
      words.factText(item, 'window', frame),
    ];
    const label = sayLabel(item.balanceLabel, frame);
    if (amount === null || limit === null) return say(says.subject, { label }, frame);
    return window === null
      ? say(says.firing, { label, amount, limit }, frame)
      : say(says.firingWithin, { label, amount, limit, window }, frame);
  },
  resolved: ({ balanceLabel }, frame) => say(says.resolved, { label: sayLabel(balanceLabel, frame) }, frame),
  recovery: () => says.recovery,
  threshold: () => says.threshold,
  judgesSpending: true,
  advice: (item, frame) => [say(says.advice, frame), ...words.topUpIfKnown(item, frame)],
});

/**
 * Breached when more than `by` was spent within the last `window` before the newest reading; a share
 * is of the balance at the window's start. Spent is the sum of falls, so a top-up in the
 * window hides nothing. A balance at zero or below has no share: any spending then gives no verdict, and no spending is ok.
 *
 * With a history that does not cover the window there is still a verdict if the outcome is certain: more than `by`
 * in the part that is known is a breach; no more than `by` in a span longer than the window is ok. All else is
 * unknown.
 */
function judge(rule: DropRule, { log }: AccountFacts): Evaluation {
  const { balance, windowMs } = rule;
  const span = lookBack(log, windowMs);
  if (span === null) return unknown(why.noReading());
  const tooShort = describeHistory(log.instantAt(span.to) - log.instantAt(span.from), windowMs);
  const limits = limitsOf(rule, log, span);
  const spent = log.spentBetween(balance, span.from, span.to);
  if (limits === null) {
    const isUnspent = span.covers ? spent === 0 : isCertainlyOk(rule, log, { span, limit: 0 });
    if (isUnspent) return verdict(null, money(0));
    return unknown(span.covers || span.cutByGap ? told.noShare() : tooShort);
  }
  const isBreached = spent > limits.certainlyBreached;
  if (isBreached || span.covers || isCertainlyOk(rule, log, { span, limit: limits.certainlyOk }))
    return verdict(isBreached ? rule.severity : null, money(spent), money(limits.certainlyBreached));
  return unknown(span.cutByGap ? told.interrupted() : tooShort);
}

function factsBehind(rule: DropRule, { log }: AccountFacts): readonly Fact[] {
  const { balance } = rule;
  const window = duration(rule.windowMs);
  const span = lookBack(log, rule.windowMs);
  if (span === null) return listFacts({ window });
  const { from, to } = span;
  const limits = limitsOf(rule, log, span);
  const isHidden = hiddenTime(log, { balance, from, to }) > 0;
  return listFacts({
    window,
    observed: duration(log.instantAt(to) - log.instantAt(from)),
    'in gaps': duration(log.blindBetween(from, to)),
    'balance at the start': money(log.balanceAt(from, balance)),
    spent: money(log.spentBetween(balance, from, to)),
    'topped up': money(log.toppedUpBetween(balance, from, to)),
    note: isHidden ? text(told.hidden()) : null,
    'breached above': limits && money(limits.certainlyBreached),
  });
}

/** The two limits differ only for a share while a gap lies over the window's start. Null when there is no share to take. */
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
  { balance }: DropRule,
  log: ReadingLog,
  { span, limit }: { span: Lookback; limit: Micros },
): boolean {
  if (!span.cutByGap) return false;
  const from = span.from - 1;
  const mayHide = hiddenTime(log, { balance, from, to: span.from }) > 0;
  return !mayHide && log.spentBetween(balance, from, span.to) <= limit;
}
