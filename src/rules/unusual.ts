import { hourMs } from '../domain/duration.ts';
import type { MessageItem } from '../domain/message.ts';
import type { Micros } from '../domain/money.ts';
import type { Fact } from '../domain/quantity.ts';
import { amountOf, type Reading } from '../domain/reading.ts';
import type { MoneyRule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { choice } from '../schema/shapes.ts';
import { isShifting, recentShift } from '../spending/level-shift.ts';
import { hoursPerWeek } from '../spending/local-week.ts';
import { type Episode, episodeOf, excuse, isUnusual, type Side } from '../spending/unusual.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import {
  type AccountFacts,
  breached,
  durationFact,
  type Evaluation,
  instantFact,
  money,
  moneyFact,
  type Numbers,
  ok,
  readingFacts,
  textFact,
  unknown,
  unusable,
  usableReading,
} from './evaluation.ts';
import { figuresOf, moneyFigures } from './figures.ts';
import { type InputOf, moneyKeys, type RuleKind, severityKey } from './kind.ts';
import { spendingFacts } from './spending-facts.ts';
import { factText, moneyOf, nameBalance, topUpIfKnown } from './words.ts';

/** Multiplies the limit of `isUnusual`. */
const factors = { low: 2, normal: 1, high: 0.6 } as const;

type Sensitivity = keyof typeof factors;

export interface UnusualRule extends MoneyRule {
  readonly type: 'surge' | 'slump';
  readonly sensitivity: Sensitivity;
}

const keys = {
  ...moneyKeys,
  severity: severityKey.default('warning'),
  sensitivity: choice('How small a deviation fires.', ['low', 'normal', 'high']).default('normal'),
};

type Input = InputOf<typeof keys>;

interface SideWords {
  readonly summary: string;
  readonly subject: string;
  readonly advice: readonly string[];
}

export const surge: RuleKind<UnusualRule, Input> = unusualKind('surge', 'more', {
  summary: 'Far more spent than this hour of the week is used to. Needs no number.',
  subject: 'spending surges',
  advice: ['Find out what is sending more than usual. If it is not yours, replace the access key.'],
});

export const slump: RuleKind<UnusualRule, Input> = unusualKind('slump', 'less', {
  summary:
    'Far less spent than this hour of the week is used to: traffic falls away though nothing is empty. Needs no number.',
  subject: 'spending falls away',
  advice: ['Check that what sends through this account is running.'],
});

function unusualKind(type: UnusualRule['type'], side: Side, words: SideWords): RuleKind<UnusualRule, Input> {
  return {
    type,
    summary: words.summary,
    keys,
    needsReading: true,
    build: (input) => ({ sensitivity: input.sensitivity }),
    describe: (rule) =>
      `${nameBalance(rule)} spent far ${side} than usual at this hour of the week, ${rule.sensitivity} sensitivity (${rule.severity})`,
    evaluate: (rule, facts, firing) => evaluate(side, rule, facts, firing),
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
    wouldNotFire: (rule) =>
      rule.sensitivity === 'low' ? null : 'It may not fire with a lower `sensitivity`.',
    subject: (about) => `${moneyOf(about)} ${words.subject}`,
    firing: (item, frame) => wordFiring(item, frame, side),
    resolved: (item, frame) => {
      const change = factText(item, lastingChange, frame);
      return `${moneyOf(item)} spending ${change === null ? 'is as usual again' : `stays at ${change}`}`;
    },
    recovery: 'Resolved: spending is as usual again, or this is what is usual now.',
    figures: (item, frame) => [
      ...moneyFigures(item, frame, { threshold: (limit) => `usual: ${limit}`, valueIsBalance: false }),
      ...figuresOf(item, frame, shownFacts),
    ],
    advice: (item, frame) => [...words.advice, ...(side === 'more' ? topUpIfKnown(item, frame) : [])],
  };
}

/** Names of facts that messages tell. */
const times = 'times the usual';
const anHour = 'an hour, beyond the usual';
const atThisPace = 'empty at this pace';
const lastingChange = 'lasting change';
const changedSince = 'changed since';
const shownFacts: readonly string[] = [lastingChange, changedSince, anHour, atThisPace];

function wordFiring(item: MessageItem, frame: WordingFrame, side: Side): string {
  const change = factText(item, lastingChange, frame);
  if (change !== null) return `${moneyOf(item)} spending has changed to ${change}`;
  const factor = factText(item, times, frame);
  const lasted = factText(item, 'since', frame);
  const compared = factor === null ? `far ${side} than usual` : `${factor} times the usual`;
  return `${moneyOf(item)} spending is ${compared}${lasted === null ? '' : ` for ${lasted}`}`;
}

/** Judged by `isUnusual`, from the second week on. */
function evaluate(side: Side, rule: UnusualRule, facts: AccountFacts, firing: Severity | null): Evaluation {
  const reading = usableReading(facts);
  if (reading === null) return unknown(unusable(facts) ?? 'no reading yet');
  const state = facts.spending.state(rule.balance);
  if (facts.spending.last?.at !== reading.at)
    return unknown('spending is still being learned from stored history');
  if (state === null) return unknown('nothing was spent yet');
  if (state.hours < hoursPerWeek) {
    return unknown(`${state.hours} hours learned, needs a week: nothing is usual before`);
  }
  const numbers = numbersOf(episodeOf(state, side, reading.at));
  const isFiring = { at: reading.at, firing: firing !== null };
  const unusual =
    isUnusual(state, side, { ...isFiring, factor: factors[rule.sensitivity] }) ||
    isShifting(state, side, isFiring);
  return unusual ? breached(rule.severity, numbers) : ok(numbers);
}

function numbersOf(episode: Episode | null): Numbers {
  if (episode === null) return { value: null, threshold: null };
  return { value: money(Math.round(episode.spent)), threshold: money(Math.round(episode.expected)) };
}

function factsBehind(side: Side, rule: UnusualRule, facts: AccountFacts): readonly Fact[] {
  const found = [...readingFacts(facts, rule.balance), textFact('sensitivity', rule.sensitivity)];
  const state = facts.spending.state(rule.balance);
  const reading = usableReading(facts);
  if (state === null || reading === null) return found;
  return [
    ...found,
    ...shiftFacts(recentShift(state, side, reading.at)),
    ...episodeFacts(episodeOf(state, side, reading.at), side, { reading, rule, floor: facts.floorMicros }),
    ...spendingFacts(facts.spending, rule.balance),
  ];
}

/** A change that lasted a day is what is usual from then on. */
function shiftFacts(shift: ReturnType<typeof recentShift>): Fact[] {
  if (shift === null) return [];
  return [
    textFact(lastingChange, `${shift.factor.toFixed(2)} times its former level`),
    instantFact(changedSince, shift.since),
  ];
}

/** Beyond a thousand the digits say nothing: so little is usual then. */
function wordFactor(factor: number): string {
  return factor > 1000 ? 'more than 1,000' : factor.toFixed(1);
}

/** How much more or less, since when, per hour, and the effect on the empty date. */
function episodeFacts(
  episode: Episode | null,
  side: Side,
  { reading, rule, floor }: { readonly reading: Reading; readonly rule: UnusualRule; readonly floor: Micros },
): Fact[] {
  if (episode === null || reading.at <= episode.since) return [textFact('note', 'spending is as usual')];
  const { since, spent, expected } = episode;
  const lastedMs = reading.at - since;
  const perHour = ((spent - expected) * hourMs) / lastedMs;
  const found = [
    durationFact('since', lastedMs),
    moneyFact('spent since then', Math.round(spent)),
    moneyFact('usual in that time', Math.round(expected)),
    moneyFact(anHour, Math.round(perHour)),
  ];
  if (expected > 0) found.push(textFact(times, wordFactor(spent / expected)));
  const left = amountOf(reading, rule.balance) - floor;
  if (side === 'more' && spent > 0 && left > 0) {
    found.push(instantFact(atThisPace, reading.at + Math.round((left * lastedMs) / spent)));
  }
  return found;
}
