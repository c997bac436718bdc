import type { MessageItem } from '../domain/message.ts';
import { duration, type Fact, instant, listFacts, money, text } from '../domain/quantity.ts';
import { amountOf, emptyLevel, type Reading } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { hourMs } from '../domain/time.ts';
import { choice } from '../schema/shapes.ts';
import { isShifting, recentShift } from '../spending/level-shift.ts';
import { hoursPerWeek } from '../spending/local-week.ts';
import { type Episode, episodeOf, excuse, isUnusual, type Side } from '../spending/unusual.ts';
import { type PhraseOf, phrases, say, sentences } from '../wording/phrase.ts';
import { sayLabel, timesTheUsual, type WordingFrame } from '../wording/quantity-wording.ts';
import { balanceKind, type ReadFacts } from './balance-kind.ts';
import { type AccountFacts, type Evaluation, unknown, usableReading, verdict, why } from './evaluation.ts';
import { type InputOf, type RuleKind, severityKey } from './kind.ts';
import { spendingFacts } from './spending-facts.ts';
import { degrees, factText, givenText, nameBalance, topUpIfKnown } from './words.ts';

/** Multiplies the limit of `isUnusual`. */
const factors = { low: 2, normal: 1, high: 0.6 } as const;

export interface UnusualRule extends MoneyRule {
  readonly type: 'surge' | 'slump';
  readonly sensitivity: keyof typeof factors;
}

const keys = {
  severity: severityKey.default('warning'),
  sensitivity: choice('How small a deviation fires.', ['low', 'normal', 'high']).default('normal'),
};

const says = phrases('unusual', {
  surges: '{label} spending surges',
  fallsAway: '{label} spending falls away',
  farMore: '{label} spending is far more than usual',
  farLess: '{label} spending is far less than usual',
  times: '{label} spending is {factor} times the usual for {span}',
  timesMany: '{label} spending is more than 1,000 times the usual for {span}',
  changed: '{label} spending has changed to {factor} times its former level',
  resolved: '{label} spending is as usual again',
  stays: '{label} spending stays at {factor} times its former level',
  recovery: 'Resolved: spending is as usual again, or this is what is usual now.',
  threshold: 'usual: {limit}',
  findOut: 'Find out what is sending more than usual. If it is not yours, replace the access key.',
  check: 'Check that what sends through this account is running.',
});

const told = sentences('unusual', {
  describesMore:
    '{balance} spent far more than usual at this hour of the week, {sensitivity} sensitivity ({severity})',
  describesLess:
    '{balance} spent far less than usual at this hour of the week, {sensitivity} sensitivity ({severity})',
  lessSensitive: 'It may not fire with a lower `sensitivity`.',
  asUsual: 'spending is as usual',
  change: '{factor} times its former level',
  nothingSpent: 'nothing was spent yet',
  many: 'more than 1,000',
  tooShort: '{count, plural, one {# hour} other {# hours}} learned, needs a week: nothing is usual before',
});

const manyTimes = told.many();

/** Names of facts that messages show. */
const anHour = 'an hour, beyond the usual';
const atThisPace = 'empty at this pace';
const lastingChange = 'lasting change';
const changedSince = 'changed since';

export const surge = unusualKind('surge', 'more', {
  summary: 'Far more spent than this hour of the week is used to. Needs no number.',
  subject: says.surges,
  far: says.farMore,
  describes: told.describesMore,
  advice: says.findOut,
});

export const slump = unusualKind('slump', 'less', {
  summary:
    'Far less spent than this hour of the week is used to: traffic falls away though nothing is empty. Needs no number.',
  subject: says.fallsAway,
  far: says.farLess,
  describes: told.describesLess,
  advice: says.check,
});

function unusualKind(
  type: UnusualRule['type'],
  side: Side,
  words: {
    readonly summary: string;
    readonly subject: PhraseOf<'{label}'>;
    readonly far: PhraseOf<'{label}'>;
    readonly describes: typeof told.describesMore;
    readonly advice: PhraseOf<''>;
  },
): RuleKind<UnusualRule, InputOf<typeof keys>> {
  return balanceKind<UnusualRule, typeof keys>({
    type,
    summary: words.summary,
    keys,
    build: (input) => ({ sensitivity: input.sensitivity }),
    describe: (rule) => {
      const { sensitivity, severity } = rule;
      return words.describes({ balance: nameBalance(rule), sensitivity, severity });
    },
    judge: (rule, facts, firing) => judge(side, rule, facts, firing),
    isSurelyOk: (rule, { spending }) => {
      const state = spending.state(rule.balance);
      if (state === null || state.hours < hoursPerWeek) return true;
      const at = spending.last?.at ?? 0;
      return state[side].sum === 0 && state.silent === 0 && !isShifting(state, side, { at, firing: false });
    },
    factsBehind: (rule, facts) => factsBehind(side, rule, facts),
    acknowledged: (rule, spending, taken) => {
      const state = spending.state(rule.balance);
      if (state !== null) excuse(state, side, taken);
    },
    wouldNotFire: (rule) => (rule.sensitivity === 'low' ? null : told.lessSensitive()),
    subject: words.subject,
    firing: (item, frame) => {
      const label = sayLabel(item.balanceLabel, frame);
      const change = changeOf(item, frame);
      if (change !== null) return say(says.changed, { label, factor: change }, frame);
      const [factor, span] = [givenText(item, timesTheUsual), factText(item, 'since', frame)];
      if (factor === null || span === null) return say(words.far, { label }, frame);
      return factor === manyTimes
        ? say(says.timesMany, { label, span }, frame)
        : say(says.times, { label, factor: frame.language.figure(factor), span }, frame);
    },
    resolved: (item, frame) => {
      const label = sayLabel(item.balanceLabel, frame);
      const factor = changeOf(item, frame);
      return factor === null
        ? say(says.resolved, { label }, frame)
        : say(says.stays, { label, factor }, frame);
    },
    recovery: () => says.recovery,
    threshold: () => says.threshold,
    judgesSpending: true,
    shownFacts: [lastingChange, changedSince, anHour, atThisPace],
    advice: (item, frame) => [
      say(words.advice, frame),
      ...(side === 'more' ? topUpIfKnown(item, frame) : []),
    ],
  });
}

/** The factor between the level at which spending now stays and its former level; null if there is no such change. */
function changeOf(item: MessageItem, frame: WordingFrame): string | null {
  const change = givenText(item, lastingChange);
  return change === null ? null : frame.language.figure(change.split(' ')[0] ?? '');
}

/** Judged by `isUnusual`, from the second week on. */
function judge(side: Side, rule: UnusualRule, facts: ReadFacts, firing: Severity | null): Evaluation {
  const { reading, spending } = facts;
  const state = spending.state(rule.balance);
  if (!spending.knows(reading)) return unknown(why.learning());
  if (state === null) return unknown(told.nothingSpent());
  if (state.hours < hoursPerWeek) return unknown(told.tooShort({ count: state.hours }));
  const episode = episodeOf(state, side, reading.at);
  const isFiring = { at: reading.at, firing: firing !== null };
  const unusual =
    isUnusual(state, side, { ...isFiring, factor: factors[rule.sensitivity] }) ||
    isShifting(state, side, isFiring);
  return verdict(
    unusual ? rule.severity : null,
    episode && money(Math.round(episode.spent)),
    episode && money(Math.round(episode.expected)),
  );
}

function factsBehind(side: Side, rule: UnusualRule, facts: AccountFacts): readonly Fact[] {
  const sensitivity = listFacts({ sensitivity: text(degrees[rule.sensitivity]()) });
  const state = facts.spending.state(rule.balance);
  const reading = usableReading(facts);
  if (state === null || reading === null) return sensitivity;
  // A change that lasted a day is the usual from then on.
  const shift = recentShift(state, side, reading.at);
  return [
    ...sensitivity,
    ...listFacts({
      [lastingChange]: shift && text(told.change({ factor: shift.factor.toFixed(2) })),
      [changedSince]: shift && instant(shift.since),
    }),
    ...episodeFacts(episodeOf(state, side, reading.at), side, {
      reading,
      left: amountOf(reading, rule.balance) - emptyLevel(facts, rule.balance),
    }),
    ...spendingFacts(facts.spending, rule.balance),
  ];
}

/** The facts of an episode: the factor, since when, the amount per hour, and the effect on the empty date. */
function episodeFacts(
  episode: Episode | null,
  side: Side,
  { reading, left }: { readonly reading: Reading; readonly left: number },
): Fact[] {
  if (episode === null || reading.at <= episode.since) return listFacts({ note: text(told.asUsual()) });
  const { since, spent, expected } = episode;
  const lastedMs = reading.at - since;
  const factor = spent / expected;
  const runsOut = side === 'more' && spent > 0 && left > 0;
  return listFacts({
    since: duration(lastedMs),
    'spent since then': money(Math.round(spent)),
    'usual in that time': money(Math.round(expected)),
    [anHour]: money(Math.round(((spent - expected) * hourMs) / lastedMs)),
    // Beyond a thousand the digits say nothing, because so little is usual then.
    [timesTheUsual]: expected > 0 ? text(factor > 1000 ? manyTimes : factor.toFixed(1)) : null,
    [atThisPace]: runsOut ? instant(reading.at + Math.round((left * lastedMs) / spent)) : null,
  });
}
