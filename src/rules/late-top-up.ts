import type { MessageItem } from '../domain/message.ts';
import type { ExpectedTopUp } from '../domain/operator.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Fact } from '../domain/quantity.ts';
import { balanceLabel, type WordingFrame } from '../wording/quantity-wording.ts';
import {
  type AccountFacts,
  breached,
  type Evaluation,
  instantFact,
  money,
  moneyFact,
  ok,
  textFact,
  unknown,
} from './evaluation.ts';
import { allBalances, figuresOf, readingFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';
import { factText, wordValue } from './words.ts';

type LateTopUpRule = PlainRule<'late-top-up'>;

const keys = { severity: severityKey.default('warning') };

/** Names of facts that messages show. */
const expectedBy = 'expected by';
const orderedBy = 'ordered by';
const order = 'order';
const ofBalance = 'to balance';
const shownFacts: readonly string[] = [expectedBy, orderedBy, order];

export const lateTopUp: RuleKind<LateTopUpRule, InputOf<typeof keys>> = {
  type: 'late-top-up',
  summary: 'A top-up that a person announced and that did not come in time.',
  keys,
  needsReading: true,
  builtInId: 'late-top-up',
  describe: (rule) => `an announced top-up did not come in time (${rule.severity})`,
  evaluate,
  isSurelyOk: (_rule, { expected }) => expected.length === 0,
  factsBehind,
  wouldNotFire: () => 'It would not fire if the top-up were expected later, or not any more.',
  subject: () => 'expected top-up overdue',
  firing: (item, frame) => `${wordTopUp(item, frame)} has not arrived`,
  resolved: () => 'the expected top-up arrived, or is expected no more',
  recovery: 'Resolved: the top-up arrived, or is expected no more.',
  figures: (item, frame) => [
    ...figuresOf(item, frame, shownFacts),
    ...(item.account === null ? [] : allBalances(item.account)),
    ...readingFigures(item, frame),
  ],
  advice: () => [
    'Ask whoever ordered it, and look whether the payment was made. If it comes later or not at all, correct what is expected.',
  ],
};

/** `the top-up of 5,000.00 CNY (SMS) expected by Thu 26 Nov 10:00 UTC+8`. */
function wordTopUp(item: MessageItem, frame: WordingFrame): string {
  const id = factText(item, ofBalance, frame);
  const balance = id === null ? null : balanceLabel(id, item.account?.balances ?? []);
  return `the expected top-up of ${wordValue(item, frame) ?? 'an unknown amount'}${balance === null ? '' : ` (${balance})`}`;
}

/** Breached by the first reading after the time; resolved when the money is there (`receiveTopUps`), or nobody expects it any more. */
function evaluate(rule: LateTopUpRule, facts: AccountFacts): Evaluation {
  const { reading } = facts;
  if (reading === null) return unknown('no reading yet');
  const topUp = overdueOf(facts);
  if (topUp === null) return ok({ value: null, threshold: null });
  return breached(rule.severity, { value: money(topUp.amountMicros), threshold: null });
}

function overdueOf({ expected, reading }: AccountFacts): ExpectedTopUp | null {
  const overdue = expected.filter(({ by }) => reading !== null && by < reading.at);
  return overdue.toSorted((left, right) => left.by - right.by)[0] ?? null;
}

function factsBehind(_rule: LateTopUpRule, facts: AccountFacts): readonly Fact[] {
  const topUp = overdueOf(facts) ?? facts.expected[0];
  if (topUp === undefined) return [textFact('expected', 'nothing')];
  return [
    moneyFact('amount', topUp.amountMicros),
    moneyFact('received', topUp.receivedMicros),
    textFact(ofBalance, topUp.balance),
    instantFact(expectedBy, topUp.by),
    instantFact('ordered at', topUp.orderedAt),
    textFact(orderedBy, cleanText(topUp.orderedBy, 60) || 'somebody'),
    ...(topUp.comment === '' ? [] : [textFact(order, cleanText(topUp.comment, 200))]),
  ];
}
