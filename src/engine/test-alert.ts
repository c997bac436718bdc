import { type Incident, uncertainMessage } from '../domain/alert.ts';
import { parseJsonObject } from '../domain/json.ts';
import { type Refusal, refuse } from '../domain/operator.ts';
import type { Quantity } from '../domain/quantity.ts';
import type { Rule } from '../domain/rule.ts';
import type { Severity } from '../domain/severity.ts';
import { alertKindOf, ruleKindOf } from '../rules/registry.ts';
import { listWords } from '../wording/lists.ts';
import { followChannels } from './channel-changes.ts';
import { planChannels } from './decide.ts';
import { keepIncident, sketchIncident } from './incidents.ts';
import { noAccount } from './orders/refusals.ts';
import { factsOf, MonitorState } from './state.ts';
import { inactiveAlert } from './transition.ts';

/** The prefix of a test's incident id: it shows for ever that nothing fires there, whatever became of the test. */
const idPrefix = 't-';

export function isTest(incident: string): boolean {
  return incident.startsWith(idPrefix);
}

/** Notes with tests that have not ended: a test that began is owed its end, whichever daemon runs by then. */
const prefix = 'test-alert:';

export interface WantedTest {
  readonly account: string;
  readonly rule?: string | undefined;
  readonly severity?: Severity | undefined;
  readonly by: string;
}

/** The incident of a rule as it would fire with the numbers of now. No alert stands behind it. */
export function sketchTest(
  state: MonitorState,
  { account: id, rule: wantedRule, severity: wantedSeverity, by }: WantedTest,
  now: number,
): Incident | Refusal {
  const account = state.accounts.get(id);
  if (account === undefined) return noAccount(id);
  const rule = chooseRule(account.rules, wantedRule, wantedSeverity);
  if (rule === undefined) {
    const known = account.rules.map((candidate) => candidate.id);
    return refuse(
      'not-found',
      `account "${id}" has no rule "${wantedRule}"; choose ${listWords(known)}`,
      'rule',
    );
  }
  const kind = ruleKindOf(rule);
  const facts = factsOf(account, now);
  const severity = wantedSeverity ?? rule.severity;
  // An account that was never read has a known threshold and no value.
  const zeros = Object.fromEntries(account.settings.balances.map((balance) => [balance.id, 0]));
  const reading = facts.reading ?? { at: now, balances: zeros, currency: facts.currency ?? '' };
  const { value, threshold } = kind.evaluate(rule, { ...facts, reading }, null);
  const alert = {
    ...inactiveAlert({ account: id, rule: rule.id, type: rule.type, balance: rule.balance }),
    ...{ severity, value: facts.reading && value, facts: kind.factsBehind(rule, facts) },
    threshold: atStep(threshold, rule.thresholds?.[severity]),
  };
  return { ...sketchIncident(idPrefix + state.random.id(), account, alert, now), test: by };
}

/** The rule to test. Unnamed: the first that says that a balance runs out and reaches the severity, else the first that says so, else the first. */
function chooseRule(
  rules: readonly Rule[],
  wanted: string | undefined,
  severity: Severity | undefined,
): Rule | undefined {
  if (wanted !== undefined) return rules.find(({ id }) => id === wanted);
  const reaches = (rule: Rule): boolean =>
    severity === undefined || rule.severity === severity || rule.thresholds?.[severity] !== undefined;
  const emptying = rules.filter((rule) => alertKindOf(rule).emptinessRank !== undefined);
  return emptying.find(reaches) ?? emptying[0] ?? rules[0];
}

function atStep(threshold: Quantity | null, limit: number | undefined): Quantity | null {
  if (threshold === null || limit === undefined) return threshold;
  if (threshold.unit === 'money') return { ...threshold, micros: limit };
  return threshold.unit === 'duration' ? { ...threshold, ms: limit } : threshold;
}

export function noteTest(state: MonitorState, incident: Incident): void {
  state.notes.write(prefix + incident.id, JSON.stringify(incident));
}

export function forgetTest(state: MonitorState, incident: string): void {
  state.notes.delete(prefix + incident);
}

/** Tests that this process did not end: over now, wherever they may have been notified. */
export function owedTests(state: MonitorState, now: number): readonly Incident[] {
  const channels = state.settings.channels.map(({ name }) => name);
  return state.notes.under(prefix).flatMap(({ value }) => {
    const stored = parseJsonObject(value);
    if (stored === null) return [];
    // Only `noteTest` writes these notes.
    const incident = stored as unknown as Incident;
    const { severity, rises } = incident;
    const last = { at: now, severity, rises, resolved: false, flapping: false };
    const first = { firstMessage: uncertainMessage, subject: null };
    const told = { ...last, ...first, escalatedAt: null, acknowledgedAt: null };
    const plans = planChannels(incident, state.settings.routes, channels).filter(({ direct }) => direct);
    // If it was over already, some channels may have heard of the end.
    const waiting =
      incident.resolvedAt === null ? plans.map(({ channel }) => channel) : Object.keys(incident.notified);
    return {
      ...incident,
      ...{ resolvedAt: Math.max(now, incident.firedAt), resolution: { kind: 'recovered' } as const },
      notified: Object.fromEntries(waiting.map((channel) => [channel, told])),
    };
  });
}

/**
 * A state of its own in which nothing else fires: nothing of it is stored, and it touches no other incident. Silences hold a test back as
 * they do an alert, but not the end that is owed.
 */
export function stageOf(state: MonitorState, incident: Incident, now: number): MonitorState {
  const { calendar, random } = state;
  const isOwed = incident.resolvedAt !== null;
  const settings = isOwed ? { ...state.settings, silences: [] } : state.settings;
  const stage = new MonitorState({ settings, calendar, random }, now);
  const account = state.accounts.get(incident.account);
  if (account !== undefined) stage.accounts.set(account.id, account);
  for (const silence of isOwed ? [] : state.silences.values())
    stage.silences.setInMemory(silence.id, silence);
  keepIncident(stage, incident);
  followChannels(stage, now);
  return stage;
}
