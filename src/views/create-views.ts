import { describeIncident } from '../daemon/compose.ts';
import { collect, type HistoryLoader } from '../daemon/history-loader.ts';
import { type Alert, type Incident, isAcknowledged } from '../domain/alert.ts';
import { dayMs } from '../domain/duration.ts';
import type { Notification, NotificationReason } from '../domain/outbox.ts';
import type { Forecast } from '../domain/quantity.ts';
import { type Balance, ofEach } from '../domain/reading.ts';
import { isWorse, type Severity } from '../domain/severity.ts';
import { incidentOf, sketchIncident } from '../engine/incidents.ts';
import { suppressionOf } from '../engine/inhibit.ts';
import { blockedUntil } from '../engine/observe.ts';
import { auditOf, refuseSilence } from '../engine/operate.ts';
import { paymentsOf, runwayOf } from '../engine/runways.ts';
import { laterStarts, mutedBy, nextWindow } from '../engine/silencing.ts';
import { balancesOf, factsOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import { wordItem } from '../messages/item-wording.ts';
import type { StoreReader } from '../ports/store.ts';
import { balanceLevels, evaluate, explainRule, nextStep, wouldNotFire } from '../rules/about-rules.ts';
import { selfAlertTypes } from '../rules/registry.ts';
import { thin } from '../spending/thin.ts';
import { findSilenced } from './find-silenced.ts';
import type {
  AccountView,
  AlertView,
  ChannelView,
  Explanation,
  FiringView,
  SilenceView,
  Views,
} from './views.ts';

const dayPoints = 96;
const shownLaterStarts = 3;

export interface ViewDependencies {
  readonly state: MonitorState;
  readonly reader: StoreReader;
  readonly historyLoader: HistoryLoader;
  readonly now: () => number;
  /** When an account is polled next; null where no daemon runs. */
  readonly nextPollAt: (account: string) => number | null;
}

/** The answers to what people ask, from the memory that is `current` when they ask and, for history, from the database. */
export function createViews(current: () => ViewDependencies): Views {
  return {
    async accounts(wanted) {
      const parts = current();
      const { accounts } = parts.state;
      const ids = wanted ?? [...accounts.keys()];
      await parts.historyLoader.ofAll(ids);
      return ids.flatMap((id) => accounts.get(id) ?? []).map((account) => viewAccount(parts, account));
    },
    accountIds: () => [...current().state.accounts.keys()],
    counts: () => countAccounts(current().state),
    choices: () => listChoices(current().state),
    async account(id) {
      const parts = current();
      await parts.historyLoader.ofAll([id]);
      const account = parts.state.accounts.get(id);
      return account === undefined ? null : viewAccount(parts, account);
    },
    readings: (account, since, until) => collect(current().reader.readings({ account, since, until })),
    polls: (account, since, until) => collect(current().reader.polls({ account, since, until })),
    async alerts({ all }) {
      const parts = current();
      const past = all ? await parts.reader.incidents({}) : [];
      const named = [...openAlerts(parts.state), ...past];
      await parts.historyLoader.ofAll(named.map(({ account }) => account));
      const open = openAlerts(parts.state).map((alert) => viewAlert(parts, alert));
      return [...open, ...viewResolved(parts, past)];
    },
    async alert(account, rule) {
      const parts = current();
      await parts.historyLoader.ofAll([account]);
      const alert = parts.state.alerts.get(account, rule);
      return alert === undefined || alert.state === 'inactive' ? null : viewAlert(parts, alert);
    },
    firing: () => viewFiring(current()),
    incidents: (query) => current().reader.incidents(query),
    async explain(id) {
      const parts = current();
      await parts.historyLoader.ofAll([id]);
      const account = parts.state.accounts.get(id);
      return account?.rules.map((rule) => explain(parts, account, rule)) ?? [];
    },
    notifications: (limit, before) => current().reader.messages(limit, before),
    audit: (query) => auditOf(current().state, query),
    channels: () => current().state.settings.channels.map((channel) => viewChannel(current(), channel)),
    async silenced(query) {
      const { state, reader } = current();
      return findSilenced(state, query, await reader.silences(query.since));
    },
    weekAgo: (id, balance) => current().state.accounts.get(id)?.spending.weekAgo(balance) ?? null,
    record: (id, balance) => current().state.accounts.get(id)?.spending.record(balance) ?? null,
    coming(id, balance) {
      const { accounts, expected } = current().state;
      const runs = accounts.get(id)?.spending.comingRuns(balance) ?? [];
      const topUps = (expected.get(id) ?? []).filter((topUp) => topUp.balance === balance);
      return [
        ...runs.map(({ at, micros }) => ({ at, micros: -micros })),
        ...topUps.map(({ by, amountMicros }) => ({ at: by, micros: amountMicros })),
      ];
    },
    expected: () => [...current().state.expected.values()].flat(),
    silences: () => viewSilences(current()),
    wouldMute(order) {
      const { state, now } = current();
      return refuseSilence(state, order, now()) ?? mutedBy(state, order.match);
    },
  };
}

function countAccounts({ accounts }: MonitorState): { readonly accounts: number; readonly unread: number } {
  let unread = 0;
  for (const { poll } of accounts.values()) if (poll.outcome !== 'ok') unread += 1;
  return { accounts: accounts.size, unread };
}

function listChoices({ accounts, settings }: MonitorState): ReturnType<Views['choices']> {
  const labels = new Set<string>();
  for (const account of accounts.values()) {
    for (const [key, value] of Object.entries(account.settings.labels)) labels.add(`${key}=${value}`);
  }
  const itself = (word: string): readonly [string, string] => [word, word];
  return {
    accounts: [...accounts.values()].map(({ settings: { id, name } }) => [id, name]),
    rules: [...new Set([...settings.rules.map(({ id }) => id), ...selfAlertTypes])].map(itself),
    labels: [...labels].sort().map(itself),
  };
}

function viewAccount(parts: ViewDependencies, account: WatchedAccount): AccountView {
  const { state } = parts;
  const now = parts.now();
  const { settings, poll, rules, log } = account;
  const alerts = [...account.alerts.values()];
  const firing = alerts.filter((alert) => alert.state === 'firing');
  const blocked = blockedUntil(state, settings.id);
  return {
    id: settings.id,
    name: settings.name,
    labels: settings.labels,
    topUpUrl: settings.topUpUrl,
    runbookUrl: settings.runbookUrl,
    note: settings.note,
    balances: settings.balances,
    currency: poll.reading?.currency ?? settings.currency,
    outcome: poll.outcome,
    failure: poll.failure,
    polledAt: poll.polledAt,
    readAt: poll.reading?.at ?? null,
    nextPollAt: parts.nextPollAt(settings.id),
    pollIntervalMs: account.pollIntervalMs,
    reading: poll.reading,
    runways: ofEach(settings.balances, (balance) => runwayOf(account, balance, now)),
    consecutiveFailures: poll.consecutiveFailures,
    backoffUntil: blocked > now ? blocked : null,
    usage: poll.usage,
    // Lists of thousands show a few: the others' days are never looked at.
    get day() {
      return thin(log.readings(now - dayMs), dayPoints);
    },
    get payments() {
      return paymentsOf(account, now);
    },
    thresholds: ofEach(settings.balances, (balance) => balanceLevels(rules, balance)),
    worst: worstOf(firing),
    firing: firing.length,
    pending: alerts.filter((alert) => alert.state === 'pending').length,
  };
}

function worstOf(alerts: readonly Alert[]): Severity | null {
  return alerts.reduce<Severity | null>(
    (worst, { severity }) => (worst === null || isWorse(severity, worst) ? severity : worst),
    null,
  );
}

function openAlerts(state: MonitorState): readonly Alert[] {
  return [...state.alerts.values()].filter((alert) => alert.state !== 'inactive');
}

function* viewFiring({ state, now }: ViewDependencies): Generator<FiringView> {
  const at = now();
  for (const { state: phase, account, rule, severity, incident: id } of state.alerts.values()) {
    if (phase !== 'firing') continue;
    const incident = id === null ? undefined : state.incidents.get(id);
    yield {
      account,
      rule,
      severity,
      since: incident?.firedAt ?? at,
      acknowledged: incident !== undefined && isAcknowledged(incident),
      ...(incident === undefined
        ? { silenced: false, inhibited: false }
        : suppressionOf(state, incident, at)),
    };
  }
}

function viewAlert(parts: ViewDependencies, alert: Alert): AlertView {
  const { state } = parts;
  const now = parts.now();
  const account = state.accounts.get(alert.account) ?? null;
  const open = incidentOf(state, alert);
  const incident = open ?? sketchIncident('', account, alert, alert.breachedSince ?? now);
  return {
    ...viewIncident(parts, incident, 'firing'),
    state: alert.state === 'pending' ? 'pending' : 'firing',
    severity: alert.severity,
    value: alert.value,
    threshold: alert.threshold,
    forecast: ofEach(balancesOf(state, alert.account), (balance) => predicted(account, balance, now)),
    acknowledged: isAcknowledged(incident) ? incident.acknowledgement : null,
    ...(open === undefined ? { silenced: false, inhibited: false } : suppressionOf(state, open, now)),
    flapping: alert.flappingSince !== null,
    incident: alert.incident,
  };
}

function predicted(account: WatchedAccount | null, balance: Balance, now: number): Forecast | null {
  return account && (runwayOf(account, balance, now)?.forecast ?? null);
}

function viewResolved(parts: ViewDependencies, past: readonly Incident[]): AlertView[] {
  return past
    .filter((incident) => incident.resolvedAt !== null || incident.event)
    .map((incident) => viewIncident(parts, incident, incident.event ? 'event' : 'resolved'));
}

function viewIncident(parts: ViewDependencies, incident: Incident, kind: NotificationReason): AlertView {
  const { account, rule, type, balance, severity, value, threshold } = incident;
  const now = parts.now();
  const item = describeIncident(parts.state, { incident, kinds: [kind], now });
  const { timezone } = parts.state.settings;
  const { subject } = wordItem(item, { timezone, at: now, publicUrl: null });
  return {
    account,
    accountName: item.accountName,
    labels: incident.labels,
    rule,
    type,
    balance,
    severity,
    state: 'resolved',
    since: incident.firedAt,
    resolvedAt: incident.resolvedAt,
    value,
    threshold,
    forecast: ofEach(balancesOf(parts.state, account), () => null),
    summary: kind === 'firing' ? `${subject} (${severity})` : subject,
    acknowledged: incident.acknowledgement,
    silenced: false,
    inhibited: false,
    flapping: false,
    notified: Object.entries(incident.notified).map(([channel, { at }]) => ({ channel, at })),
    incident: incident.id,
  };
}

function explain(parts: ViewDependencies, account: WatchedAccount, rule: Explanation['rule']): Explanation {
  const facts = factsOf(account, parts.now());
  const alert = account.alerts.get(rule.id);
  const firing = alert?.state === 'firing' ? alert.severity : null;
  return {
    rule,
    evaluation: explainRule(rule, facts, firing),
    alert: alert === undefined || alert.state === 'inactive' ? null : viewAlert(parts, alert),
    wouldNotFire: wouldNotFire(rule, facts, evaluate(rule, facts, firing)),
    next: nextStep(rule, facts),
  };
}

function viewChannel(
  { state }: ViewDependencies,
  { name, type }: Pick<ChannelView, 'name' | 'type'>,
): ChannelView {
  const isWaiting = (message: Notification) => message.channel === name && message.state === 'pending';
  const delivery = state.deliveries.get(name);
  return {
    name,
    type,
    pending: [...state.messages.values()].filter(isWaiting).length,
    lastDeliveredAt: delivery?.deliveredAt ?? null,
    lastError: delivery?.lastError ?? null,
  };
}

function viewSilences({ state, now }: ViewDependencies): SilenceView[] {
  const at = now();
  const { calendar, settings } = state;
  const own = [...state.silences.values()].map(({ createdBy, ...silence }) => ({
    ...silence,
    by: createdBy,
    laterStarts: [],
  }));
  const recurring = settings.silences.flatMap((silence) => {
    const window = nextWindow(calendar, silence, at);
    if (window === null) return [];
    const later = [...laterStarts(calendar, silence, window.startsAt).take(shownLaterStarts)];
    const { match, comment } = silence;
    return [{ id: null, match, ...window, by: 'configuration', comment, laterStarts: later }];
  });
  return [...own, ...recurring]
    .filter(({ endsAt }) => endsAt > at)
    .map((silence) => ({ ...silence, active: silence.startsAt <= at }))
    .sort((left, right) => left.startsAt - right.startsAt);
}
