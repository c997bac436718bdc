import { collect } from '../daemon/history-loader.ts';
import { nextTurn } from '../daemon/slices.ts';
import type { Micros } from '../domain/money.ts';
import { type AlertName, type AnnouncedRun, type ExpectedTopUp, isReported } from '../domain/operator.ts';
import { StorageError } from '../domain/operator-error.ts';
import type { Balance } from '../domain/reading.ts';
import type { Silence } from '../domain/route.ts';
import { type Matcher, mayMatchAlertsOf } from '../domain/rule.ts';
import { calendarKeyOf, isSessionEnded, linkKeysOf, sessionsOf } from '../engine/access.ts';
import { auditOf } from '../engine/audit.ts';
import { lastDelivery } from '../engine/delivery-ended.ts';
import { rulesHeardIn } from '../engine/inhibit.ts';
import { refuseSilence } from '../engine/orders/silence.ts';
import type { Wanted } from '../engine/orders.ts';
import { moneyOf } from '../engine/rates.ts';
import { damageEnd } from '../engine/self-alerts.ts';
import { mutedBy, type SilenceWindow, windowsBetween } from '../engine/silencing.ts';
import { factsOf, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import type { HistoryQuery, StoreReader } from '../ports/store.ts';
import { monthlyBudget } from '../rules/budget.ts';
import { selfAlertTypes } from '../rules/registry.ts';
import { isReadAt } from '../rules/stale.ts';
import { outlookOf } from '../spending/outlook.ts';
import { summarize } from './account-summary.ts';
import { everyAccount } from './every-account.ts';
import { type SilenceView, viewSilences } from './silences.ts';
import {
  type AccountView,
  type AlertView,
  type Explanation,
  explain,
  type FiringView,
  runwaysByAccount,
  type ViewDependencies,
  viewAccount,
  viewAlert,
  viewBriefly,
  viewFiring,
  viewIncident,
} from './views.ts';

/** The things that people may see: the HTTP server asks the running daemon, the command line the database. */
export type Views = ReturnType<typeof createViews>;

/** The error that is given instead of an empty answer, which would mean "nothing". */
export function notRead(): StorageError {
  return new StorageError('other', 'what the shared database holds now has not been read');
}

/** The answers to what people ask, from the memory that is `current` when they ask and, for history, from the database. */
export function createViews(current: () => ViewDependencies) {
  /** The memory, once the history of these accounts is in it. */
  const loaded = async (ids: Iterable<string>): Promise<ViewDependencies> => {
    const parts = current();
    await parts.historyLoader.ofAll(ids);
    return parts;
  };
  /** Views of all accounts, or of those with the given ids that exist, in their order. */
  const look =
    <View>(view: (parts: ViewDependencies, account: WatchedAccount) => View) =>
    async (wanted?: readonly string[]): Promise<readonly View[]> => {
      const ids = wanted ?? accountIds();
      const parts = await loaded(ids);
      return ids.flatMap((id) => parts.state.accounts.get(id) ?? []).map((account) => view(parts, account));
    };
  const accounts = look(viewAccount);
  const accountIds = (): readonly string[] => [...current().state.accounts.keys()];
  return {
    /** False when nothing has been read: an empty list would be no answer (`known`). */
    isKnown: () => true,
    accounts,
    accountsInBrief: look(viewBriefly),
    summary: (limit: number) => summarize(everyAccount({ accountIds, accounts }), current().now(), limit),
    accountIds,
    /** The number of accounts, and of those that are not read. */
    counts() {
      const { state, now } = current();
      const at = now();
      const accounts = [...state.accounts.values()];
      return {
        accounts: accounts.length,
        unread: accounts.filter((each) => !isReadAt(factsOf(each, at), at)).length,
      };
    },
    choices: () => listChoices(current().state),
    async account(id: string): Promise<AccountView | null> {
      const parts = await loaded([id]);
      const account = parts.state.accounts.get(id);
      return account === undefined ? null : viewAccount(parts, account);
    },
    /** Oldest first, as stored: thinning is left to the caller. */
    readings: (account: string, since: number, until: number) =>
      collect(current().reader.readings({ account, since, until })),
    /** The same, with the last reading before it, thousands at a time, each part in a turn of its own. */
    async *readingsInParts(account: string, since: number, until: number) {
      const before = await current().reader.readingBefore(account, since);
      if (before !== null) yield [before];
      for await (const part of current().reader.readings({ account, since, until, timesOnce: true })) {
        yield part;
        await nextTurn();
      }
    },
    damageEnd: (account: string, since: number, until: number) =>
      damageEnd(current().state, account, { since, until }),
    /** Since when it is the present account of its provider: earlier readings belong to another one. */
    seriesSince: (account: string) => current().state.polled.get(account)?.seriesSince ?? 0,
    polls: (account: string, since: number, until: number, { timesOnce = false } = {}) =>
      collect(current().reader.polls({ account, since, until, timesOnce })),
    /** Pending and firing alerts; with `all` also resolved ones of the retention, newest first. */
    async alerts({ all }: { readonly all: boolean }): Promise<readonly AlertView[]> {
      const past = all ? await current().reader.incidents({}) : [];
      const open = () => [...current().state.alerts.values()].filter(({ state }) => state !== 'inactive');
      const parts = await loaded([...open(), ...past].map(({ account }) => account));
      const over = past.filter(({ resolvedAt, event }) => resolvedAt !== null || event);
      const runwaysOf = runwaysByAccount(parts);
      return [
        ...open().map((alert) => viewAlert(parts, alert, runwaysOf)),
        ...over.map((incident) => viewIncident(parts, incident, incident.event ? 'event' : 'resolved')),
      ];
    },
    /** The alert of an account and a rule while it is pending or firing. */
    async alert(account: string, rule: string): Promise<AlertView | null> {
      const parts = await loaded([account]);
      const alert = parts.state.alerts.get(account, rule);
      return alert === undefined || alert.state === 'inactive' ? null : viewAlert(parts, alert);
    },
    rulesHeardIn: (alert: AlertName) => rulesHeardIn(current().state, alert),
    /** Alerts that fire now, without words: for counting thousands. */
    firing: (): Iterable<FiringView> => viewFiring(current()),
    incidents: (query: Parameters<StoreReader['incidents']>[0]) => current().reader.incidents(query),
    /** The rules that apply to the account, each with what it says now. */
    async explain(id: string): Promise<readonly Explanation[]> {
      const parts = await loaded([id]);
      const account = parts.state.accounts.get(id);
      const runwaysOf = runwaysByAccount(parts);
      return account?.rules.map((rule) => explain(parts, account, rule, runwaysOf)) ?? [];
    },
    /** Notifications that were made before an instant, newest first. */
    notifications: (limit: number, before?: number) => current().reader.messages(limit, before),
    /** The entries of the audit in [since, before), newest first. */
    audit: (query: Parameters<typeof auditOf>[1]) => auditOf(current().state, query),
    channels: (): readonly ChannelView[] => viewChannels(current().state),
    /** When alerts of one balance of the account, or of the account as a whole, were muted at some time in [since, until). */
    async silenced(query: SilencedQuery): Promise<readonly SilenceWindow[]> {
      const { state, reader } = current();
      return findSilenced(state, query, await reader.silences(query.since));
    },
    /** The prediction of a balance a week ago, with what came; null when that is unknown. */
    weekAgo: (id: string, balance: Balance) =>
      current().state.accounts.get(id)?.spending.weekAgo(balance) ?? null,
    /** The spending of a balance in the present month and quarter and in the next month; null before its first reading. */
    outlook(id: string, balance: Balance) {
      const { state, now } = current();
      const account = state.accounts.get(id);
      const outlook = account && outlookOf(account.spending, balance, now());
      if (!account || !outlook) return null;
      const budget = monthlyBudget(account, balance, outlook.month.spent);
      return { ...outlook, provider: account.settings.provider, budget };
    },
    /** The record of a balance's forecasts; null while none came due. */
    record: (id: string, balance: Balance) =>
      current().state.accounts.get(id)?.spending.record(balance) ?? null,
    /** Top-ups that are expected of a balance, and runs that are expected (below zero). */
    coming(id: string, balance: Balance): readonly { readonly at: number; readonly micros: Micros }[] {
      const { accounts, expected } = current().state;
      const runs = accounts.get(id)?.spending.comingRuns(balance) ?? [];
      const topUps = (expected.get(id) ?? []).filter((topUp) => topUp.balance === balance);
      return [
        ...runs.map(({ at, micros }) => ({ at, micros: -micros })),
        ...topUps.map(({ by, amountMicros }) => ({ at: by, micros: amountMicros })),
      ];
    },
    /** Top-ups that are expected, of every account; the oldest order first. */
    expected: (): readonly ExpectedTopUp[] =>
      [...current().state.expected.values()].flat().sort((left, right) => left.orderedAt - right.orderedAt),
    /** Runs that people announced, until a day after their end; the oldest order first. */
    announced(): readonly AnnouncedRun[] {
      const { state, now } = current();
      const at = now();
      return [...state.announced.values()]
        .flatMap((runs) => runs.filter((run) => isReported(run, at)))
        .sort((left, right) => left.announcedAt - right.announcedAt);
    },
    /** The rates by which sums of several currencies are made one. */
    finance: () => ({ money: moneyOf(current().state) }),
    /** Silences that are not over; for an account, those that may mute alerts of it. */
    silences: (account?: string): readonly SilenceView[] => viewSilences(current(), account),
    sessions: () => sessionsOf(current().state),
    isSessionEnded: (id: string) => isSessionEnded(current().state, id),
    /** The key that the calendar's address must name; null before one was made. */
    calendarKey: () => calendarKeyOf(current().state),
    /** Keys that links in messages may be signed with, the newest first. */
    linkKeys: () => linkKeysOf(current().state),
    /** The reach of a silence, before it is ordered; or why it would be refused. */
    wouldMute(order: Omit<Wanted<'silence'>, 'kind'>) {
      const { state, now } = current();
      return refuseSilence(state, order, now()) ?? mutedBy(state, order.match);
    },
  };
}

export type Choices = readonly (readonly [value: string, word: string])[];

/** Keys by which alerts and silences can be chosen, each with the word for people. */
function listChoices({ accounts, settings }: MonitorState) {
  const known = [...accounts.values()].map((account) => account.settings);
  const labels = known.flatMap((account) =>
    Object.entries(account.labels).map(([key, value]) => `${key}=${value}`),
  );
  const itself = (words: readonly string[]): Choices => [...new Set(words)].map((word) => [word, word]);
  const named: Choices = known.map(({ id, name }) => [id, name]);
  return {
    accounts: named,
    rules: itself([...settings.rules.map(({ id }) => id), ...selfAlertTypes]),
    labels: itself(labels.sort()),
  };
}

function viewChannels(state: MonitorState) {
  const waiting = [...state.messages.values()].filter((message) => message.state === 'pending');
  return state.settings.channels.map(({ name, type }) => ({
    name,
    type,
    pending: waiting.filter(({ channel }) => channel === name).length,
    ...lastDelivery(state, name),
  }));
}

export type ChannelView = ReturnType<typeof viewChannels>[number];

export type SilencedQuery = Omit<HistoryQuery, 'asStored' | 'timesOnce'> & { readonly balance: Balance };

/** When a silence muted alerts of one balance of an account, or of the account as a whole. `stored` are those that the database keeps. */
function findSilenced(
  state: MonitorState,
  query: SilencedQuery,
  stored: readonly Silence[],
): readonly SilenceWindow[] {
  const account = state.accounts.get(query.account);
  if (account === undefined) return [];
  // Memory is newer than the store.
  const silences = new Map([...stored, ...state.silences.values()].map((silence) => [silence.id, silence]));
  const own = [...silences.values()].filter(
    ({ match, startsAt, endsAt }) =>
      startsAt < query.until && endsAt > query.since && mutes(match, account, query),
  );
  const recurring = state.settings.silences
    .filter(({ match }) => mutes(match, account, query))
    .flatMap((silence) => windowsBetween(state.calendar, silence, query));
  return [...own, ...recurring];
}

/** Whether it may mute an alert about the balance, of any severity. */
function mutes(match: Matcher, { settings, rules }: WatchedAccount, { balance }: SilencedQuery): boolean {
  return (
    mayMatchAlertsOf(match, settings) &&
    rules.some(
      (rule) =>
        (rule.balance === null || rule.balance === balance) && (match.rule?.includes(rule.id) ?? true),
    )
  );
}
