import type { Resolution } from '../domain/alert.ts';
import { isFirstNotification, type MessageItem, stateOf } from '../domain/message.ts';
import { cleanCurrency, cleanText } from '../domain/plain-text.ts';
import { amountOf } from '../domain/reading.ts';
import { alertKindOf } from '../rules/registry.ts';
import { sayComment } from '../wording/comment.ts';
import { withoutStop } from '../wording/lists.ts';
import { type Reader, sayDuration, sayMoment, sayMomentAndAge } from '../wording/moments.ts';
import { phrases, say } from '../wording/phrase.ts';
import { sayAmount, sayRise, type WordingFrame } from '../wording/quantity-wording.ts';
import { sayAgain } from '../wording/say-again.ts';
import { saySeverity } from '../wording/severity-words.ts';

const says = phrases('story', {
  test: 'A test that {by} ordered: no alert, with the numbers of its beginning. It ends by itself and needs no action.',
  seen: 'Seen {since}.',
  still: 'Still firing since {moment}.',
  stillFor: 'Still firing, for {span} now, since {moment}.',
  escalated: 'Nobody has acknowledged this, so it was escalated to you. Firing since {moment}.',
  escalatedAfter:
    'Nobody has acknowledged this for {span}, so it was escalated to you. Firing since {moment}.',
  quiet: 'Reminders and escalation stop until it gets worse or ends. Firing since {since}.',
  flapping:
    'It keeps changing between firing and resolved. Further messages about it are paused until it calms down. First fired {since}.',
  firing: 'Firing since {since}.',
  lasted: 'Lasted {span}, from {from} to {to}.',
  byTheClock: 'By the clock from {from} to {to}.',
  late: 'It fired and resolved before this channel could be notified.',
  stillFires: 'Rule {rule} still fires ({severity}); {by} has acknowledged it.',
  toppedUp: 'Resolved: {amount} was topped up.',
  ruleRemoved:
    'Closed because the rule was removed from the configuration, or watches something else now. That says nothing about the balance.',
  accountRemoved:
    'Closed because the account was removed from the configuration. That says nothing about its balance.',
  accountMoved:
    'Closed because the account is read from elsewhere now. That says nothing about either balance.',
  channelRemoved: 'Closed because the channel was removed from the configuration, or sends elsewhere now.',
  takeOver:
    'It went with a take-over: {node} took the accounts over from {from} and has another configuration.',
  lastPollFailedBy: 'The last poll failed: {reason}.',
  oldBalance:
    '{count, plural, one {The last poll failed.} other {The last # polls failed.}} The balance shown is {age} old.',
  oldBalanceBy:
    '{count, plural, one {The last poll failed:} other {The last # polls failed:}} {reason}. The balance shown is {age} old.',
  otherCurrency:
    'The balance shown was read {moment}. The latest reading is {amount}, in another currency: it is not judged.',
  acknowledged: 'Acknowledged by {by} {since}.',
  acknowledgedSaying: 'Acknowledged by {by} {since}: {comment}.',
  overtaken: 'Acknowledged by {by} {since}, before the latest news.',
  overtakenSaying: 'Acknowledged by {by} {since}, before the latest news: {comment}.',
  silenced: 'Silenced until {moment}.',
  somebody: 'somebody',
});

/** An item's story: since when, what happened to it, and how far its numbers can be trusted. `latest`: with the latest reading, judged or not. */
export function wordStory(
  item: MessageItem,
  frame: WordingFrame,
  latest: MessageItem = item,
): readonly string[] {
  const { test } = item.incident;
  if (test !== undefined)
    return [say(says.test, { by: cleanText(test, 60) || say(says.somebody, frame) }, frame)];
  const blind = [...blindnessOf(item, frame), ...otherCurrencyOf(item, latest, frame)];
  const state = stateOf(item);
  if (state === 'resolved' || state === 'closed') return [...endOf(item, frame), ...blind];
  const taken = [...acknowledgementOf(item, frame), ...silenceOf(item, frame)];
  const course = courseOf(item, frame);
  return state === 'acknowledged' ? [...taken, course, ...blind] : [course, ...blind, ...taken];
}

function courseOf(item: MessageItem, frame: WordingFrame): string {
  const moment = sayMoment(item.firedAt, frame);
  const since = saySince(item.firedAt, frame);
  const state = stateOf(item);
  const began = state === 'escalated' ? item.incident.escalationSince : item.firedAt;
  const span = knownSpan(began, frame.now, frame);
  switch (state) {
    case 'event':
      return say(says.seen, { since }, frame);
    case 'reminder':
      return span === null ? say(says.still, { moment }, frame) : say(says.stillFor, { span, moment }, frame);
    case 'escalated':
      return span === null
        ? say(says.escalated, { moment }, frame)
        : say(says.escalatedAfter, { span, moment }, frame);
    case 'acknowledged':
      return say(says.quiet, { since }, frame);
    case 'flapping':
      return say(says.flapping, { since }, frame);
    default:
      return say(says.firing, { since }, frame);
  }
}

/** After the clock was set back, the instant may lie ahead: nothing fires "in 2 hours". */
function saySince(at: number, frame: WordingFrame): string {
  return at > frame.now ? sayMoment(at, frame) : sayMomentAndAge(at, frame);
}

function endOf(item: MessageItem, frame: WordingFrame): readonly string[] {
  const endedAt = item.resolvedAt ?? frame.now;
  const span = knownSpan(item.firedAt, endedAt, frame);
  const between = { from: sayMoment(item.firedAt, frame), to: sayMoment(endedAt, frame) };
  const rest = (item.account?.takenAlerts ?? []).map(({ rule, severity, by }) =>
    say(
      says.stillFires,
      { rule: cleanText(rule, 80), severity: saySeverity(severity, frame), by: nameOf(by, frame) },
      frame,
    ),
  );
  return [
    ...causeOf(item, frame),
    span === null ? say(says.byTheClock, between, frame) : say(says.lasted, { ...between, span }, frame),
    ...(isFirstNotification(item) ? [say(says.late, frame)] : []),
    ...rest,
  ];
}

/** Null if the clock was set back in between. */
function knownSpan(since: number, until: number, frame: WordingFrame): string | null {
  return until < since ? null : sayDuration(until - since, frame);
}

function nameOf(by: string, frame: WordingFrame): string {
  return cleanText(by, 60) || say(says.somebody, frame);
}

function causeOf(item: MessageItem, frame: WordingFrame): readonly string[] {
  const resolution = item.resolution ?? { kind: 'recovered' };
  if (resolution.kind === 'topped-up')
    return [say(says.toppedUp, { amount: sayRise(resolution.micros, frame) }, frame)];
  if (resolution.kind === 'recovered') return [say(alertKindOf(item).recovery(item), frame)];
  const closed = say(closings[resolution.kind], frame);
  // With an heir, a take-over removed it, not a change of the configuration.
  if (!('heir' in resolution) || resolution.heir === undefined) return [closed];
  const [node, from] = [cleanText(resolution.heir.node, 100), cleanText(resolution.heir.from, 100)];
  return [closed, say(says.takeOver, { node, from }, frame)];
}

const closings = {
  'rule-removed': says.ruleRemoved,
  'account-removed': says.accountRemoved,
  'account-moved': says.accountMoved,
  'channel-removed': says.channelRemoved,
} satisfies Readonly<Record<Exclude<Resolution['kind'], 'topped-up' | 'recovered'>, unknown>>;

/** The age of a balance that could not be read lately, and the reason: such a balance is not current. */
function blindnessOf(item: MessageItem, frame: WordingFrame): readonly string[] {
  const account = item.account;
  if (account === null || account.consecutiveFailures === 0) return [];
  const reason =
    account.failure === null ? null : sayAgain(cleanText(account.failure, 300).replace(/[.\s]+$/, ''), frame);
  if (alertKindOf(item).staleness !== undefined)
    return reason === null ? [] : [say(says.lastPollFailedBy, { reason }, frame)];
  if (account.reading === null) return [];
  const given = {
    count: account.consecutiveFailures,
    age: sayDuration(frame.now - account.reading.at, frame),
  };
  return [
    reason === null
      ? say(says.oldBalance, given, frame)
      : say(says.oldBalanceBy, { ...given, reason }, frame),
  ];
}

/** A sentence for the latest reading if it is in another currency: the reading that is shown is older. */
function otherCurrencyOf(
  { account, balance }: MessageItem,
  latest: MessageItem,
  frame: WordingFrame,
): readonly string[] {
  const [shown, newest] = [account?.reading, latest.account?.reading];
  if (shown == null || newest == null || balance === null || shown.currency === newest.currency) return [];
  const amount = sayAmount(amountOf(newest, balance), { ...frame, currency: cleanCurrency(newest.currency) });
  return [say(says.otherCurrency, { moment: sayMomentAndAge(shown.at, frame), amount }, frame)];
}

export function silenceOf({ silencedUntil }: MessageItem, reader: Reader): readonly string[] {
  return silencedUntil == null
    ? []
    : [say(says.silenced, { moment: sayMoment(silencedUntil, reader) }, reader)];
}

function acknowledgementOf(item: MessageItem, frame: WordingFrame): readonly string[] {
  const { acknowledgement } = item.incident;
  if (acknowledgement === null) return [];
  const by = nameOf(acknowledgement.by, frame);
  const comment = sayComment(withoutStop(cleanText(acknowledgement.comment, 200)), frame);
  const given = { by, since: saySince(acknowledgement.at, frame), comment };
  const isOvertaken = item.incident.rises > acknowledgement.rises;
  if (comment === '') return [say(isOvertaken ? says.overtaken : says.acknowledged, given, frame)];
  return [say(isOvertaken ? says.overtakenSaying : says.acknowledgedSaying, given, frame)];
}
