import { displayName, type Incident, ownAccountId, refusedRecipientsFact } from '../domain/alert.ts';
import type { Notice } from '../domain/message.ts';
import { formatShortMoment, roughDuration } from '../domain/moment.ts';
import { formatMoney, type Micros } from '../domain/money.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Balance } from '../domain/reading.ts';
import { type WordingFrame, wordQuantity } from '../wording/quantity-wording.ts';
import { stateOf } from './notice-state.ts';

const nameLimit = 80;

/** What happened, with its numbers, without its state: `OTP production: SMS balance 42.10 CNY, below 50.00`. */
export function wordSubject(notice: Notice, frame: WordingFrame): string {
  return `${nameOf(notice)}: ${clauseOf(notice, frame)}`;
}

/** Account, provider or lowwater itself, as people call it. */
function nameOf(about: {
  readonly account: unknown;
  readonly accountName: string;
  readonly incident: Incident;
}): string {
  const id = about.incident.account;
  if (id === ownAccountId) return displayName(id);
  if (id.startsWith('@')) return `Provider ${cleanText(displayName(id), nameLimit)}`;
  return cleanText(about.accountName, nameLimit) || cleanText(id, nameLimit);
}

/**
 * The subject of an incident's mails: the same from the first to the last, so without state or numbers, and
 * told apart from the next incident of the same alert by its start. Without brackets, which mail programs
 * ignore when they thread.
 */
export function incidentSubject(incident: Incident, timezone: string): string {
  const name = nameOf({ account: null, accountName: incident.accountName, incident });
  const since = `${incident.event ? 'at' : 'since'} ${formatShortMoment(incident.firedAt, timezone)}`;
  return withoutBrackets(`${name}: ${matterOf(incident)} ${since}`);
}

export function withoutBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}

/** The newest reading of the notice's balance; what the rule judged where no reading is known. */
export function currentMicros(notice: Notice): Micros | null {
  const reading = notice.account?.reading ?? null;
  if (reading !== null && notice.balance !== null) return reading[notice.balance];
  return notice.value?.unit === 'money' ? notice.value.micros : null;
}

/**
 * Currency of the amounts in the headline: of what is over, the one that it was over in, whatever the account reads now.
 */
export function headlineCurrency(notice: Notice): string | null {
  const fact = isOver(notice) ? notice.facts.find(({ name }) => name === 'currency') : undefined;
  const currency =
    fact?.value.unit === 'text'
      ? fact.value.text
      : (notice.account?.reading?.currency ?? notice.account?.previous?.currency ?? null);
  return currency === null ? null : cleanText(currency, 12);
}

/**
 * The balance in the headline. Of what is over, it is the one of that moment: the message may be sent late, and a list
 * shows it for months, while the balance goes on to move.
 */
function headlineMicros(notice: Notice): Micros | null {
  const fact = isOver(notice) ? notice.facts.find(({ name }) => name === 'balance') : undefined;
  return fact?.value.unit === 'money' ? fact.value.micros : currentMicros(notice);
}

function isOver(notice: Notice): boolean {
  const state = stateOf(notice);
  return state === 'resolved' || state === 'event';
}

export function balanceLabel(balance: Balance): string {
  return balance === 'sms' ? 'SMS' : 'VoIP';
}

/** How many recipients a channel refused while it took the message for the others; null where it took nothing. */
export function refusedRecipients(notice: Pick<Notice, 'facts'>): number | null {
  const fact = notice.facts.find(({ name }) => name === refusedRecipientsFact);
  return fact?.value.unit === 'count' ? fact.value.count : null;
}

/** The count or text of a named fact; null where the rule gave none. */
function factText(notice: Notice, name: string, frame: WordingFrame): string | null {
  const fact = notice.facts.find((candidate) => candidate.name === name);
  if (fact === undefined) return null;
  if (fact.value.unit === 'count') return String(fact.value.count);
  return fact.value.unit === 'instant' ? null : wordQuantity(fact.value, frame);
}

function clauseOf(notice: Notice, frame: WordingFrame): string {
  const state = stateOf(notice);
  if (state === 'closed') {
    return notice.resolution?.kind === 'account-removed'
      ? `account removed while ${matterOf(notice.incident)}`
      : `rule ${cleanText(notice.rule, nameLimit)} removed while ${matterOf(notice.incident)}`;
  }
  return state === 'resolved' ? resolvedClause(notice, frame) : firingClause(notice, frame);
}

function firingClause(notice: Notice, frame: WordingFrame): string {
  const value = notice.value === null ? null : wordQuantity(notice.value, frame);
  const limit = notice.threshold === null ? null : wordLimit(notice, frame);
  switch (notice.type) {
    case 'below':
    case 'negative':
      return lowBalanceClause(notice, frame);
    case 'runway':
      return runwayClause(notice, frame);
    case 'drop':
      return `${moneyOf(notice)} spending ${value ?? 'is high'}${limit === null ? '' : `, more than ${limit}`}${within(notice, frame)}`;
    case 'idle':
      return `nothing spent from the ${moneyOf(notice)} balance${value === null ? '' : ` for ${value}`}`;
    case 'top-up':
      return `${moneyOf(notice)} balance topped up${value === null ? '' : ` by ${value}`}${nowAt(notice, frame)}`;
    case 'currency':
      return `currency is ${value ?? 'another'}${limit === null ? '' : `, expected ${limit}`}`;
    case 'stale':
      return `no reading${value === null ? '' : ` for ${value}`}`;
    case 'auth-failed':
      return 'the provider refuses the key';
    case 'provider-down':
      return `no readings of ${value ?? 'its accounts'}`;
    case 'storage-failed':
      return `cannot store readings and alerts${value === null ? '' : ` (${value})`}`;
    case 'channel-failed':
      return refusedRecipients(notice) === null
        ? `channel ${failedChannel(notice, frame)} does not take messages`
        : `channel ${failedChannel(notice, frame)} does not reach all recipients`;
    case 'config-invalid':
      return 'the changed configuration is invalid, the old one stays in use';
  }
}

function resolvedClause(notice: Notice, frame: WordingFrame): string {
  const value = notice.value === null ? null : wordQuantity(notice.value, frame);
  const limit = notice.threshold === null ? null : wordLimit(notice, frame);
  const money = moneyOf(notice);
  switch (notice.type) {
    case 'below':
      return `${money} balance${currentAmount(notice, frame)}, no longer below${limit === null ? ' its threshold' : ` ${limit}`}`;
    case 'negative':
      return `${money} balance${currentAmount(notice, frame)}, no longer negative`;
    case 'runway':
      return `${money} balance${currentAmount(notice, frame)} ${notice.value?.unit === 'duration' ? `lasts ${value} again` : 'lasts long enough again'}`;
    case 'drop':
      return `${money} spending is back to normal`;
    case 'idle':
      return `${money} spending seen again`;
    case 'top-up':
      return firingClause(notice, frame);
    case 'currency':
      return `currency is ${value ?? 'as expected'} again`;
    case 'stale':
    case 'provider-down':
      return 'readings are back';
    case 'auth-failed':
      return 'the provider accepts the key again';
    case 'storage-failed':
      return 'can store readings and alerts again';
    case 'channel-failed':
      return refusedRecipients(notice) === null
        ? `channel ${failedChannel(notice, frame)} takes messages again`
        : `channel ${failedChannel(notice, frame)} reaches all recipients again`;
    case 'config-invalid':
      return 'the configuration is valid again and in use';
  }
}

function lowBalanceClause(notice: Notice, frame: WordingFrame): string {
  const limitMicros = notice.threshold?.unit === 'money' ? notice.threshold.micros : 0;
  const limit = notice.type === 'negative' && limitMicros === 0 ? 'zero' : formatMoney(limitMicros);
  const current = currentMicros(notice);
  // Within the hysteresis, or while `recoverFor` runs, the balance is past the threshold and the incident still open.
  const relation =
    current !== null && current >= limitMicros ? `recovering from below ${limit}` : `below ${limit}`;
  return `${moneyOf(notice)} balance${currentAmount(notice, frame)}, ${relation}`;
}

function runwayClause(notice: Notice, frame: WordingFrame): string {
  const runwayMs = notice.value?.unit === 'duration' ? notice.value.ms : null;
  const start = `${moneyOf(notice)} balance${currentAmount(notice, frame)}`;
  if (runwayMs === null) return `${start} is running out`;
  if (runwayMs <= 0) return `${start} is used up`;
  const limit =
    notice.threshold?.unit === 'duration' ? `, less than ${roughDuration(notice.threshold.ms)}` : '';
  return `${start} lasts ${roughDuration(runwayMs)}${limit}`;
}

/** Thresholds of money stand beside an amount with its currency already: they go without. */
function wordLimit(notice: Notice, frame: WordingFrame): string | null {
  if (notice.threshold === null) return null;
  return notice.threshold.unit === 'money'
    ? formatMoney(notice.threshold.micros)
    : wordQuantity(notice.threshold, frame);
}

function currentAmount(notice: Notice, frame: WordingFrame): string {
  const current = headlineMicros(notice);
  return current === null ? '' : ` ${wordQuantity({ unit: 'money', micros: current }, frame)}`;
}

function nowAt(notice: Notice, frame: WordingFrame): string {
  const known =
    notice.facts.some(({ name }) => name === 'balance') || (notice.account?.reading ?? null) !== null;
  return known ? `, now${currentAmount(notice, frame)}` : '';
}

function within(notice: Notice, frame: WordingFrame): string {
  const window = factText(notice, 'window', frame);
  return window === null ? '' : ` within ${window}`;
}

function failedChannel(notice: Notice, frame: WordingFrame): string {
  return (
    factText(notice, 'channel', frame) ?? cleanText(notice.rule.replace(/^channel-failed:?/, ''), nameLimit)
  );
}

function moneyOf(notice: Notice): string {
  return balanceLabel(notice.balance ?? 'sms');
}

function matterOf(incident: Incident): string {
  const money = balanceLabel(incident.balance ?? 'sms');
  switch (incident.type) {
    case 'below':
      return `${money} balance low`;
    case 'negative':
      return `${money} balance negative`;
    case 'runway':
      return `${money} balance running out`;
    case 'drop':
      return `${money} spending high`;
    case 'idle':
      return `${money} spending stopped`;
    case 'top-up':
      return `${money} balance topped up`;
    case 'currency':
      return 'currency changed';
    case 'stale':
      return 'no readings';
    case 'auth-failed':
      return 'key refused';
    case 'provider-down':
      return 'not answering';
    case 'storage-failed':
      return 'cannot store';
    case 'channel-failed':
      return `channel ${cleanText(incident.rule.replace(/^channel-failed:?/, ''), nameLimit)} fails`;
    case 'config-invalid':
      return 'configuration invalid';
  }
}
