import { duration, instant, listFacts, text } from '../domain/quantity.ts';
import type { MoneyRule } from '../domain/rule.ts';
import { formatDuration, secondMs } from '../domain/time.ts';
import { duration as durationKey } from '../schema/texts.ts';
import { hiddenTime, lookBack } from '../spending/burn.ts';
import type { ReadingLog } from '../spending/reading-log.ts';
import { sayDuration } from '../wording/moments.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayBalance, sayLabel } from '../wording/quantity-wording.ts';
import { balanceKind } from './balance-kind.ts';
import { describeHistory, unknown, verdict, why } from './evaluation.ts';
import { severityKey } from './kind.ts';
import { nameBalance, wholeSeconds } from './words.ts';

export interface IdleRule extends MoneyRule {
  readonly type: 'idle';
  readonly windowMs: number;
}

const says = phrases('idle', {
  subject: '{label} spending stopped',
  firing: 'nothing spent from the {balance} for {duration}',
  nothing: 'nothing spent from the {balance}',
  resolved: '{label} spending seen again',
  recovery: 'Resolved: the balance is being spent again.',
  threshold: '{limit} without spending',
  advice: 'Check that what sends through this account is running: a balance in use does not stand still.',
});

const told = sentences('idle', {
  describes: 'nothing of the {balance} spent during {window} ({severity})',
  notWith: 'It would not fire with a "window" longer than {duration}.',
  noneSeen: 'no spending in the history at hand',
  hidden: 'a top-up while polling was interrupted may hide spending',
});

const keys = {
  severity: severityKey.default('warning'),
  window: durationKey(
    'Fires when nothing was spent for this long. Time in which nothing could be read is not counted.',
    { minMs: secondMs },
  ),
};

export const idle = balanceKind<IdleRule, typeof keys>({
  type: 'idle',
  summary: 'No spending: perhaps nothing is sent any more.',
  keys,
  build: (input) => ({ windowMs: input.window }),
  describe: (rule) =>
    told.describes({
      balance: nameBalance(rule),
      window: formatDuration(rule.windowMs),
      severity: rule.severity,
    }),
  // Long enough for watched time to fill the window although nights or outages lie between.
  lookBackMs: (rule) => 3 * rule.windowMs,
  /**
   * Breached when nothing was spent during the last `window` of watched time before the newest reading; resolved when
   * spending is seen. Time in gaps (the clock stepped, nobody watched, nothing could be read) does not count as time without spending.
   *
   * It gives no verdict with less watched time than the window, and while a top-up at the end of a gap may hide spending.
   */
  judge(rule, { log }) {
    const { balance, windowMs } = rule;
    const span = lookBack(log, windowMs);
    if (span === null) return unknown(why.noReading());
    const judged = (severity: IdleRule['severity'] | null) =>
      verdict(severity, duration(idleTime(rule, log)), duration(windowMs));
    if (log.spentBetween(balance, span.cutByGap ? span.from - 1 : span.from, span.to) > 0)
      return judged(null);
    let from = span.to;
    while (from > 0 && watchedTime(log, from) < windowMs) from--;
    if (log.spentBetween(balance, from, span.to) > 0 || watchedTime(log, from) < windowMs) {
      const seen = Math.min(watchedTime(log, from), idleTime(rule, log));
      return unknown(describeHistory(seen, windowMs));
    }
    return hiddenTime(log, { balance, from, to: span.to }) > 0
      ? unknown(told.hidden())
      : judged(rule.severity);
  },
  factsBehind(rule, { log }) {
    const span = lookBack(log, rule.windowMs);
    if (span === null) return listFacts({ window: duration(rule.windowMs) });
    const last = log.lastSpendingIndex(rule.balance);
    return listFacts({
      window: duration(rule.windowMs),
      'nothing spent for': duration(idleTime(rule, log)),
      [last === 0 ? 'history begins at' : 'spending last seen at']: instant(log.instantAt(last)),
      'in gaps': duration(log.blindBetween(span.from, span.to)),
      note: last === 0 ? text(told.noneSeen()) : null,
    });
  },
  wouldNotFire: (rule, { log }) => told.notWith({ duration: wholeSeconds(idleTime(rule, log), 'up') }),
  subject: says.subject,
  firing(item, frame) {
    // The log holds only its window; the incident knows since when it fires.
    const windowMs = item.threshold?.unit === 'duration' ? item.threshold.ms : 0;
    const firedForMs = (item.account?.reading?.at ?? frame.now) - item.firedAt;
    const balance = sayBalance(item.balanceLabel, frame);
    if (item.value?.unit !== 'duration') return say(says.nothing, { balance }, frame);
    const duration = sayDuration(Math.max(item.value.ms, windowMs + firedForMs), frame);
    return say(says.firing, { balance, duration }, frame);
  },
  resolved: ({ balanceLabel }, frame) => say(says.resolved, { label: sayLabel(balanceLabel, frame) }, frame),
  recovery: () => says.recovery,
  threshold: () => says.threshold,
  advice: (_item, frame) => [say(says.advice, frame)],
});

/** Watched time since the last known spending. */
function idleTime(rule: IdleRule, log: ReadingLog): number {
  return log.length === 0 ? 0 : watchedTime(log, log.lastSpendingIndex(rule.balance));
}

/** Time up to the newest reading, without gaps. */
function watchedTime(log: ReadingLog, from: number): number {
  const to = log.length - 1;
  return log.instantAt(to) - log.instantAt(from) - log.blindBetween(from, to);
}
