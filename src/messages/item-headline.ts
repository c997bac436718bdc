import { displayName, type Incident, ownAccountId } from '../domain/alert.ts';
import { isOver, stateOf } from '../domain/item-state.ts';
import type { Notice } from '../domain/message.ts';
import { formatShortMoment } from '../domain/moment.ts';
import { cleanText } from '../domain/plain-text.ts';
import { alertKindOf } from '../rules/registry.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';

const nameLimit = 80;

/** What happened, with its numbers, without its state: `OTP production: SMS balance 42.10 CNY, below 50.00`. */
export function wordSubject(notice: Notice, frame: WordingFrame): string {
  return `${nameOf(notice.incident, notice.accountName)}: ${clauseOf(notice, frame)}`;
}

/**
 * The subject of an incident's mails: the same from the first to the last, so without state or numbers, and
 * told apart from the next incident of the same alert by its start. Without brackets, which mail programs
 * ignore when they thread.
 */
export function incidentSubject(incident: Incident, timezone: string): string {
  const since = `${incident.event ? 'at' : 'since'} ${formatShortMoment(incident.firedAt, timezone)}`;
  return withoutBrackets(`${nameOf(incident, incident.accountName)}: ${matterOf(incident)} ${since}`);
}

export function withoutBrackets(text: string): string {
  return text.replaceAll('[', '(').replaceAll(']', ')');
}

/**
 * Currency of the amounts in the headline: of what is over, the one that it was over in, whatever the account reads now.
 */
export function headlineCurrency(notice: Notice): string | null {
  const fact = isOver(notice) ? notice.facts.find(({ name }) => name === 'currency') : undefined;
  return fact?.value.unit === 'text' ? cleanText(fact.value.text, 12) : currencyOf(notice);
}

/** Currency of the account's newest reading. */
export function currencyOf({ account }: Notice): string | null {
  const currency = account?.reading?.currency ?? account?.previous?.currency ?? null;
  return currency === null ? null : cleanText(currency, 12);
}

/** Account, provider or lowwater itself, as people call it. */
function nameOf({ account: id }: Incident, accountName: string): string {
  if (id === ownAccountId) return displayName(id);
  if (id.startsWith('@')) return `Provider ${cleanText(displayName(id), nameLimit)}`;
  return cleanText(accountName, nameLimit) || cleanText(id, nameLimit);
}

function clauseOf(notice: Notice, frame: WordingFrame): string {
  const state = stateOf(notice);
  if (state === 'closed') {
    return notice.resolution?.kind === 'account-removed'
      ? `account removed while ${matterOf(notice.incident)}`
      : `rule ${cleanText(notice.rule, nameLimit)} removed while ${matterOf(notice.incident)}`;
  }
  const kind = alertKindOf(notice);
  return state === 'resolved' ? kind.resolved(notice, frame) : kind.firing(notice, frame);
}

function matterOf(incident: Incident): string {
  return alertKindOf(incident).matter(incident);
}
