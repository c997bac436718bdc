import type { ExpectedTopUp } from '../domain/operator.ts';
import { cleanText } from '../domain/plain-text.ts';
import { instant, listFacts, money, text } from '../domain/quantity.ts';
import { say } from '../wording/language.ts';
import { phrases } from '../wording/phrase.ts';
import { balanceLabel, sayLabel } from '../wording/quantity-wording.ts';
import { type AccountFacts, unknown, verdict } from './evaluation.ts';
import { allBalances, figuresOf, readingFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';
import { factText, sayValue } from './words.ts';

const says = phrases('lateTopUp', {
  subject: 'expected top-up overdue',
  firing: 'the expected top-up of {amount} has not arrived',
  firingOf: 'the expected top-up of {amount} ({label}) has not arrived',
  resolved: 'the expected top-up arrived, or is expected no more',
  recovery: 'Resolved: the top-up arrived, or is expected no more.',
  advice:
    'Ask whoever ordered it, and look whether the payment was made. If it comes later or not at all, correct what is expected.',
});

const keys = { severity: severityKey.default('warning') };

/** Names of facts that messages show. */
const expectedBy = 'expected by';
const orderedBy = 'ordered by';
const order = 'order';
const ofBalance = 'to balance';

export const lateTopUp: RuleKind<PlainRule<'late-top-up'>, InputOf<typeof keys>> = {
  type: 'late-top-up',
  summary: 'A top-up that a person announced and that did not come in time.',
  keys,
  needsReading: true,
  builtInId: 'late-top-up',
  describe: (rule) => `an announced top-up did not come in time (${rule.severity})`,
  /** Breached by the first reading after the time; resolved when the money is there (`receiveTopUps`), or nobody expects it any more. */
  evaluate(rule, facts) {
    if (facts.reading === null) return unknown('no reading yet');
    const topUp = overdueOf(facts);
    return topUp === null ? verdict(null, null) : verdict(rule.severity, money(topUp.amountMicros));
  },
  isSurelyOk: (_rule, { expected }) => expected.length === 0,
  factsBehind(_rule, facts) {
    const topUp = overdueOf(facts) ?? facts.expected[0];
    if (topUp === undefined) return listFacts({ expected: text('nothing') });
    return listFacts({
      amount: money(topUp.amountMicros),
      received: money(topUp.receivedMicros),
      [ofBalance]: text(topUp.balance),
      [expectedBy]: instant(topUp.by),
      'ordered at': instant(topUp.orderedAt),
      [orderedBy]: text(cleanText(topUp.orderedBy, 60) || 'somebody'),
      [order]: topUp.comment === '' ? null : text(cleanText(topUp.comment, 200)),
    });
  },
  wouldNotFire: () => 'It would not fire if the top-up were expected later, or not any more.',
  subject: (_about, reader) => say(says.subject, reader),
  firing(item, frame) {
    const id = factText(item, ofBalance, frame);
    const amount = sayValue(item, frame);
    if (amount === null) return say(says.subject, frame);
    if (id === null) return say(says.firing, { amount }, frame);
    const label = sayLabel(balanceLabel(id, item.account?.balances ?? []), frame);
    return say(says.firingOf, { amount, label }, frame);
  },
  resolved: (_item, frame) => say(says.resolved, frame),
  recovery: () => says.recovery,
  figures: (item, frame) => [
    ...figuresOf(item, frame, [expectedBy, orderedBy, order]),
    ...(item.account === null ? [] : allBalances(item.account, frame)),
    ...readingFigures(item, frame),
  ],
  advice: (_item, frame) => [say(says.advice, frame)],
};

function overdueOf({ expected, reading }: AccountFacts): ExpectedTopUp | null {
  const overdue = expected.filter(({ by }) => reading !== null && by < reading.at);
  return overdue.toSorted((left, right) => left.by - right.by)[0] ?? null;
}
