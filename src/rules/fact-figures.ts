import { type MessageItem, stateOf } from '../domain/message.ts';
import { ownOf } from '../domain/own.ts';
import { capital, cleanText } from '../domain/plain-text.ts';
import type { Fact } from '../domain/quantity.ts';
import { type Phrase, phrases, say } from '../wording/phrase.ts';
import { sayFact, sayQuantity, type WordingFrame } from '../wording/quantity-wording.ts';
import { sayAgain } from '../wording/say-again.ts';
import { figure } from './figures.ts';
import type { Figure } from './kind.ts';

/** The facts of kinds by their names in the store and the API. Names that hold a value of the rule, such as `critical below`, are `sentences`. */
const facts = phrases('fact', {
  'expected by': 'Expected by',
  'ordered by': 'Ordered by',
  order: 'Order',
  'others overdue': 'Others overdue',
  'run began': 'Run began',
  'run ended': 'Run ended',
  'announced by': 'Announced by',
  'period began': 'Period began',
  'known since': 'Known since',
  'first read in it': 'First read in it',
  'total at its end': 'Total at its end',
  'total at least': 'At least',
  'total at most': 'At most',
  'budget reached about': 'Budget reached about',
  'reckoned by': 'Predicted by',
  'lasting change': 'Lasting change',
  'changed since': 'Changed since',
  'an hour, beyond the usual': 'An hour, beyond the usual',
  'empty at this pace': 'Empty at this pace',
  channel: 'Channel',
  'environment variable': 'Environment variable',
  'refused recipients': 'Refused recipients',
  'rates in use': 'Rates in use',
  reason: 'Reason',
  amount: 'Amount',
  'at least': 'At least',
  'automatic recharge': 'Automatic recharge',
  balance: 'Balance',
  'balance at the start': 'Balance at the start',
  'below it at least since': 'Below it at least since',
  'breached above': 'Breached above',
  'burn per day': 'Burn per day',
  confidence: 'Confidence',
  'configured currency': 'Configured currency',
  'critical, used up, at': 'Critical, used up, at',
  currency: 'Currency',
  drift: 'Drift',
  'due below': 'Due below',
  expected: 'Expected',
  floor: 'Floor',
  'hardly after': 'Hardly after',
  'hardly before': 'Hardly before',
  'history begins at': 'History begins at',
  holidays: 'Holidays',
  'hours learned': 'Hours learned',
  'in gaps': 'In gaps',
  'judged by': 'Judged by',
  'last outcome': 'Last outcome',
  'last read at': 'Last read at',
  level: 'Level',
  lookback: 'Lookback',
  'mean hour': 'Mean hour',
  'not read for': 'Not read for',
  'not watched': 'Not watched',
  note: 'Note',
  'nothing spent for': 'Nothing spent for',
  observed: 'Observed',
  'ordered at': 'Ordered at',
  period: 'Period',
  'period ends': 'Period ends',
  'poll interval': 'Poll interval',
  'previous balance': 'Previous balance',
  'previously read at': 'Previously read at',
  'reaches the floor at': 'Reaches the floor at',
  'read at': 'Read at',
  readings: 'Readings',
  received: 'Received',
  'resolves at': 'Resolves at',
  'rose by': 'Rose by',
  runway: 'Runway',
  sensitivity: 'Sensitivity',
  since: 'Since',
  'spending last seen at': 'Spending last seen at',
  spent: 'Spent',
  'spent since then': 'Spent since then',
  'stale after': 'Stale after',
  'times the usual': 'Times the usual',
  'to balance': 'To balance',
  'top-ups seen': 'Top-ups seen',
  'topped up': 'Topped up',
  'usual in a week': 'Usual in a week',
  'usual in that time': 'Usual in that time',
  'usual in this hour': 'Usual in this hour',
  'usual top-up': 'Usual top-up',
  'watched since': 'Watched since',
  window: 'Window',
  within: 'Within',
});

/** The figures of a self alert: its value, which no longer holds once it is over, and its facts. */
export function ownFigures(item: MessageItem, frame: WordingFrame): readonly Figure[] {
  const { value } = item;
  const isWrong = value?.unit === 'text' && stateOf(item) !== 'resolved';
  return [
    ...figure(say(facts.reason, frame), isWrong ? sayQuantity(value, frame) : null),
    ...item.facts.map((fact) => figureOf(fact, frame)),
  ];
}

export function figureOf(fact: Fact, frame: WordingFrame): Figure {
  const name = cleanText(fact.name, 60);
  const label = ownOf<Phrase<unknown>>(facts, name);
  return {
    label: label === undefined ? capital(sayAgain(name, frame)) : say(label, frame),
    value: sayFact(fact, frame),
  };
}

/** The figures of the named facts, in the order of the item. */
export function figuresOf(item: MessageItem, frame: WordingFrame, names: readonly string[]): Figure[] {
  return item.facts.filter(({ name }) => names.includes(name)).map((fact) => figureOf(fact, frame));
}
