import type { Resolution } from '../domain/alert.ts';
import { isFirstNotification, type MessageItem, stateOf } from '../domain/message.ts';
import { formatMoment, formatMomentAndAge, roughDuration } from '../domain/moment.ts';
import { cleanText, plural } from '../domain/plain-text.ts';
import { alertKindOf } from '../rules/registry.ts';
import { formatRise, type WordingFrame } from '../wording/quantity-wording.ts';

/**
 * The sentences under a headline: since when, what happened to it, and how far the numbers can be trusted.
 */
export function wordStory(item: MessageItem, frame: WordingFrame): readonly string[] {
  const blind = blindnessOf(item, frame);
  const state = stateOf(item);
  if (state === 'resolved' || state === 'closed') return [...endOf(item, frame), ...blind];
  const taken = acknowledgementOf(item, frame);
  const course = courseOf(item, frame);
  return state === 'acknowledged' ? [...taken, course, ...blind] : [course, ...blind, ...taken];
}

function courseOf(item: MessageItem, frame: WordingFrame): string {
  const since = formatMomentAndAge(item.firedAt, frame);
  const firedAt = formatMoment(item.firedAt, frame);
  const lasted = knownSpan(item.firedAt, frame.now);
  switch (stateOf(item)) {
    case 'event':
      return `Seen ${since}.`;
    case 'reminder':
      return `Still firing${lasted === null ? '' : `, for ${lasted} now,`} since ${firedAt}.`;
    case 'escalated':
      return `Nobody has acknowledged this${lasted === null ? '' : ` for ${lasted}`}, so it was escalated to you. Firing since ${firedAt}.`;
    case 'acknowledged':
      return `Reminders and escalation stop until it gets worse or ends. Firing since ${since}.`;
    case 'flapping':
      return `It keeps changing between firing and resolved. Further messages about it are paused until it calms down. First fired ${since}.`;
    default:
      return `Firing since ${since}.`;
  }
}

function endOf(item: MessageItem, frame: WordingFrame): readonly string[] {
  const endedAt = item.resolvedAt ?? frame.now;
  const span = `from ${formatMoment(item.firedAt, frame)} to ${formatMoment(endedAt, frame)}`;
  const length = knownSpan(item.firedAt, endedAt);
  const lasted = length === null ? `By the clock ${span}.` : `Lasted ${length}, ${span}.`;
  const late = isFirstNotification(item)
    ? ['It fired and resolved before this channel could be notified.']
    : [];
  const rest = (item.account?.takenAlerts ?? []).map(
    ({ rule, severity, by }) =>
      `Rule ${cleanText(rule, 80)} still fires (${severity}); ${cleanText(by, 60) || 'somebody'} has acknowledged it.`,
  );
  return [causeOf(item, frame), lasted, ...late, ...rest];
}

/** Null where the clock was set back in between. */
function knownSpan(since: number, until: number): string | null {
  return until < since ? null : roughDuration(until - since);
}

function causeOf(item: MessageItem, frame: WordingFrame): string {
  const resolution = item.resolution ?? { kind: 'recovered' };
  if (resolution.kind === 'topped-up')
    return `Resolved: ${formatRise(resolution.micros, frame.currency)} was topped up.`;
  if (resolution.kind !== 'recovered')
    return `Closed because ${closedBecause[resolution.kind]}${describeHeir(resolution)}`;
  const { recovery } = alertKindOf(item);
  return typeof recovery === 'string' ? recovery : recovery(item);
}

const closedBecause: Readonly<Record<Exclude<Resolution['kind'], 'topped-up' | 'recovered'>, string>> = {
  'rule-removed':
    'the rule was removed from the configuration, or watches something else now. That says nothing about the balance.',
  'account-removed': 'the account was removed from the configuration. That says nothing about its balance.',
  'account-moved': 'the account is read from elsewhere now. That says nothing about either balance.',
  'channel-removed': 'the channel was removed from the configuration, or sends elsewhere now.',
};

/** Where it was no change of a configuration that removed it. */
function describeHeir(resolution: Resolution): string {
  if (!('heir' in resolution) || resolution.heir === undefined) return '';
  const [node, from] = [cleanText(resolution.heir.node, 100), cleanText(resolution.heir.from, 100)];
  return ` It went with a take-over: ${node} took the accounts over from ${from} and has another configuration.`;
}

/** A balance that could not be read lately is not current: the message says how old it is, and why. */
function blindnessOf(item: MessageItem, frame: WordingFrame): readonly string[] {
  const account = item.account;
  if (account === null || account.consecutiveFailures === 0) return [];
  const reason = account.failure === null ? '' : `: ${withoutFullStop(cleanText(account.failure, 300))}`;
  if (alertKindOf(item).staleness !== undefined) {
    return account.failure === null ? [] : [`The last poll failed${reason}.`];
  }
  if (account.reading === null) return [];
  const failed =
    account.consecutiveFailures === 1
      ? 'The last poll'
      : `The last ${plural(account.consecutiveFailures, 'poll')}`;
  return [
    `${failed} failed${reason}. The balance shown is ${roughDuration(frame.now - account.reading.at)} old.`,
  ];
}

function acknowledgementOf(item: MessageItem, frame: WordingFrame): readonly string[] {
  const { acknowledgement } = item.incident;
  if (acknowledgement === null) return [];
  const by = cleanText(acknowledgement.by, 60) || 'somebody';
  const comment = cleanText(acknowledgement.comment, 200);
  const broken = item.incident.rises > acknowledgement.rises ? ', before it got worse' : '';
  return [
    `Acknowledged by ${by} ${formatMomentAndAge(acknowledgement.at, frame)}${broken}${comment === '' ? '' : `: ${comment}`}.`,
  ];
}

function withoutFullStop(text: string): string {
  return text.replace(/[.\s]+$/, '');
}
