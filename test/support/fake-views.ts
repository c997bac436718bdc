import type { Counters } from '../../src/daemon/counting.ts';
import type { Incident } from '../../src/domain/alert.ts';
import type { AlertName, AuditEntry, Muted, Refusal } from '../../src/domain/operator.ts';
import type { Notification } from '../../src/domain/outbox.ts';
import type { Balance, PollRecord, Reading } from '../../src/domain/reading.ts';
import type { Matcher } from '../../src/domain/rule.ts';
import type { Answered, OperatorOrder } from '../../src/engine/orders.ts';
import type { WeekAgo } from '../../src/spending/interval.ts';
import { type AccountSummary, summarize } from '../../src/views/account-summary.ts';
import type { ChannelView, SilencedQuery } from '../../src/views/create-views.ts';
import type { DaemonStatus, LiveViews } from '../../src/views/live-views.ts';
import type { SilenceView } from '../../src/views/silences.ts';
import type { AccountView, AlertView, Explanation, FiringView } from '../../src/views/views.ts';
import { dayMs, hourMs, viewsNow } from './built-views.ts';

/** A daemon that shows what it was given and notes what it was told to do. */
export class FakeViews implements LiveViews {
  accountList: AccountView[] = [];
  alertList: AlertView[] = [];
  incidentList: Incident[] = [];
  messageList: Notification[] = [];
  channelList: ChannelView[] = [];
  silenceList: SilenceView[] = [];
  explanations = new Map<string, Explanation[]>();
  /** By account and balance. */
  weeksAgo = new Map<string, WeekAgo>();
  pollsByAccount = new Map<string, readonly PollRecord[]>();
  daemonStatus: DaemonStatus = {
    version: '0.1.0',
    startedAt: viewsNow - 3 * dayMs,
    ready: true,
    problems: [],
    configLoadedAt: viewsNow - hourMs,
    configReloadOk: true,
  };
  /** What the next order is refused with; null accepts it. */
  refusal: Refusal | null = null;
  /** What it was ordered to do, and did. */
  readonly given: OperatorOrder[] = [];
  readonly #listeners = new Set<() => void>();
  #silences = 0;

  isKnown = () => true;

  rulesHeardIn = ({ rule }: AlertName) => [rule];

  async refresh(): Promise<void> {}

  audit(): readonly AuditEntry[] {
    return [];
  }

  readonly counters: Counters = {
    polls: () => [],
    pollDurations: () => ({ buckets: [], sum: 0, count: 0 }),
    notifications: () => [],
    droppedLogLines: () => 0,
  };

  async accounts(ids?: readonly string[]): Promise<readonly AccountView[]> {
    return this.accountList.filter(({ id }) => ids?.includes(id) ?? true);
  }

  accountsInBrief = this.accounts;

  async summary(limit: number): Promise<AccountSummary> {
    return summarize([this.accountList], viewsNow, limit);
  }

  accountIds(): readonly string[] {
    return this.accountList.map(({ id }) => id);
  }

  choices() {
    const itself = (word: string) => [word, word] as const;
    const labels = this.accountList.flatMap((account) =>
      Object.entries(account.labels).map(([key, value]) => `${key}=${value}`),
    );
    return {
      accounts: this.accountList.map(({ id, name }) => [id, name] as const),
      rules: [...new Set(this.alertList.map(({ rule }) => rule))].map(itself),
      labels: [...new Set(labels)].map(itself),
    };
  }

  counts() {
    const { length } = this.accountList;
    return { accounts: length, unread: this.accountList.filter(({ outcome }) => outcome !== 'ok').length };
  }

  async account(id: string): Promise<AccountView | null> {
    return this.accountList.find((account) => account.id === id) ?? null;
  }

  damageEnd(): number {
    return Number.NEGATIVE_INFINITY;
  }

  seriesSince(): number {
    return 0;
  }

  async *readingsInParts(account: string, since: number, until: number) {
    yield await this.readings(account, since, until);
  }

  async readings(account: string, since: number, until: number): Promise<readonly Reading[]> {
    return (await this.polls(account, since, until)).flatMap(({ reading }) =>
      reading === null ? [] : [reading],
    );
  }

  async polls(account: string, since: number, until: number): Promise<readonly PollRecord[]> {
    return (this.pollsByAccount.get(account) ?? []).filter(({ at }) => at >= since && at < until);
  }

  async alerts({ all }: { readonly all: boolean }): Promise<readonly AlertView[]> {
    return all ? this.alertList : this.alertList.filter(({ state }) => state !== 'resolved');
  }

  async alert(account: string, rule: string): Promise<AlertView | null> {
    const found = this.alertList.find((alert) => alert.account === account && alert.rule === rule);
    return found === undefined || found.state === 'resolved' ? null : found;
  }

  firing(): readonly FiringView[] {
    return this.alertList
      .filter(({ state }) => state === 'firing')
      .map(({ acknowledged, ...alert }) => ({ ...alert, acknowledged: acknowledged !== null }));
  }

  async incidents(query: {
    readonly account?: string;
    readonly since?: number;
    readonly until?: number;
    readonly limit?: number;
  }): Promise<readonly Incident[]> {
    return this.incidentList
      .filter(({ firedAt }) => query.until === undefined || firedAt < query.until)
      .filter(({ account }) => query.account === undefined || account === query.account)
      .filter(
        ({ resolvedAt }) => query.since === undefined || resolvedAt === null || resolvedAt >= query.since,
      )
      .slice(0, query.limit ?? 100);
  }

  async explain(account: string): Promise<readonly Explanation[]> {
    return this.explanations.get(account) ?? [];
  }

  async notifications(limit: number, before = Number.MAX_SAFE_INTEGER): Promise<readonly Notification[]> {
    return this.messageList
      .filter(({ createdAt }) => createdAt < before)
      .toSorted((left, right) => right.createdAt - left.createdAt)
      .slice(0, limit);
  }

  channels(): readonly ChannelView[] {
    return this.channelList;
  }

  async silenced({ account, since, until }: SilencedQuery): Promise<readonly SilenceView[]> {
    return this.silenceList.filter(
      ({ match, startsAt, endsAt }) =>
        (match.account?.includes(account) ?? true) && startsAt < until && endsAt > since,
    );
  }

  weekAgo(account: string, balance: Balance): WeekAgo | null {
    return this.weeksAgo.get(`${account} ${balance}`) ?? null;
  }

  silences(account?: string): readonly SilenceView[] {
    return this.silenceList.filter(
      ({ match }) => account === undefined || (match.account?.includes(account) ?? true),
    );
  }

  wouldMute({ match }: { readonly match: Matcher }): Muted | Refusal {
    if (this.refusal !== null) return this.refusal;
    const named = <T extends { readonly account: string }>(items: readonly T[]) =>
      items.filter(({ account }) => match.account?.includes(account) ?? true);
    return {
      alerts: named(this.firing()),
      accounts: named(this.accountList.map(({ id }) => ({ account: id }))).map(({ account }) => account),
    };
  }

  record() {
    return null;
  }

  calendarKey() {
    return null;
  }

  listening() {
    return [];
  }

  recordSession(): void {}

  sessions() {
    return [];
  }

  coming() {
    return [];
  }

  expected() {
    return [];
  }

  announced() {
    return [];
  }

  outlook() {
    return null;
  }

  finance() {
    return { money: null };
  }

  async pushReading(): Promise<Refusal> {
    return this.#refuse();
  }

  isSessionEnded(): boolean {
    return false;
  }

  linkKeys(): readonly Buffer[] {
    return [];
  }

  #refuse(): Refusal {
    return { refused: 'not-now', why: 'the fake daemon does not do this' };
  }

  status(): DaemonStatus {
    return this.daemonStatus;
  }

  stores(): boolean {
    return true;
  }

  async orders<Order extends OperatorOrder>(orders: readonly Order[]): Promise<readonly Answered<Order>[]> {
    return orders.map((order) => this.#obey(order)) as Answered<Order>[];
  }

  #obey(order: OperatorOrder): object {
    if (this.refusal !== null) return this.refusal;
    const done = this.#change(order);
    if (!('refused' in done)) this.given.push(order);
    this.change();
    return done;
  }

  #change(order: OperatorOrder): object {
    switch (order.kind) {
      case 'acknowledge':
      case 'unacknowledge':
        return this.#take(order);
      case 'silence': {
        this.#silences += 1;
        const { match, startsAt, endsAt, by, comment } = order;
        const id = `silence-${this.#silences}`;
        const silence = { id, match, startsAt, endsAt, by, comment, active: true, laterStarts: [] };
        this.silenceList = [...this.silenceList, silence];
        return { id, match, startsAt, endsAt, createdAt: viewsNow, createdBy: by, comment };
      }
      case 'extend-silence':
        this.silenceList = this.silenceList.map((silence) =>
          silence.id === order.id ? { ...silence, endsAt: silence.endsAt + order.byMs } : silence,
        );
        return {};
      case 'expire':
        if (!this.silenceList.some(({ id }) => id === order.id))
          return { refused: 'not-found', why: 'There is no silence of that id.' };
        this.silenceList = this.silenceList.filter(({ id }) => id !== order.id);
        return {};
      case 'end-session':
        return {};
      default:
        return this.#refuse();
    }
  }

  #take(order: OperatorOrder<'acknowledge' | 'unacknowledge'>): object {
    const { account, rule, by } = order;
    const alert = this.alertList.find((known) => known.account === account && known.rule === rule);
    if (alert === undefined) return { refused: 'not-found', why: 'No such alert is firing.' };
    const acknowledged = order.kind === 'acknowledge' ? { at: viewsNow, by, comment: order.comment } : null;
    this.alertList = this.alertList.map((known) => (known === alert ? { ...alert, acknowledged } : known));
    return {};
  }

  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  change(): void {
    for (const listener of this.#listeners) listener();
  }
}
