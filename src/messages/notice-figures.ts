import type { Notice, NoticeAccount, Outlook } from '../domain/message.ts';
import { describeDistance, formatMoment, formatMomentAndAge, roughDuration } from '../domain/moment.ts';
import { formatAmount, type Micros } from '../domain/money.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Fact } from '../domain/quantity.ts';
import type { Balance } from '../domain/reading.ts';
import {
  formatComputed,
  type WordingFrame,
  wordFact,
  wordQuantity,
  wordRunwayAndEnd,
} from '../wording/quantity-wording.ts';
import { balanceLabel, currentMicros } from './notice-headline.ts';
import { stateOf } from './notice-state.ts';

/** One number of a message with its name. */
export interface Figure {
  readonly label: string;
  readonly value: string;
}

/** The numbers of a notice, the most telling first. */
export function wordFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  if (notice.incident.account.startsWith('@')) return ownFigures(notice, frame);
  switch (notice.type) {
    case 'stale':
    case 'auth-failed':
      return [...lastKnownFigures(notice, frame), ...failureFigures(notice)];
    case 'currency':
      return [...judgedFigures(notice, frame), ...readingFigures(notice, frame)];
    default:
      return moneyFigures(notice, frame);
  }
}

/** About lowwater or a provider there are facts, and the value says in words what is wrong. */
function ownFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  const over = stateOf(notice) === 'resolved';
  const what = notice.value?.unit === 'text' && !over ? wordQuantity(notice.value, frame) : null;
  if (notice.type === 'provider-down') return outageFigures(notice, what, frame);
  const facts = notice.facts.map((fact) => figureOf(fact, frame));
  return what === null ? facts : [{ label: 'Reason', value: what }, ...facts];
}

function outageFigures(notice: Notice, affected: string | null, frame: WordingFrame): readonly Figure[] {
  if (affected === null) return [];
  const reason = notice.facts.filter(({ name }) => name === 'reason');
  return [{ label: 'Affected', value: affected }, ...reason.map((fact) => figureOf(fact, frame))];
}

function moneyFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  return [
    ...balanceFigures(notice, frame),
    ...thresholdFigures(notice, frame),
    ...jumpFigures(notice),
    ...outlookFigures(notice.account?.outlook ?? null, frame),
    ...readingFigures(notice, frame),
  ];
}

function balanceFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  const current = currentMicros(notice);
  if (current === null || notice.balance === null) return [];
  // What was judged is a sum of spending here, and only a reading tells the balance itself.
  if ((notice.type === 'drop' || notice.type === 'top-up') && (notice.account?.reading ?? null) === null)
    return [];
  return [{ label: `${balanceLabel(notice.balance)} balance`, value: formatAmount(current, frame.currency) }];
}

function thresholdFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  const { threshold, type } = notice;
  if (threshold === null || type === 'top-up') return [];
  const value = wordQuantity(threshold, frame);
  switch (type) {
    case 'below':
    case 'negative':
      return [{ label: 'Threshold', value: `below ${value}` }];
    case 'runway':
      return [{ label: 'Threshold', value: `lasts less than ${value}` }];
    case 'drop':
      return [{ label: 'Threshold', value: `more than ${value} spent` }];
    default:
      return [{ label: 'Threshold', value: `${value} without spending` }];
  }
}

/**
 * A balance that changed by half or more in one poll may be a mistake of the provider: the value before is
 * told.
 */
function jumpFigures(notice: Notice): readonly Figure[] {
  const { reading, previous } = notice.account ?? { reading: null, previous: null };
  if (reading === null || previous === null || notice.balance === null) return [];
  const now = reading[notice.balance];
  const before = previous[notice.balance];
  const jumped = Math.abs(now - before) * 2 >= Math.max(Math.abs(now), Math.abs(before)) && now !== before;
  if (!jumped && reading.currency === previous.currency) return [];
  const amount = formatAmount(before, cleanText(previous.currency, 12));
  return [{ label: 'Before', value: `${amount}, ${roughDuration(reading.at - previous.at)} earlier` }];
}

function outlookFigures(outlook: Outlook | null, frame: WordingFrame): readonly Figure[] {
  if (outlook === null || outlook.burnPerDay === null) return [];
  const sure =
    outlook.runwayMs === null || outlook.runwayMs <= 0 ? '' : ` (confidence ${outlook.confidence})`;
  return [
    { label: 'Spending', value: `${formatComputed(outlook.burnPerDay, frame.currency)} per day` },
    { label: 'Lasts', value: `${wordRunwayAndEnd(outlook, frame)}${sure}` },
  ];
}

function readingFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  const reading = notice.account?.reading ?? null;
  return reading === null ? [] : [{ label: 'As of', value: formatMomentAndAge(reading.at, frame) }];
}

function judgedFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  const figures: Figure[] = [];
  if (notice.value !== null) figures.push({ label: 'Currency', value: wordQuantity(notice.value, frame) });
  if (notice.threshold !== null)
    figures.push({ label: 'Expected', value: wordQuantity(notice.threshold, frame) });
  const account = notice.account;
  return account === null ? figures : [...figures, ...bothBalances(account)];
}

function lastKnownFigures(notice: Notice, frame: WordingFrame): readonly Figure[] {
  const account = notice.account;
  if (account === null) return [];
  const over = stateOf(notice) === 'resolved';
  if (account.reading === null) return [{ label: 'Last reading', value: 'never' }];
  const at = `${formatMoment(account.reading.at, frame)} (${describeDistance(account.reading.at, frame.now)})`;
  return [
    { label: over ? 'As of' : 'Last reading', value: at },
    ...bothBalances(account),
    ...outlookFigures(account.outlook, frame).map(({ label, value }) => ({
      label: `${balanceLabel(account.outlook?.balance ?? 'sms')} ${label.toLowerCase()}`,
      value,
    })),
  ];
}

function failureFigures(notice: Notice): readonly Figure[] {
  const failures = notice.account?.consecutiveFailures ?? 0;
  return failures === 0 ? [] : [{ label: 'Failed polls', value: `${failures} in a row` }];
}

function bothBalances(account: NoticeAccount): readonly Figure[] {
  const reading = account.reading;
  if (reading === null) return [];
  const figure = (balance: Balance, micros: Micros): Figure => ({
    label: `${balanceLabel(balance)} balance`,
    value: formatAmount(micros, cleanText(reading.currency, 12)),
  });
  return [figure('sms', reading.sms), figure('voip', reading.voip)];
}

function figureOf(fact: Fact, frame: WordingFrame): Figure {
  const name = cleanText(fact.name, 60);
  return { label: name.charAt(0).toUpperCase() + name.slice(1), value: wordFact(fact, frame) };
}
