import { displayName, type Incident, selfAccountId } from '../domain/alert.ts';
import { isOver, type MessageItem, stateOf } from '../domain/message.ts';
import { formatShortMoment } from '../domain/moment.ts';
import { cleanText } from '../domain/plain-text.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';

const nameLimit = 80;

/** What happened, with its numbers, without its state: `OTP production: SMS balance 42.10 CNY, below 50.00`. */
export function wordSubject(item: MessageItem, frame: WordingFrame): string {
  return `${nameOf(item.incident, item.accountName)}: ${clauseOf(item, frame)}`;
}

/**
 * The subject of an incident's mails, the same from the first to the last: no state, no numbers, and the
 * start to tell it from the next incident of the alert. No brackets, which mail programs ignore when they
 * thread.
 */
export function incidentSubject(item: MessageItem, timezone: string): string {
  const { incident } = item;
  const since = `${incident.event ? 'at' : 'since'} ${formatShortMoment(incident.firedAt, timezone)}`;
  return withoutBrackets(`${nameOf(incident, incident.accountName)}: ${subjectOf(item)} ${since}`);
}

export function withoutBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}

/** What is over is shown in the currency of that moment, not in the present one. */
export function headlineCurrency(item: MessageItem): string | null {
  const fact = isOver(item) ? item.facts.find(({ name }) => name === 'currency') : undefined;
  return fact?.value.unit === 'text' ? cleanText(fact.value.text, 12) : currencyOf(item);
}

export function currencyOf({ account }: MessageItem): string | null {
  const currency = account?.reading?.currency ?? account?.previous?.currency ?? null;
  return currency === null ? null : cleanText(currency, 12);
}

function nameOf({ account: id }: Incident, accountName: string): string {
  if (id === selfAccountId) return displayName(id);
  if (id.startsWith('@')) return `Provider ${cleanText(displayName(id), nameLimit)}`;
  return cleanText(accountName, nameLimit) || cleanText(id, nameLimit);
}

function clauseOf(item: MessageItem, frame: WordingFrame): string {
  const state = stateOf(item);
  if (state === 'closed') {
    const { kind } = item.resolution ?? {};
    if (kind === 'account-removed' || kind === 'account-moved')
      return `account ${kind.slice('account-'.length)} while ${subjectOf(item)}`;
    return `rule ${cleanText(item.rule, nameLimit)} removed while ${subjectOf(item)}`;
  }
  const words = alertKindOf(item);
  return state === 'resolved' ? words.resolved(item, frame) : words.firing(item, frame);
}

function subjectOf(item: MessageItem): string {
  return alertKindOf(item).subject(item);
}
