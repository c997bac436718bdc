import type { Alert, Incident, LastNotified } from '../domain/alert.ts';
import type { IncidentMessage, Message, MessageItem } from '../domain/message.ts';
import { StorageError } from '../domain/operator-error.ts';
import { kindsByIncident, type Notification, type NotificationReason, wireId } from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import type { Reading } from '../domain/reading.ts';
import type { Rule } from '../domain/rule.ts';
import type { Settings } from '../domain/settings.ts';
import { severityRank } from '../domain/severity.ts';
import { weekMs } from '../domain/time.ts';
import { linkKeysOf } from '../engine/access.ts';
import { leftReceivers, openAt } from '../engine/channel-changes.ts';
import { asNotified, routesFor } from '../engine/decide.ts';
import { balancesOf, factsOf, type MonitorState } from '../engine/state.ts';
import type { StoreReader } from '../ports/store.ts';
import { type AccountFacts, whyUnusable } from '../rules/evaluation.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { thin } from '../spending/thin.ts';
import { balanceLabel } from '../wording/quantity-wording.ts';
import { describeAccount, mostUrgentFirst } from './describe-account.ts';
import { collect, type HistoryLoader } from './history-loader.ts';

const chartMs = weekMs;
const chartPoints = 200;
const drawnItems = 10;

/** A link by which an incident is acknowledged without signing in. */
export interface AcknowledgeLink {
  readonly incident: Incident;
  readonly now: number;
  /** Signs the links. */
  readonly key: Buffer;
}

export interface ComposeDependencies {
  readonly state: MonitorState;
  readonly reader: StoreReader;
  readonly historyLoader: HistoryLoader;
  readonly now: () => number;
  /** Signed link to the confirmation page; null where the page has no address. */
  readonly acknowledgeUrl: (link: AcknowledgeLink) => string | null;
}

export function frameOf(
  state: MonitorState,
  message: Pick<Notification, 'id' | 'revision' | 'channel' | 'owed' | 'except'>,
  now: number,
) {
  const { settings } = state;
  const channel = settings.channels.find(({ name }) => name === message.channel);
  return {
    id: wireId(message),
    at: now,
    publicUrl: settings.server?.publicUrl ?? null,
    timezone: settings.timezone,
    language: channel?.language ?? settings.language,
    ...(message.owed === undefined ? {} : { recipients: message.owed }),
    ...(message.except === undefined ? {} : { except: message.except }),
  };
}

/** The last message for each channel that needs one. */
export type Farewells = ReadonlyMap<string, IncidentMessage>;

/** For channels that the next settings no longer have: nothing else tells their receivers, and a tool would show incidents as open for ever. */
export function composeFarewells(dependencies: ComposeDependencies, next: Settings): Farewells {
  const { state, now } = dependencies;
  const at = now();
  const farewells = new Map<string, IncidentMessage>();
  for (const channel of leftReceivers(state, next)) {
    const open = openAt(state, channel);
    if (open.length === 0) continue;
    const composing = { ...dependencies, channel, at };
    const message = { id: state.random.id(), revision: 0, channel };
    const incidents = mostUrgentFirst(state, open, at);
    const items = incidents.map((incident) => {
      const removed = { ...incident, resolvedAt: at, resolution: { kind: 'channel-removed' } as const };
      return composeItem(composing, incident.resolvedAt === null ? removed : incident, ['resolved']);
    });
    const thread = threadOf(state, message, incidents);
    const frame = frameOf(state, message, at);
    farewells.set(channel, { ...frame, kind: 'incidents', items, thread, companions: [] });
  }
  return farewells;
}

type Charts = ReadonlyMap<string, readonly Reading[]>;

const noCharts: Charts = new Map();

/** The input that the items of one message share. */
interface Composing extends ComposeDependencies {
  readonly channel: string;
  readonly at: number;
}

/** Null when none of the message's incidents exists any more. `isDrawn`: whether items get their latest readings for a chart. */
export async function composeIncidents(
  dependencies: ComposeDependencies,
  message: Notification,
  isDrawn: boolean,
): Promise<Message | null> {
  const { state } = dependencies;
  await dependencies.historyLoader.ofAll(
    incidentsOf(state, message, dependencies.now()).map(({ account }) => account),
  );
  const charts = isDrawn
    ? await readCharts(dependencies, incidentsOf(state, message, dependencies.now()))
    : noCharts;
  const incidents = incidentsOf(state, message, dependencies.now());
  if (incidents.length === 0) return null;
  const kinds = kindsByIncident(message.items);
  const composing = { ...dependencies, channel: message.channel, at: dependencies.now() };
  const items = incidents.map((incident, place) => {
    const item = composeItem(composing, incident, kindsNow(message, kinds.get(incident.id) ?? [], incident));
    const history = charts.get(incident.account);
    return history === undefined || place >= drawnItems || item.account === null
      ? item
      : { ...item, account: { ...item.account, history } };
  });
  return {
    ...frameOf(state, message, composing.at),
    kind: 'incidents',
    items,
    thread: threadOf(state, message, incidents),
    companions: composeCompanions(composing, items),
  };
}

/** All firing incidents that the channel was notified of, as they are now, but at no higher severity than it was notified of. */
export async function composeOpen(
  dependencies: ComposeDependencies,
  channel: string,
): Promise<IncidentMessage> {
  const { state, historyLoader } = dependencies;
  const firing = () => openAt(state, channel).filter(({ resolvedAt }) => resolvedAt === null);
  await historyLoader.ofAll(firing().map(({ account }) => account));
  const at = dependencies.now();
  const composing = { ...dependencies, channel, at };
  const items = mostUrgentFirst(state, firing(), at).map((incident) =>
    composeItem(composing, asNotified(incident, ownOf(incident.notified, channel)), ['reminder']),
  );
  const frame = frameOf(state, { id: `open-${at}`, revision: 0, channel }, at);
  return { ...frame, kind: 'incidents', items, thread: null, companions: [] };
}

function incidentsOf(state: MonitorState, message: Notification, now: number): readonly Incident[] {
  const incidents = [...kindsByIncident(message.items).keys()].flatMap((id) => state.incidents.get(id) ?? []);
  // Leaves out what was refused for good, or waits at a former address: the channel must not get an end alone, nor an incident that nobody ends.
  const heard = incidents.filter(({ notified }) => ownOf(notified, message.channel) !== undefined);
  return mostUrgentFirst(state, heard, now);
}

/** For a receiver that gets a message late, adds the end: other receivers may have had their message before it. */
function kindsNow(
  { owed }: Notification,
  kinds: readonly NotificationReason[],
  { resolvedAt }: Incident,
): readonly NotificationReason[] {
  const isLate = owed !== undefined && resolvedAt !== null && !kinds.includes('resolved');
  return isLate ? [...kinds, 'resolved'] : kinds;
}

/** Latest readings of the accounts that get a chart; those in memory if the database cannot be read. */
async function readCharts(
  { state, reader, now }: ComposeDependencies,
  incidents: readonly Incident[],
): Promise<Charts> {
  const ids = new Set(incidents.slice(0, drawnItems).map(({ account }) => account));
  const accounts = [...ids].flatMap((id) => state.accounts.get(id) ?? []);
  const charts = new Map(
    accounts.map(({ id, log }) => [id, thin(log.readings(now() - chartMs), chartPoints)] as const),
  );
  try {
    for (const { id, poll } of accounts) {
      const since = Math.max(now() - chartMs, poll.seriesSince);
      const query = { account: id, since, until: now() + 1, timesOnce: true };
      charts.set(id, thin(await collect(reader.readings(query)), chartPoints));
    }
  } catch (error) {
    // The message matters more than its chart.
    if (!(error instanceof StorageError)) throw error;
  }
  return charts;
}

function composeItem(
  composing: Composing,
  incident: Incident,
  kinds: readonly NotificationReason[],
): MessageItem {
  const { state, channel, at, acknowledgeUrl } = composing;
  const isOpen = incident.resolvedAt === null && !incident.event;
  const key = linkKeysOf(state)[0];
  const notified = ownOf(incident.notified, channel);
  return {
    ...describeIncident(state, { incident, kinds, now: at }),
    acknowledgeUrl: isOpen && key !== undefined ? acknowledgeUrl({ incident, now: at, key }) : null,
    mention: mentionsPeople(composing, incident, kinds),
    receipt: notified?.receipt ?? null,
    ...(notified?.keys === undefined ? {} : { keys: notified.keys }),
  };
}

/** All incidents of the sent messages to which these items belong, including these: each message is edited as a whole. */
function composeCompanions(composing: Composing, items: readonly MessageItem[]): readonly MessageItem[] {
  const receipts = new Set(items.flatMap(({ receipt }) => receipt ?? []));
  if (receipts.size === 0) return [];
  const own = new Map(items.map((item) => [item.incident.id, item]));
  const all = [...composing.state.incidents.values()].filter(({ notified }) =>
    receipts.has(ownOf(notified, composing.channel)?.receipt ?? ''),
  );
  return mostUrgentFirst(composing.state, all, composing.at).map(
    (incident) => own.get(incident.id) ?? composeItem(composing, incident, ['firing']),
  );
}

/** The first route that leads to the channel decides; the default applies if there is no route. */
function mentionsPeople(
  { state: { settings }, channel }: Composing,
  incident: Incident,
  kinds: readonly NotificationReason[],
): boolean {
  const channels = settings.channels.map(({ name }) => name);
  const route = routesFor(incident, settings.routes, channels).find(
    (candidate) => candidate.channels.includes(channel) || candidate.escalate?.channels.includes(channel),
  );
  const mention = route?.mention ?? true;
  return mention === 'reminders' || (mention && kinds.some((kind) => kind !== 'reminder'));
}

export function describeIncident(
  state: MonitorState,
  { incident, kinds, now }: Pick<MessageItem, 'incident' | 'kinds'> & { readonly now: number },
): MessageItem {
  const { type, severity, balance, firedAt, resolvedAt, resolution } = incident;
  const account = state.accounts.get(incident.account);
  const alert = account?.alerts.get(incident.rule);
  const live = resolvedAt === null && (alert?.incident ?? '') === incident.id ? alert : undefined;
  const rule = account?.rules.find((candidate) => candidate.id === incident.rule);
  const seen = account && live && rule && lookAt(rule, live, factsOf(account, now));
  return {
    ...{ incident, kinds, type, severity, rule: incident.rule, balance, firedAt, resolvedAt, resolution },
    account: account === undefined ? null : describeAccount(state, account, incident, now),
    accountName: account?.settings.name ?? incident.accountName,
    balanceLabel: balance === null ? '' : balanceLabel(balance, balancesOf(state, incident.account)),
    value: (seen ?? live)?.value ?? incident.value,
    threshold: (seen ?? live)?.threshold ?? incident.threshold,
    facts: seen?.facts ?? incident.facts,
    acknowledgeUrl: null,
    mention: false,
    receipt: null,
  };
}

/** Evaluates the rule now: an alert in memory has the numbers of its last poll, and a stored one those of its last change. */
function lookAt(rule: Rule, { state, severity, value, threshold }: Alert, facts: AccountFacts) {
  const kind = ruleKindOf(rule);
  const seen = kind.evaluate(rule, facts, state === 'firing' ? severity : null);
  // In a currency other than the account's, most kinds cannot evaluate: their last verdict and its numbers stay.
  const isJudged = seen.kind !== 'unknown' || whyUnusable(facts) === null;
  return {
    value: seen.kind === 'unknown' ? value : seen.value,
    threshold: seen.kind === 'breached' ? seen.threshold : threshold,
    facts: isJudged ? kind.factsBehind(rule, facts) : null,
  };
}

type Named = Pick<Notification, 'id' | 'channel'>;

/** The thread of the message, if all of its incidents began in the same thread. */
function threadOf(
  state: MonitorState,
  message: Named,
  incidents: readonly Incident[],
): IncidentMessage['thread'] {
  const [first = null, ...others] = incidents.map((incident) => earlierNotified(incident, message));
  if (first === null || first.subject === null) return null;
  const { firstMessage, subject } = first;
  if (others.some((notified) => notified?.firstMessage !== firstMessage)) return null;
  const [worst = null] = [...state.incidents.values()]
    .filter(({ notified }) => ownOf(notified, message.channel)?.firstMessage === firstMessage)
    .filter((other) => other.resolvedAt === null && !other.event && !incidents.includes(other))
    .sort((left, right) => severityRank(right.severity) - severityRank(left.severity));
  return { firstMessage, subject, references: [firstMessage], othersFiring: worst?.severity ?? null };
}

function earlierNotified(incident: Incident, message: Named): LastNotified | null {
  const notified = ownOf(incident.notified, message.channel);
  return notified === undefined || notified.subject === null || notified.firstMessage === message.id
    ? null
    : notified;
}
