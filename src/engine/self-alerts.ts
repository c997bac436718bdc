import {
  type Alert,
  type AlertTiming,
  alertKey,
  alertNameOf,
  isSelfId,
  type Resolution,
  selfAccountId,
} from '../domain/alert.ts';
import type { AlertName } from '../domain/operator.ts';
import { plural } from '../domain/plain-text.ts';
import { count, type Fact, listFacts, type Quantity, text } from '../domain/quantity.ts';
import type { Severity } from '../domain/severity.ts';
import { hourMs, minuteText, weekMs } from '../domain/time.ts';
import type { DaemonMembership } from '../ports/cluster.ts';
import { type DamagedRecord, type DamagedRun, untoldDamageNote } from '../ports/store.ts';
import { type Evaluation, verdict } from '../rules/evaluation.ts';
import type { AlertKind } from '../rules/kind.ts';
import {
  channelFailed,
  channelFailedRule,
  chatLost,
  clusterChanged,
  clusterDegraded,
  clusterDegradedRules,
  configInvalid,
  damagedPollsRule,
  damagedRecordsRule,
  ratesFailed,
  refusedRecipientsFact,
  storageFailed,
  variableFact,
} from '../rules/self-alert-kinds.ts';
import { followChange, openEvent } from './incidents.ts';
import { type MonitorState, scheduleBy } from './state.ts';
import { elapse, elapsesAt, inactiveAlert, type Transition, transition } from './transition.ts';

/** Self alerts are facts of the moment: they do not wait, but they flap like others. */
const timing: AlertTiming = { forMs: 0, recoverForMs: 0, flapWindowMs: hourMs };

/** The content of an alert about lowwater itself; `text` is what people read as its value. `rule`: that of the kind, unless it has several. */
interface OwnFailure {
  readonly kind: AlertKind;
  readonly rule?: string;
  readonly severity: Severity;
  readonly text: string;
  readonly facts?: readonly Fact[];
}

function raiseOwnFailure(
  state: MonitorState,
  { kind: { type }, rule = type, severity, facts = [], ...failure }: OwnFailure,
  now: number,
): void {
  const alert = state.alerts.get(selfAccountId, rule) ?? ownAlert(rule, type);
  const value = text(failure.text);
  raiseSelfAlert(state, alert, { kind: 'breached', severity, value, threshold: null, facts }, now);
}

/** Records an event about lowwater itself, which has no end. */
function noteOwnEvent(
  state: MonitorState,
  { kind: { type }, rule = type, severity, ...event }: OwnFailure,
  now: number,
): void {
  openEvent(state, null, { ...ownAlert(rule, type), severity, value: text(event.text) }, now);
}

function ownAlert(rule: string, type: string): Alert {
  return inactiveAlert({ account: selfAccountId, rule, type, balance: null });
}

export function clearOwnFailure(state: MonitorState, rule: string, now: number): void {
  closeSelfAlert(state, { account: selfAccountId, rule }, { kind: 'recovered' }, now);
}

export function isOwnFailureRaised(state: MonitorState, rule: string): boolean {
  return isRaised(state.alerts.get(selfAccountId, rule));
}

/** Whether the problem of a self alert exists now: an alert that flaps stays open while the problem does not exist. */
export function isRaised(alert: Alert | undefined): boolean {
  return alert?.state === 'firing' && alert.recoveringSince === null;
}

/** Problems with one alert each: the database is not written, the file on the disk is invalid, rates are not read, a chat is not heard. */
const troubles = {
  storage: { kind: storageFailed, severity: 'critical' },
  configuration: { kind: configInvalid, severity: 'warning' },
  rates: { kind: ratesFailed, severity: 'warning' },
  hearing: { kind: chatLost, severity: 'warning' },
} as const;

/** Records the problem that `problem` describes; with null all is well again. */
export function noteTrouble(
  state: MonitorState,
  where: keyof typeof troubles,
  problem: string | null,
  now: number,
  facts: readonly Fact[] = [],
): void {
  const trouble = troubles[where];
  if (problem === null) clearOwnFailure(state, trouble.kind.type, now);
  else raiseOwnFailure(state, { ...trouble, text: problem, facts }, now);
}

/** All problems among the daemons that share a database: those not named are over, unless they are undecided. */
export function noteClusterProblems(
  state: MonitorState,
  { alerts, undecided }: DaemonMembership['clusterStatus'],
  now: number,
): void {
  for (const [aspect, rule] of clusterDegradedRules) {
    const problem = alerts.find((it) => it.aspect === aspect);
    const isOver = problem === undefined && !undecided.some((it) => it === aspect);
    if (isOver) clearOwnFailure(state, rule, now);
    if (problem !== undefined) raiseOwnFailure(state, { ...problem, kind: clusterDegraded, rule }, now);
  }
}

/** Records an event among the daemons that share a database; `happened` is a clause. */
export function noteClusterChange(state: MonitorState, happened: string, now: number): void {
  noteOwnEvent(state, { kind: clusterChanged, severity: 'info', text: happened }, now);
}

/** `refused`: how many recipients it refused while it took the message for the others. */
export function raiseChannelFailed(
  state: MonitorState,
  channel: string,
  { severity, text: reason, refused }: Pick<OwnFailure, 'severity' | 'text'> & { readonly refused?: number },
  now: number,
): void {
  const from = state.settings.channels.find(({ name }) => name === channel)?.valuesFrom;
  const facts = listFacts({
    channel: text(channel),
    [variableFact]: from?.kind === 'environment' ? text(from.name) : null,
    [refusedRecipientsFact]: refused === undefined ? null : count(refused),
  });
  const rule = channelFailedRule(channel);
  raiseOwnFailure(state, { kind: channelFailed, rule, severity, text: reason, facts }, now);
}

/** A receiver that was removed from the configuration was not told that its open incidents ended. */
export function noteMissedFarewell(state: MonitorState, channel: string, missed: string, now: number): void {
  const rule = channelFailedRule(channel);
  noteOwnEvent(state, { kind: channelFailed, rule, severity: 'warning', text: missed }, now);
}

export function raiseSelfAlert(
  state: MonitorState,
  known: Alert,
  evaluation: Extract<Evaluation, { kind: 'breached' }>,
  now: number,
): void {
  const next = transition(known, evaluation, timing, now);
  // A change of words is not notified, but later messages have the new words.
  if (next.change !== 'none' || !isSameText(next.alert.value, known.value)) followSelfAlert(state, next, now);
}

function isSameText(now: Quantity | null, before: Quantity | null): boolean {
  return now?.unit === 'text' && before?.unit === 'text' && now.text === before.text;
}

export function closeSelfAlert(
  state: MonitorState,
  { account, rule }: AlertName,
  resolution: Resolution,
  now: number,
): void {
  const known = state.alerts.get(account, rule);
  if (known === undefined || known.state !== 'firing') return;
  // The alert of something removed ends at once; one that recovers may flap.
  const isGone = resolution.kind !== 'recovered';
  const calm = isGone ? { ...known, flappingSince: null, changedAt: [] } : known;
  const next = transition(calm, verdict(null, known.value), timing, now);
  if (next.change !== 'none') followSelfAlert(state, next, now, resolution);
}

/** A flapping self alert that has calmed down resolves, or goes on firing. */
export function elapseSelfAlert(state: MonitorState, key: string, now: number): void {
  const { account, rule } = alertNameOf(key);
  const known = state.alerts.get(account, rule);
  if (known === undefined) return;
  const next = elapse(known, timing, now);
  if (next.change !== 'none') followSelfAlert(state, next, now);
  keepSchedule(state, state.alerts.get(account, rule) ?? known);
}

function followSelfAlert(
  state: MonitorState,
  next: Transition,
  now: number,
  resolution: Resolution = { kind: 'recovered' },
): void {
  const alert = followChange(state, null, next, { now, resolution: () => resolution });
  state.alerts.set(alert);
  keepSchedule(state, alert);
}

function keepSchedule(state: MonitorState, alert: Alert): void {
  const at = elapsesAt(alert, timing);
  if (at !== null) scheduleBy(state, `self:${alertKey(alert.account, alert.rule)}`, at);
}

/** After a start, schedules when flapping self alerts calm down. */
export function scheduleSelfAlerts(state: MonitorState): void {
  for (const alert of state.alerts.values()) if (isSelfId(alert.account)) keepSchedule(state, alert);
}

/** Records that were set aside cannot be repaired, so the alert about them ends after this long without more of them. */
const shownMs = weekMs;

export function noteDamagedPolls(state: MonitorState, found: readonly DamagedRun[], now: number): void {
  for (const run of found) state.damaged.set(run.account, [...(state.damaged.get(run.account) ?? []), run]);
  for (const account of new Set(found.map((run) => run.account))) reviewDamagedPolls(state, account, now);
}

/** Raises the alert about damaged polls of an account, or ends it when its time is over. */
export function reviewDamagedPolls(state: MonitorState, account: string, now: number): void {
  const runs = state.damaged.get(account) ?? [];
  const rule = damagedPollsRule(account);
  const endsAt = Math.max(...runs.map(({ foundAt }) => foundAt)) + shownMs;
  if (now >= endsAt) {
    clearOwnFailure(state, rule, now);
  } else {
    const text = describeDamage(account, runs);
    raiseOwnFailure(state, { kind: storageFailed, rule, severity: 'warning', text }, now);
    scheduleBy(state, `damaged:${account}`, endsAt);
  }
}

/** Records named in a message; the log names all of them. */
const namedRecords = 5;

/** Notifies of records that could not be read and were set aside: an event, because nothing repairs them. */
export function noteDamagedRecords(
  state: MonitorState,
  records: readonly DamagedRecord[],
  now: number,
): void {
  if (records.length === 0) return;
  const names = records.map(({ source, key, second, reason }) =>
    key === ''
      ? `the table ${source}: ${reason}`
      : `${source} ${key}${second === null ? '' : `/${second}`}: ${reason}`,
  );
  const more = names.length > namedRecords ? [`${names.length - namedRecords} more`] : [];
  const text = `${plural(names.length, 'record')}: ${[...names.slice(0, namedRecords), ...more].join('; ')}`;
  noteOwnEvent(state, { kind: storageFailed, rule: damagedRecordsRule, severity: 'critical', text }, now);
  // The deletion is stored together with the event.
  state.notes.delete(untoldDamageNote);
}

/** The end of the last damaged stored polls of an account in [since, until); minus infinity if none are damaged. */
export function damageEnd(
  { damaged }: MonitorState,
  account: string,
  { since, until }: { readonly since: number; readonly until: number },
): number {
  const ends = (damaged.get(account) ?? [])
    .filter(({ earliestAt }) => (earliestAt ?? since) < until)
    .map(({ latestAt, foundAt }) => Math.min(latestAt ?? foundAt, until));
  return Math.max(Number.NEGATIVE_INFINITY, ...ends.filter((end) => end >= since));
}

/** `212 polls of otp, 2026-11-19 08:00 to 2026-11-20 12:00 UTC`. */
function describeDamage(account: string, runs: readonly DamagedRun[]): string {
  const polls = runs.reduce((sum, run) => sum + run.polls, 0);
  const begins = runs.flatMap(({ earliestAt }) => earliestAt ?? []);
  const ends = runs.flatMap(({ latestAt }) => latestAt ?? []);
  const from = begins.length < runs.length ? '' : `${minuteText(Math.min(...begins))} `;
  const to = ends.length === 0 ? '' : `to ${minuteText(Math.max(...ends))} UTC`;
  return `${plural(polls, 'poll')} of ${account}${from + to === '' ? '' : `, ${from}${to}`}`;
}
