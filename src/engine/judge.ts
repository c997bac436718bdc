import type { Alert, Resolution } from '../domain/alert.ts';
import { isSameCurrency, type Micros } from '../domain/money.ts';
import { providerKeyOf } from '../domain/provider-entry.ts';
import { type AccountState, amountOf, type Balance } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import type { AccountFacts } from '../rules/evaluation.ts';
import { ruleKindOf, timingOf } from '../rules/registry.ts';
import { isReadAt } from '../rules/stale.ts';
import { followChange, incidentOf, openEvent } from './incidents.ts';
import { factsOf, type MonitorState, scheduleBy, type WatchedAccount } from './state.ts';
import { elapse, elapsesAt, inactiveAlert, isAtRest, type Transition, transition } from './transition.ts';

/** Judges the account's rules by a poll. A rule that needs a reading waits for one; an inactive alert that is surely ok stays so. */
export function judgePoll(state: MonitorState, account: WatchedAccount, now: number): void {
  const facts = factsOf(account, now);
  const { alerts } = account;
  for (const rule of account.rules) {
    if (isPaused(rule, facts)) continue;
    if (isCalm(alerts.get(rule.id)) && ruleKindOf(rule).isSurelyOk?.(rule, facts) === true) continue;
    judgeRule(state, { account, rule, facts, now });
  }
  schedule(state, account, nextChange(account, facts));
}

/** Judges changes by time alone: `for`, `recoverFor`, flapping, staleness. An unloaded account is scheduled after it is loaded. */
export function judgeElapsed(state: MonitorState, account: WatchedAccount, now: number): void {
  if (state.unloaded.has(account.id)) return;
  if (account.changesAt > now) return void schedule(state, account, account.changesAt);
  const facts = factsOf(account, now);
  const due = nextChange(account, facts);
  if (due > now) return void schedule(state, account, due);
  for (const rule of account.rules) elapseRule(state, { account, rule, facts, now });
  schedule(state, account, nextChange(account, facts));
}

export function scheduleAccount(state: MonitorState, account: WatchedAccount): void {
  schedule(state, account, nextChange(account, factsOf(account, 0)));
}

/** A good reading only moves staleness further away: the queue keeps its earlier entry and asks again then. */
function schedule(state: MonitorState, account: WatchedAccount, at: number): void {
  account.changesAt = at;
  if (at < Number.POSITIVE_INFINITY) scheduleBy(state, account.dueKey, at);
}

function nextChange({ rules, alerts }: WatchedAccount, facts: AccountFacts): number {
  let next = Number.POSITIVE_INFINITY;
  for (const rule of rules) next = Math.min(next, changesAt(rule, { alert: alerts.get(rule.id), facts }));
  return next;
}

function changesAt(
  rule: Rule,
  { alert, facts }: { readonly alert: Alert | undefined; readonly facts: AccountFacts },
): number {
  const kind = ruleKindOf(rule);
  const beginsAt =
    kind.dueAt !== undefined && isAtRest(alert ?? null) ? kind.dueAt(rule, facts) : Number.POSITIVE_INFINITY;
  if (isCalm(alert)) return beginsAt;
  const elapses = elapsesAt(alert, timingOf(rule, facts.pollIntervalMs));
  return elapses === null || isUndecided(rule, alert, facts, elapses)
    ? beginsAt
    : Math.min(beginsAt, elapses);
}

interface RuleCase {
  readonly account: WatchedAccount;
  readonly rule: Rule;
  readonly facts: AccountFacts;
  readonly now: number;
}

function elapseRule(state: MonitorState, ruleCase: RuleCase): void {
  const { account, rule, facts, now } = ruleCase;
  // This comes first: an account that is stale again must not be seen to recover.
  if (ruleKindOf(rule).dueAt !== undefined && isAtRest(account.alerts.get(rule.id) ?? null))
    judgeRule(state, ruleCase);
  const alert = account.alerts.get(rule.id);
  const timing = timingOf(rule, account.pollIntervalMs);
  const elapses = alert && elapsesAt(alert, timing);
  if (alert !== undefined && elapses != null && !isUndecided(rule, alert, facts, elapses))
    applyTransition(state, ruleCase, elapse(alert, timing, now));
}

function judgeRule(state: MonitorState, ruleCase: RuleCase): void {
  const { account, rule, facts, now } = ruleCase;
  const kind = ruleKindOf(rule);
  const known = account.alerts.get(rule.id);
  const evaluation = kind.evaluate(rule, facts, firingSeverity(known));
  if (evaluation.kind === 'event') {
    const { severity, value, threshold } = evaluation;
    const happened = { severity, value, threshold, facts: kind.factsBehind(rule, facts) };
    openEvent(state, account, { ...newAlert(account, rule), ...happened }, now);
    return;
  }
  if (isCalm(known) && evaluation.kind !== 'breached') return;
  const timing = timingOf(rule, account.pollIntervalMs);
  const before = known ?? newAlert(account, rule);
  applyTransition(state, ruleCase, transition(before, evaluation, timing, now), before.value);
}

function applyTransition(
  state: MonitorState,
  { account, rule, facts, now }: RuleCase,
  { alert, change }: Transition,
  before: Alert['value'] = null,
): void {
  const kind = ruleKindOf(rule);
  const told = kind.isAnother && incidentOf(state, alert)?.facts;
  // A change stores the facts, which would then pass for what people were told: something else that it fires for must not wait.
  const waitsMs = change === 'none' ? rule.forMs : 0;
  const another = told !== undefined && kind.isAnother?.(told, facts, waitsMs) === true;
  if (change === 'none' && !another) {
    // The newest numbers are for people who look; they need no write.
    if (alert.state !== 'inactive') state.alerts.setInMemory(alert);
    return;
  }
  const explained = { ...alert, facts: kind.factsBehind(rule, facts) };
  const eased = isEased({ account, rule }, { alert, change }, before);
  const resolution = (): Resolution => resolutionOf(state, account, { rule, alert });
  const followed = followChange(
    state,
    account,
    { alert: explained, change },
    { now, eased, another, resolution },
  );
  if (followed.state === 'pending') state.alerts.set(followed);
  else if (followed.state === 'firing' || followed.changedAt.length > 0)
    state.alerts.set({ ...followed, facts: noFacts });
  else state.alerts.delete(followed);
  touchAccount(state, account);
}

/** A change of one alert may inhibit or release others of the account. */
function touchAccount(state: MonitorState, account: WatchedAccount): void {
  state.providers.get(providerKeyOf(account.settings))?.look(account);
  for (const alert of account.alerts.values()) if (alert.incident !== null) state.touched.add(alert.incident);
}

function newAlert({ id: account }: WatchedAccount, { id: rule, type, balance }: Rule): Alert {
  return inactiveAlert({ account, rule, type, balance });
}

const noFacts: Alert['facts'] = [];

function isCalm(alert: Alert | undefined): alert is undefined | (Alert & { state: 'inactive' }) {
  return alert === undefined || alert.state === 'inactive';
}

function firingSeverity(alert: Alert | undefined): Severity | null {
  return alert?.state === 'firing' ? alert.severity : null;
}

/** While an account cannot be read, time decides nothing about its balances. */
function isPaused(rule: Rule, facts: AccountFacts): boolean {
  return facts.outcome !== 'ok' && ruleKindOf(rule).needsReading;
}

/** Whether time may not decide: the account was not read by then, or its reading gives no verdict, or by an edited rule another than the alert's. */
function isUndecided(rule: Rule, alert: Alert, facts: AccountFacts, at: number): boolean {
  const kind = ruleKindOf(rule);
  if (!kind.needsReading) return false;
  if (!isReadAt(facts, at)) return true;
  const verdict = kind.evaluate(rule, facts, firingSeverity(alert)).kind;
  return verdict !== (alert.recoveringSince === null ? 'breached' : 'ok');
}

/** Whether the balance went from one amount to the other as `so` says, or may have: amounts in two currencies are not compared. */
function moved(
  { reading, previous }: AccountState,
  balance: Balance | null,
  so: (before: Micros, now: Micros) => boolean,
): boolean {
  if (balance === null || reading === null || previous === null) return false;
  if (!isSameCurrency(previous.currency, reading.currency)) return true;
  return so(amountOf(previous, balance), amountOf(reading, balance));
}

/** Whether readers have the milder severity in mind: a top-up led to it, or the balance fell below the level of the worse one only now. */
function isEased(
  { account: { poll }, rule }: Pick<RuleCase, 'account' | 'rule'>,
  { alert, change }: Transition,
  before: Alert['value'],
): boolean {
  if (change === 'fell') return moved(poll, alert.balance, (before, now) => now > before);
  if (change !== 'rose' && alert.rising === null) return false;
  // A fall that waits for `for` counts as one from its first reading on.
  return crosses(poll, rule, { ...alert, ...alert.rising }) || growsPast(before, rule, alert);
}

/** Whether the newest reading, and not an edit of the rule, brought a balance below the level of a severity. */
function crosses(poll: AccountState, rule: Rule, { balance, severity }: Alert): boolean {
  const level = ruleKindOf(rule).levels?.(rule)[severity];
  return level !== undefined && moved(poll, balance, (before, now) => now < level && before >= level);
}

/** The same for a value that only grows, such as the spending of a month. */
function growsPast(before: Alert['value'], rule: Rule, { value, threshold }: Alert): boolean {
  if (ruleKindOf(rule).onlyGrows?.(rule) !== true) return false;
  if (before?.unit !== 'money' || value?.unit !== 'money' || threshold?.unit !== 'money') return false;
  return before.micros < threshold.micros && threshold.micros <= value.micros;
}

/** A top-up since the incident began, or simply a recovery. */
function resolutionOf(
  state: MonitorState,
  account: WatchedAccount,
  { rule, alert }: { readonly rule: Rule; readonly alert: Alert },
): Resolution {
  const { balance } = rule;
  // The time of readings counts: the alert's own timestamps are shifted by unwatched time.
  const since = incidentOf(state, alert)?.firedAt;
  if (since === undefined || balance === null || ruleKindOf(rule).emptinessRank === undefined)
    return { kind: 'recovered' };
  const micros = account.log.toppedUpSince(balance, since);
  return micros > 0 ? { kind: 'topped-up', micros } : { kind: 'recovered' };
}
