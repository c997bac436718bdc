import type { MessageItem } from '../domain/message.ts';
import { formatExact, type Micros } from '../domain/money.ts';
import { expectedBetween } from '../domain/operator.ts';
import { count, duration, type Fact, instant, listFacts, money, text } from '../domain/quantity.ts';
import { amountOf, emptyLevel } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { formatDuration, secondMs } from '../domain/time.ts';
import { amount, duration as durationKey } from '../schema/texts.ts';
import { isTopUp, minTopUps, usualTopUp } from '../spending/top-ups.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayLabel, sayLimit, sayRise, type WordingFrame } from '../wording/quantity-wording.ts';
import { balanceKind, type ReadFacts } from './balance-kind.ts';
import { type AccountFacts, type Evaluation, unknown, verdict, why } from './evaluation.ts';
import { severityKey } from './kind.ts';
import { exactAmount, nameBalance, sayBalanceOf, topUpIfKnown } from './words.ts';

export interface MissedTopUpRule extends MoneyRule {
  readonly type: 'missed-top-up';
  /** Null: learned. */
  readonly atMicros: Micros | null;
  readonly withinMs: number;
}

const says = phrases('missedTopUp', {
  subject: '{label} top-up missed',
  firing: '{label} top-up did not come at {limit}, balance {amount}',
  firingOff: '{label} top-up did not come at {limit}, balance {amount}, automatic recharge is off',
  firingOf: '{label} top-up of {usual} did not come at {limit}, balance {amount}',
  firingOfOff:
    '{label} top-up of {usual} did not come at {limit}, balance {amount}, automatic recharge is off',
  resolved: '{balance} {amount}, no top-up is missed any more',
  recovery: 'Resolved: the balance rose.',
  threshold: 'top-up due below {limit}',
  on: 'The provider says that automatic recharge is on: check whether its payment was refused.',
  off: 'The provider says that automatic recharge is off: switch it on, or top up by hand.',
  notKnown: 'Check the automatic recharge: whether it is switched on, and whether its payment was refused.',
});

const told = sentences('missedTopUp', {
  describes: '{balance} below {level} for {duration} without a top-up ({severity})',
  describesUsual: '{balance} below where top-ups usually come for {duration} without a top-up ({severity})',
  notWith: 'It would not fire with "at" of {amount} or less.',
  isOn: 'on',
  isOff: 'off',
  tooFew: '{count, plural, one {# top-up} other {# top-ups}} seen, needs {needed} to know where they come',
  uneven: 'the last top-ups were not of one amount from one balance',
});

const keys = {
  severity: severityKey.default('warning'),
  at: amount(
    'The balance below which a top-up is due. Default: where the last ones came, once that is learned.',
  ).optional(),
  within: durationKey('How long the balance may stay below it without a top-up.', {
    minMs: secondMs,
  }).prefault('20m'),
};

export const missedTopUp = balanceKind<MissedTopUpRule, typeof keys>({
  type: 'missed-top-up',
  endsByTopUp: true,
  summary: 'An automatic recharge that did not come at the balance at which it always came.',
  keys,
  build: (input) => ({ atMicros: input.at ?? null, withinMs: input.within }),
  describe: (rule) => {
    const { atMicros, withinMs, severity } = rule;
    const given = { balance: nameBalance(rule), duration: formatDuration(withinMs), severity };
    return atMicros === null
      ? told.describesUsual(given)
      : told.describes({ ...given, level: formatExact(atMicros) });
  },
  lookBackMs: (rule) => rule.withinMs,
  judge,
  factsBehind,
  wouldNotFire: (rule, { reading }) =>
    told.notWith({ amount: exactAmount(amountOf(reading, rule.balance), reading.currency) }),
  levels: (rule) => (rule.atMicros === null ? {} : { [rule.severity]: rule.atMicros }),
  subject: says.subject,
  firing: sayFiring,
  resolved: (item, frame) => say(says.resolved, sayBalanceOf(item, frame), frame),
  recovery: () => says.recovery,
  threshold: () => says.threshold,
  advice: (item, frame) => [say(says[rechargeOf(item) ?? 'notKnown'], frame), ...topUpIfKnown(item, frame)],
});

const usualAmount = 'usual top-up';
const recharge = 'automatic recharge';

function rechargeOf(item: MessageItem): 'on' | 'off' | null {
  const said = item.facts.find(({ name }) => name === recharge)?.value;
  if (said?.unit !== 'text') return null;
  return said.text === 'on' ? 'on' : 'off';
}

function sayFiring(item: MessageItem, frame: WordingFrame): string {
  const usual = item.facts.find(({ name }) => name === usualAmount)?.value;
  const limit = sayLimit(item, frame);
  const label = sayLabel(item.balanceLabel, frame);
  const given = { ...sayBalanceOf(item, frame), label, limit: limit ?? '' };
  if (limit === null) return say(says.subject, given, frame);
  const isOff = rechargeOf(item) === 'off';
  if (usual?.unit !== 'money') return say(isOff ? says.firingOff : says.firing, given, frame);
  return say(
    isOff ? says.firingOfOff : says.firingOf,
    { ...given, usual: sayRise(usual.micros, frame) },
    frame,
  );
}

/** The level below which a top-up is due, and its amount if that was learned; or in words, why it is unknown. */
type Due = { readonly level: Micros; readonly amount: Micros | null } | string;

/**
 * Breached when the balance has been below the level for `within` without a top-up (`isTopUp`); resolved when it rises. If it is
 * still below after that, it is due again. It gives no verdict until it has learned the level, unless the file names it. If the
 * file names it and the provider says that automatic recharge is off, `within` is not waited for: nothing will come.
 */
function judge(rule: MissedTopUpRule, facts: ReadFacts, firing: Severity | null): Evaluation {
  const { reading, expected, log } = facts;
  const { balance } = rule;
  const due = dueOf(rule, facts);
  if (typeof due === 'string') return unknown(due);
  const judged = (isMissed: boolean): Evaluation =>
    verdict(isMissed ? rule.severity : null, money(amountOf(reading, balance)), money(due.level));
  const since = belowSince(rule, facts, due.level);
  // A top-up that a person announced is not missed before it is due; after that another rule reports it (`late-top-up`).
  const until = Number.MAX_SAFE_INTEGER;
  const isOrdered = firing === null && expectedBetween(expected, { balance, at: reading.at, until }) > 0;
  if (since === null || isOrdered) return judged(false);
  // A log that begins below the level saw no top-up, but may no longer reach back to the first such reading.
  const isHeld = firing !== null && since === log.instantAt(0);
  const isVain = rule.atMicros !== null && facts.autoRecharge === false;
  return judged(isHeld || isVain || reading.at - since >= rule.withinMs);
}

function dueOf(rule: MissedTopUpRule, facts: AccountFacts): Due {
  if (rule.atMicros !== null) return { level: rule.atMicros, amount: null };
  const { spending, reading } = facts;
  if (!spending.knows(reading)) return why.learning();
  const state = spending.state(rule.balance);
  const seen = state?.topUps ?? 0;
  if (state === null || seen < minTopUps) return told.tooFew({ count: seen, needed: minTopUps });
  return usualTopUp(state, emptyLevel(facts, rule.balance)) ?? told.uneven();
}

/** Since which reading the balance is below the level without a top-up, at most `within` back; null when it is not. */
function belowSince(rule: MissedTopUpRule, { log, spending }: AccountFacts, level: Micros): number | null {
  const { balance, withinMs } = rule;
  const newest = log.length - 1;
  if (newest < 0 || log.balanceAt(newest, balance) >= level) return null;
  const state = spending.state(balance);
  const until = log.instantAt(newest) - withinMs;
  let from = newest;
  while (from > 0 && log.instantAt(from) > until) {
    if (log.balanceAt(from - 1, balance) >= level) break;
    if (isTopUp(state, log.toppedUpBetween(balance, from - 1, from))) break;
    from--;
  }
  return log.instantAt(from);
}

function factsBehind(rule: MissedTopUpRule, facts: AccountFacts): readonly Fact[] {
  const { autoRecharge, spending } = facts;
  const found = dueOf(rule, facts);
  const due = typeof found === 'string' ? null : found;
  const since = due && belowSince(rule, facts, due.level);
  return listFacts({
    within: duration(rule.withinMs),
    'top-ups seen': count(spending.state(rule.balance)?.topUps ?? 0),
    [recharge]: autoRecharge === null ? null : text(autoRecharge ? told.isOn() : told.isOff()),
    [usualAmount]: due?.amount == null ? null : money(due.amount),
    'due below': due && money(due.level),
    'below it at least since': since === null ? null : instant(since),
  });
}
