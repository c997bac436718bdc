import {
  type Alert,
  type AlertTiming,
  alertKey,
  isSelfId,
  type Resolution,
  selfAccountId,
} from '../domain/alert.ts';
import { hourMs, weekMs } from '../domain/duration.ts';
import { isoText } from '../domain/moment.ts';
import { plural } from '../domain/plain-text.ts';
import { count, type Fact, listFacts, type Quantity, text } from '../domain/quantity.ts';
import type { Severity } from '../domain/severity.ts';
import type { ClusterProblem } from '../ports/cluster.ts';
import type { DamagedRecord, DamagedRun } from '../ports/store.ts';
import type { Evaluation } from '../rules/evaluation.ts';
import {
  channelFailed,
  channelFailedRule,
  clusterChanged,
  clusterDegraded,
  clusterDegradedRules,
  configInvalid,
  damagedPollsRule,
  damagedRecordsRule,
  refusedRecipientsFact,
  storageFailed,
  variableFact,
} from '../rules/self-alert-kinds.ts';
import { closeIncident, openEvent, openIncident, updateIncident } from './incidents.ts';
import type { AlertIdentity } from './records.ts';
import { type MonitorState, scheduleBy } from './state.ts';
import { elapse, elapsesAt, inactiveAlert, type Transition, transition } from './transition.ts';

/** Self alerts are facts of the moment: nothing waits, but they flap like others. */
const timing: AlertTiming = { forMs: 0, recoverForMs: 0, flapWindowMs: hourMs };

/** What an alert about lowwater itself says; `text` is what people read as its value. */
interface OwnFailure {
  readonly type: string;
  readonly rule: string;
  readonly severity: Severity;
  readonly text: string;
  readonly facts?: readonly Fact[];
  readonly now: number;
}
export function raiseOwnFailure(state: MonitorState, failure: OwnFailure): void {
  const { rule, type, severity, facts = [], now } = failure;
  raiseSelfAlert(state, {
    alert: state.alerts.get(selfAccountId, rule) ?? ownAlert({ rule, type }),
    evaluation: { kind: 'breached', severity, value: text(failure.text), threshold: null, facts },
    now,
  });
}

/** Something happened to lowwater itself that has no end. */
export function noteOwnEvent(state: MonitorState, { severity, now, ...event }: OwnFailure): void {
  const value = text(event.text);
  const evaluation: Evaluation = { kind: 'event', severity, value, threshold: null, facts: [] };
  openEvent(state, { account: null, alert: ownAlert(event), evaluation, now });
}

function ownAlert({ rule, type }: { readonly rule: string; readonly type: string }): Alert {
  return inactiveAlert({ account: selfAccountId, rule, type, balance: null });
}

export function clearOwnFailure(state: MonitorState, rule: string, now: number): void {
  closeSelfAlert(state, { account: selfAccountId, rule, resolution: { kind: 'recovered' }, now });
}

export function isOwnFailureRaised(state: MonitorState, rule: string): boolean {
  return isRaised(state.alerts.get(selfAccountId, rule));
}

/** Whether what a self alert says is the case now: one that flaps stays open while it is not. */
export function isRaised(alert: Alert | undefined): boolean {
  return alert?.state === 'firing' && alert.recoveringSince === null;
}

export function isStorageFailing(state: MonitorState): boolean {
  return isOwnFailureRaised(state, storageFailed.type);
}

/** The database cannot be written, as `problem` says; with null it can be again. */
export function noteStorage(state: MonitorState, problem: string | null, now: number): void {
  noteProblem(state, { type: storageFailed.type, severity: 'critical', problem, now });
}

/** The configuration on the disk is invalid, as `problem` says; with null it is the one in force. */
export function noteConfiguration(state: MonitorState, problem: string | null, now: number): void {
  noteProblem(state, { type: configInvalid.type, severity: 'warning', problem, now });
}

/** What is wrong among the daemons that share a database, all of it: the rest is over. */
export function noteClusterProblems(
  state: MonitorState,
  problems: readonly ClusterProblem[],
  now: number,
): void {
  for (const [aspect, rule] of clusterDegradedRules) {
    const problem = problems.find((it) => it.aspect === aspect);
    if (problem === undefined) clearOwnFailure(state, rule, now);
    else raiseOwnFailure(state, { ...problem, type: clusterDegraded.type, rule, now });
  }
}

/** Something happened among the daemons that share a database; `happened` is a clause. */
export function noteClusterChange(state: MonitorState, happened: string, now: number): void {
  const { type } = clusterChanged;
  noteOwnEvent(state, { type, rule: type, severity: 'info', text: happened, now });
}

function noteProblem(
  state: MonitorState,
  { problem, ...failure }: Omit<OwnFailure, 'rule' | 'text'> & { readonly problem: string | null },
): void {
  const { type, now } = failure;
  if (problem === null) clearOwnFailure(state, type, now);
  else raiseOwnFailure(state, { ...failure, rule: type, text: problem });
}

/** Reports a channel that refuses for good, or some of its recipients, on the other channels. */
export function raiseChannelFailed(
  state: MonitorState,
  input: {
    readonly channel: string;
    readonly severity: Severity;
    readonly reason: string;
    /** How many recipients it refused while it took the message for the others. */
    readonly refused?: number;
    readonly now: number;
  },
): void {
  const from = state.settings.channels.find(({ name }) => name === input.channel)?.valuesFrom;
  raiseOwnFailure(state, {
    type: channelFailed.type,
    rule: channelFailedRule(input.channel),
    severity: input.severity,
    text: input.reason,
    facts: listFacts({
      channel: text(input.channel),
      [variableFact]: from?.kind === 'environment' ? text(from.name) : null,
      [refusedRecipientsFact]: input.refused === undefined ? null : count(input.refused),
    }),
    now: input.now,
  });
}

export function raiseSelfAlert(
  state: MonitorState,
  input: { readonly alert: Alert; readonly evaluation: Evaluation; readonly now: number },
): void {
  const { now } = input;
  const { alert, change } = transition(input.alert, input.evaluation, timing, now);
  if (change === 'fired') {
    keepSelfAlert(state, { ...alert, incident: openIncident(state, { account: null, alert, now }) });
  } else if (change !== 'none' || !isSameText(alert.value, input.alert.value)) {
    updateIncident(state, { alert, rose: change === 'rose', eased: false, now });
    keepSelfAlert(state, alert);
  }
}

/** A change of words is not notified, but later messages have the new words. */
function isSameText(now: Quantity | null, before: Quantity | null): boolean {
  return now?.unit === 'text' && before?.unit === 'text' && now.text === before.text;
}

export function closeSelfAlert(
  state: MonitorState,
  input: AlertIdentity & { readonly resolution: Resolution; readonly now: number },
): void {
  const known = state.alerts.get(input.account, input.rule);
  if (known === undefined || known.state !== 'firing') return;
  const recovered: Evaluation = { kind: 'ok', value: known.value, threshold: null, facts: [] };
  // What is removed ends at once; what recovers may flap.
  const isGone = input.resolution.kind !== 'recovered';
  const calm = isGone ? { ...known, flappingSince: null, changedAt: [] } : known;
  followSelfAlert(state, transition(calm, recovered, timing, input.now), input);
}

/** A flapping self alert that has calmed down resolves, or goes on firing. */
export function elapseSelfAlert(state: MonitorState, key: string, now: number): void {
  const slash = key.lastIndexOf('/');
  const known = state.alerts.get(key.slice(0, slash), key.slice(slash + 1));
  if (known === undefined) return;
  followSelfAlert(state, elapse(known, timing, now), { resolution: { kind: 'recovered' }, now });
  keepSchedule(state, state.alerts.get(known.account, known.rule) ?? known);
}

function followSelfAlert(
  state: MonitorState,
  { alert, change }: Transition,
  { resolution, now }: { readonly resolution: Resolution; readonly now: number },
): void {
  if (change === 'none') return;
  if (change === 'resolved') closeIncident(state, { alert, now, resolution });
  else updateIncident(state, { alert, rose: false, eased: false, now });
  keepSelfAlert(state, change === 'resolved' ? { ...alert, incident: null } : alert);
}

function keepSelfAlert(state: MonitorState, alert: Alert): void {
  state.alerts.set(alert);
  keepSchedule(state, alert);
}

function keepSchedule(state: MonitorState, alert: Alert): void {
  const at = elapsesAt(alert, timing);
  if (at !== null) scheduleBy(state, `self:${alertKey(alert.account, alert.rule)}`, at);
}

/** After a start: when flapping self alerts calm down. */
export function scheduleSelfAlerts(state: MonitorState): void {
  for (const alert of state.alerts.values()) if (isSelfId(alert.account)) keepSchedule(state, alert);
}

/** Nothing mends what was set aside, so its alert ends after this long without more. */
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
    return;
  }
  const text = describeDamage(account, runs);
  raiseOwnFailure(state, { type: storageFailed.type, rule, severity: 'warning', text, now });
  scheduleBy(state, `damaged:${account}`, endsAt);
}

/** Records named in a message; the log names all of them. */
const namedRecords = 5;

/** Notifies of records that could not be read and were set aside: an event, for nothing mends them. */
export function noteDamagedRecords(
  state: MonitorState,
  records: readonly DamagedRecord[],
  now: number,
): void {
  const names = records.map(({ source, key, second, reason }) =>
    key === ''
      ? `the table ${source}: ${reason}`
      : `${source} ${key}${second === null ? '' : `/${second}`}: ${reason}`,
  );
  const more = names.length > namedRecords ? [`${names.length - namedRecords} more`] : [];
  const { type } = storageFailed;
  const text = `${plural(names.length, 'record')}: ${[...names.slice(0, namedRecords), ...more].join('; ')}`;
  noteOwnEvent(state, { type, rule: damagedRecordsRule, severity: 'critical', text, now });
}

/** `212 polls of otp, 2026-11-19 08:00 to 2026-11-20 12:00 UTC`. */
function describeDamage(account: string, runs: readonly DamagedRun[]): string {
  const polls = runs.reduce((sum, run) => sum + run.polls, 0);
  const begins = runs.flatMap(({ earliestAt }) => earliestAt ?? []);
  const ends = runs.flatMap(({ latestAt }) => latestAt ?? []);
  const from = begins.length < runs.length ? '' : `${minuteText(Math.min(...begins))} `;
  const to = ends.length === 0 ? '' : `to ${minuteText(Math.max(...ends))} UTC`;
  const span = `${from}${to}`;
  return `${plural(polls, 'poll')} of ${account}${span === '' ? '' : `, ${span}`}`;
}

function minuteText(at: number): string {
  return isoText(at).slice(0, 16).replace('T', ' ');
}
