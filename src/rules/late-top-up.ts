import { isOver, type MessageItem } from '../domain/message.ts';
import { type AnnouncedRun, type ExpectedTopUp, farOff, isReported, tookOf } from '../domain/operator.ts';
import { cleanText } from '../domain/plain-text.ts';
import {
  balanceOf,
  count,
  type Fact,
  instant,
  listFacts,
  money,
  ofBalance,
  text,
} from '../domain/quantity.ts';
import { hourMs } from '../domain/time.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { balanceLabel, sayLabel, sayLimit, sayQuantity, sayValue } from '../wording/quantity-wording.ts';
import { type AccountFacts, unknown, verdict, why } from './evaluation.ts';
import { figuresOf } from './fact-figures.ts';
import { allBalances, readingFigures } from './figures.ts';
import { type InputOf, type PlainRule, type RuleKind, severityKey } from './kind.ts';

const says = phrases('lateTopUp', {
  subject: 'expected top-up overdue',
  firing: 'the expected top-up of {amount} has not arrived',
  firingOf: 'the expected top-up of {amount} ({label}) has not arrived',
  firingPart: 'only {received} of the expected top-up of {amount} arrived',
  firingPartOf: 'only {received} of the expected top-up of {amount} ({label}) arrived',
  resolved: 'the expected top-up arrived, or is overdue no more',
  recovery: 'Resolved: the top-up arrived, or is overdue no more.',
  advice:
    'Ask whoever ordered it, and look whether the payment was made. If it comes later or not at all, correct what is expected.',
});

const told = sentences('lateTopUp', {
  describes: 'an announced top-up did not come in time ({severity})',
  somebody: 'somebody',
  notWith: 'It would not fire if the top-up were expected later, or not any more.',
});

const run = phrases('announcedRun', {
  firing: 'the announced run of {limit} took {amount} beyond the usual',
  resolved: 'the announced run is far off no more, or over for a day',
  recovery: 'Resolved: the announced run is far off no more, or over for a day.',
  advice:
    'Ask whoever announced it: what it did not take may come later, and forecasts do not expect it any more.',
});

const keys = { severity: severityKey.default('warning') };

/** Names of facts that messages show. */
const expectedBy = 'expected by';
const orderedBy = 'ordered by';
const received = 'received';
const order = 'order';
const runBegan = 'run began';
const runEnded = 'run ended';
const announcedBy = 'announced by';
const others = 'others overdue';

/** A run is judged an hour after its end, because providers book late. */
const graceMs = hourMs;

export const lateTopUp: RuleKind<PlainRule<'late-top-up'>, InputOf<typeof keys>> = {
  type: 'late-top-up',
  summary: 'A top-up or a run that a person announced and that did not come, or a run that was far off.',
  keys,
  needsReading: true,
  builtInId: 'late-top-up',
  describe: ({ severity }) => told.describes({ severity }),
  /** Fires from the first reading after the time, until the money is there (`receiveTopUps`) or nobody expects it. */
  evaluate(rule, facts) {
    if (facts.reading === null) return unknown(why.noReading());
    const [newest] = overdueOf(facts);
    if (newest === undefined) return verdict(null, null);
    const amount = money(newest.amountMicros);
    return 'by' in newest
      ? verdict(rule.severity, amount)
      : verdict(rule.severity, money(Math.max(0, tookOf(newest))), amount);
  },
  /** Another top-up or run that became overdue later: whoever acknowledged the first knows nothing of it. */
  isAnother(told, facts, waitsMs) {
    const since = overdueSince(told);
    const by = (facts.reading?.at ?? 0) - waitsMs;
    return overdueOf(facts).some((each) => dueAt(each) > since && dueAt(each) <= by);
  },
  isSurelyOk: (_rule, { expected, announced }) => expected.length + announced.length === 0,
  /** No facts of what is still to come: the end of the alert is about what it fired for. */
  factsBehind(_rule, facts) {
    const [newest, ...older] = overdueOf(facts);
    if (newest === undefined) return [];
    const about = 'by' in newest ? topUpFacts(newest) : runFacts(newest);
    return [...about, ...listFacts({ [others]: older.length === 0 ? null : count(older.length) })];
  },
  wouldNotFire: told.notWith,
  subject: says.subject,
  firing(item, frame) {
    const limit = sayLimit(item, frame);
    const amount = sayValue(item, frame);
    if (isAboutRun(item) && limit !== null) return say(run.firing, { amount: amount ?? '', limit }, frame);
    if (amount === null) return say(says.subject, frame);
    const part = item.facts.find(({ name }) => name === received)?.value;
    const isPart = part?.unit === 'money' && part.micros > 0;
    const given = { amount, received: isPart ? sayQuantity(part, frame) : '' };
    const id = balanceOf(item.balance, item.facts);
    if (id === null) return say(isPart ? says.firingPart : says.firing, given, frame);
    const label = sayLabel(balanceLabel(id, item.account?.balances ?? []), frame);
    return say(isPart ? says.firingPartOf : says.firingOf, { ...given, label }, frame);
  },
  resolved: (item, frame) => say(isAboutRun(item) ? run.resolved : says.resolved, frame),
  recovery: (item) => (isAboutRun(item) ? run.recovery : says.recovery),
  figures: (item, frame) => [
    ...figuresOf(item, frame, [expectedBy, orderedBy, runBegan, runEnded, announcedBy, order]),
    ...(isOver(item) ? [] : figuresOf(item, frame, [others])),
    ...(item.account === null ? [] : allBalances(item.account, frame)),
    ...readingFigures(item, frame),
  ],
  advice: (item, frame) => [say(isAboutRun(item) ? run.advice : says.advice, frame)],
};

/** Top-ups that did not come in time and runs that were far off, the newest first. */
function overdueOf({
  expected,
  announced,
  reading,
}: AccountFacts): readonly (ExpectedTopUp | AnnouncedRun)[] {
  if (reading === null) return [];
  const isFar = (run: AnnouncedRun) => Math.abs(tookOf(run) - run.amountMicros) > farOff * run.amountMicros;
  return [
    ...expected.filter(({ by }) => by < reading.at),
    ...announced.filter((run) => dueAt(run) <= reading.at && isReported(run, reading.at) && isFar(run)),
  ].toSorted((left, right) => dueAt(right) - dueAt(left));
}

function dueAt(announced: ExpectedTopUp | AnnouncedRun): number {
  return 'by' in announced ? announced.by : announced.endsAt + graceMs;
}

/** `dueAt` of the top-up or run that the facts are about. */
function overdueSince(facts: readonly Fact[]): number {
  const found = facts.find(({ name }) => name === expectedBy || name === runEnded);
  if (found?.value.unit !== 'instant') return Number.NEGATIVE_INFINITY;
  return found.value.at + (found.name === runEnded ? graceMs : 0);
}

function topUpFacts(topUp: ExpectedTopUp): Fact[] {
  return listFacts({
    amount: money(topUp.amountMicros),
    [received]: money(topUp.receivedMicros),
    [ofBalance]: text(topUp.balance),
    [expectedBy]: instant(topUp.by),
    'ordered at': instant(topUp.orderedAt),
    [orderedBy]: text(cleanText(topUp.orderedBy, 60) || told.somebody()),
    [order]: topUp.comment === '' ? null : text(cleanText(topUp.comment, 200)),
  });
}

function runFacts(announced: AnnouncedRun): Fact[] {
  return listFacts({
    [ofBalance]: text(announced.balance),
    spent: money(announced.spentMicros),
    'usual in that time': money(announced.usualMicros),
    [runBegan]: instant(announced.startsAt),
    [runEnded]: instant(announced.endsAt),
    [announcedBy]: text(cleanText(announced.announcedBy, 60) || told.somebody()),
    [order]: announced.comment === '' ? null : text(cleanText(announced.comment, 200)),
  });
}

function isAboutRun({ facts }: MessageItem): boolean {
  return facts.some(({ name }) => name === runBegan);
}
