import { inSlices } from '../daemon/slices.ts';
import type { Incident } from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { currencyCode, isSameCurrency, type Micros } from '../domain/money.ts';
import { type Money, sumUp } from '../domain/one-sum.ts';
import { ownOf } from '../domain/own.ts';
import { type Balance, type BalanceDefinition, type Reading, unitOf } from '../domain/reading.ts';
import { dayMs, isoDay, parseLocalText } from '../domain/time.ts';
import { changesOf, readingsOfChanges } from '../spending/changes.ts';
import { weekOf } from '../spending/local-week.ts';
import type { Views } from './create-views.ts';
import { everyAccount } from './every-account.ts';
import { FallUnits, type NowAndBefore, type Reasons, reasonsOf } from './fall-units.ts';
import type { AccountView } from './views.ts';

/** Reading more takes a second or more: the spending of a long time, or of thousands of accounts, is added up only if filters name fewer. */
const maxReadings = 1_000_000;
const maxIncidents = 5_000;
const sliceOfAccounts = 20;
const maxBuckets = 62;
/** The time before is compared with only if at most this share of it passed before the first reading. */
const maxUnwatched = 0.1;

interface ReviewOrder {
  readonly since: number;
  readonly until: number;
  /** The time zone whose days are counted, of accounts that name none of their own. */
  readonly timezone: string;
  /** The label that spending is added up by; null is the one that most accounts have. */
  readonly groupBy: string | null;
  readonly wantsAccount: (account: AccountView) => boolean;
  readonly wantsIncident: (incident: Incident) => boolean;
}

/** The spending in the time, and in as long a time before it; null when not all of that was watched. */
export interface Spent {
  readonly currency: string;
  spent: Micros;
  before: Micros | null;
}

/** The balances of an account that have the same unit. */
interface AccountSpent extends Spent {
  readonly account: AccountView;
  /** How much more was spent on each weekday than in the time before, Sunday first. */
  readonly weekdays: Micros[];
  /** Null when it is not known what a message takes. */
  readonly reasons: Reasons | null;
}

export interface GroupSpent extends Spent {
  /** The value of the label; empty for accounts without it. */
  readonly group: string;
  readonly buckets: Micros[];
}

export type Review = Awaited<ReturnType<typeof reviewTime>>;

type ReviewViews = Pick<
  Views,
  'accountIds' | 'accounts' | 'incidents' | 'readingsInParts' | 'record' | 'damageEnd' | 'seriesSince'
>;

/** A review of a time: incidents, how long they took people, and spending, compared with as long a time before it. */
export async function reviewTime(views: ReviewViews, order: ReviewOrder) {
  const { since, until } = order;
  const found = await views.incidents({ since, until, limit: maxIncidents });
  const incidents = found.filter((incident) => !incident.event && order.wantsIncident(incident));
  const accounts: AccountView[] = [];
  for await (const slice of everyAccount(views)) accounts.push(...slice.filter(order.wantsAccount));
  const groupBy = order.groupBy ?? commonLabel(accounts);
  const days = daysBetween(since, until, order.timezone);
  const beforeSince = 2 * since - until;
  const { damageEnd, seriesSince } = views;
  const sums = new SpendingSums({ beforeSince, since, until, days, groupBy, damageEnd, seriesSince });
  const span = readingsOfChanges({ since: beforeSince, until });
  for await (const slice of inSlices(accounts, sliceOfAccounts))
    for (const account of slice)
      if (!sums.isFull) await sums.add(account, views.readingsInParts(account.id, span.since, span.until));
  const damaged = accounts.filter(({ id }) => damageEnd(id, since, until) >= since);
  return {
    since,
    until,
    /** The incidents open at some time in it, newest first, without events. */
    incidents,
    /** Whether older ones were left out. */
    isCut: found.length === maxIncidents,
    open: incidents.filter(({ resolvedAt }) => resolvedAt === null).length,
    acknowledged: incidents.filter(({ acknowledgement }) => acknowledgement !== null).length,
    /** Medians over the incidents that were acknowledged, and over those that were resolved. */
    acknowledgeMs: median(incidents.map((it) => (it.acknowledgement?.at ?? Number.NaN) - it.firedAt)),
    resolveMs: median(incidents.map((it) => (it.resolvedAt ?? Number.NaN) - it.firedAt)),
    /** Null when it was not added up, because there were too many readings. */
    spending: sums.isFull ? null : sums.close(damaged.length === 0),
    groupBy,
    /** The dates on which the buckets begin; each bucket reaches to the next date. */
    days,
    /** The record of the last two weeks: the median error of three-day forecasts, and how many there were. */
    forecasts: forecastsOf(views, accounts),
    /** Accounts that were never read in the time, or never at all: their spending is not known. */
    unknown: sums.unknown,
    /** Accounts that were first read long after its beginning, or last read long before its end: their spending is not known in full. */
    inPart: sums.inPart,
    /** Accounts with damaged stored readings of the time: their spending is not known in full. */
    damaged,
  };
}

/** The spending as one sum, and that before if all of it was watched. Null without a currency for sums, without readings, or with too many. */
export function sumReview({ spending }: Pick<Review, 'spending'>, money: Money | null) {
  const { accounts: all = [] } = spending ?? {};
  if (all.length === 0 || money === null) return null;
  const spent = all.map((each) => ({ ...each, micros: each.spent }));
  const before = all.flatMap((each) => (each.before === null ? [] : { ...each, micros: each.before }));
  return { spent: sumUp(spent, money), before: before.length < all.length ? null : sumUp(before, money) };
}

interface SumOrder
  extends Pick<ReviewOrder, 'since' | 'until' | 'groupBy'>,
    Pick<Views, 'damageEnd' | 'seriesSince'> {
  /** The beginning of the time before. */
  readonly beforeSince: number;
  readonly days: readonly string[];
}

class SpendingSums {
  readonly #order: SumOrder;
  readonly #accounts: AccountSpent[] = [];
  readonly #groups = new Map<string, GroupSpent>();
  readonly unknown: AccountView[] = [];
  readonly inPart: AccountView[] = [];
  #belowZeroMs = 0;
  #readings = 0;
  readonly #starts = new Map<string, readonly number[]>();

  constructor(order: SumOrder) {
    this.#order = order;
  }

  /** Whether there were too many readings: what was added up is not all. */
  get isFull(): boolean {
    return this.#readings > maxReadings;
  }

  async add(account: AccountView, chunks: AsyncIterable<readonly Reading[]>): Promise<void> {
    const { beforeSince, since } = this.#order;
    const parts = partsOf(account);
    // A fall found by its first reading is part of the time before; after a long gap it is not known how much of it came earlier.
    const watchedSince = beforeSince - 3 * account.pollIntervalMs;
    let firstAt: number | null = null;
    let last: Reading | undefined;
    let counted: readonly Reading[] = [];
    const isCounted = ({ currency }: Reading) => isSameCurrency(currency, account.currency ?? '');
    for await (const chunk of chunks) {
      this.#readings += chunk.length;
      if (this.isFull) return;
      firstAt ??= chunk.find((each) => each.at > watchedSince && isCounted(each))?.at ?? null;
      counted = [...counted.slice(-1), ...chunk.filter(isCounted)];
      for (const part of parts) this.#count(part, counted);
      last = chunk.at(-1) ?? last;
    }
    this.#goOn(account, last ?? account.reading);
    if (account.currency === null || firstAt === null || last === undefined || last.at < since)
      return void this.unknown.push(account);
    const isWhole = this.#isComparable(account, firstAt, last.at);
    for (const part of parts) this.#close(part, isWhole);
  }

  /** Whether the time before was watched, and this one to its end. An account that was read only in a part of this one goes into `inPart`. */
  #isComparable(account: AccountView, firstAt: number, lastAt: number): boolean {
    const { beforeSince, since, until, damageEnd } = this.#order;
    const mostMs = Math.max(maxUnwatched * (until - since), 2 * account.pollIntervalMs);
    const isLost = !account.isRead && lastAt === account.readAt && until - lastAt > mostMs;
    if (isLost || firstAt - since > mostMs) this.inPart.push(account);
    const unwatchedMs = Math.max(firstAt, damageEnd(account.id, beforeSince, since)) - beforeSince;
    return firstAt < since && unwatchedMs <= mostMs && !isLost;
  }

  #close({ units, ...part }: ReturnType<typeof partsOf>[number], isWhole: boolean): void {
    const all = [...units.values()];
    const spent = all.reduce((sum, { now }) => sum + now.spent, 0);
    const before = isWhole ? all.reduce((sum, shown) => sum + shown.before.spent, 0) : null;
    const total = this.#groupOf(part);
    total.spent += spent;
    total.before = total.before === null || before === null ? null : total.before + before;
    this.#accounts.push({ ...part, spent, before, reasons: isWhole ? reasonsOf(all) : null });
  }

  #count(part: ReturnType<typeof partsOf>[number], readings: readonly Reading[]): void {
    const { since } = this.#order;
    const { account, balances, units, weekdays } = part;
    const bucketOf = bucketsBy(this.#startsOf(account.timezone));
    const week = weekOf({ timezone: account.timezone, holidays: [] });
    const own = { currency: account.currency, movedAt: this.#order.seriesSince(account.id) };
    for (const balance of balances) {
      const shown = getOrMake(units, balance.id, () => ({ now: new FallUnits(), before: new FallUnits() }));
      for (const { from, to, at, before, change } of changesOf(readings, balance.id, own)) {
        const spent = Math.max(0, -change);
        addTo(weekdays, (week.weekdayOf(week.dayAt(at)) + 1) % 7, at < since ? -spent : spent);
        (at < since ? shown.before : shown.now).add(at, spent);
        if (at < since) continue;
        addTo(this.#groupOf(part).buckets, bucketOf(at), spent);
        this.#addBelowZero(balance, before, from, to);
      }
    }
  }

  /** A balance below zero at the last reading is so until another reading says otherwise; nothing is known of a balance that was not read then. */
  #goOn({ balances }: AccountView, last: Reading | null): void {
    const { until } = this.#order;
    if (last === null || last.at >= until) return;
    for (const each of balances) this.#addBelowZero(each, ownOf(last.balances, each.id) ?? 0, last.at, until);
  }

  #addBelowZero({ alertsBelowZero }: BalanceDefinition, micros: Micros, from: number, to: number): void {
    if (alertsBelowZero && micros < 0) this.#belowZeroMs += to - Math.max(from, this.#order.since);
  }

  /** When the days begin in a zone. */
  #startsOf(timezone: string): readonly number[] {
    const { since, days } = this.#order;
    return getOrMake(this.#starts, timezone, () =>
      days.map((day, place) => (place === 0 ? since : (parseLocalText(`${day}T00:00`, timezone) ?? since))),
    );
  }

  #groupOf({ account, currency }: Pick<AccountSpent, 'account' | 'currency'>): GroupSpent {
    const { days, groupBy } = this.#order;
    const group = groupBy === null ? '' : (ownOf(account.labels, groupBy) ?? '');
    return getOrMake(this.#groups, `${currencyCode(currency)} ${group}`, () => {
      const buckets = new Array<Micros>(days.length).fill(0);
      return { group, currency, spent: 0, before: 0, buckets };
    });
  }

  close(isWhole: boolean) {
    const isKnown = (isWhole && this.unknown.length + this.inPart.length === 0) || this.#belowZeroMs > 0;
    const most = (left: Spent, right: Spent): number => right.spent - left.spent;
    const accounts = this.#accounts.toSorted(most);
    const groups = [...this.#groups.values()].sort(most);
    return { accounts, groups, belowZeroMs: isKnown ? this.#belowZeroMs : null };
  }
}

/** The balances of an account by unit: neither minutes nor another currency are added to its money. */
function partsOf(account: AccountView) {
  const byUnit = Map.groupBy(account.balances, ({ id }) => unitOf(account, id) ?? '');
  return [...byUnit].map(([currency, balances]) => {
    const units = new Map<Balance, NowAndBefore>();
    return { account, currency, balances, weekdays: new Array<Micros>(7).fill(0), units };
  });
}

function addTo(sums: Micros[], place: number, micros: Micros): void {
  sums[place] = (sums[place] ?? 0) + micros;
}

/** Finds the bucket of an instant, quickly if the instants come one after another. */
function bucketsBy(starts: readonly number[]): (at: number) => number {
  let bucket = 0;
  return (at) => {
    if (at < (starts[bucket] ?? 0)) bucket = 0;
    while (at >= (starts[bucket + 1] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    return bucket;
  };
}

/** The calendar days from one instant to another, thinned to as many as a chart shows. */
function daysBetween(since: number, until: number, timezone: string): readonly string[] {
  const [first, last] = [since, until - 1].map((at) => Date.parse(isoDay(at, timezone)));
  const count = Math.round(((last ?? 0) - (first ?? 0)) / dayMs) + 1;
  const step = Math.ceil(count / maxBuckets);
  return Array.from({ length: Math.ceil(count / step) }, (_, place) =>
    isoDay((first ?? 0) + place * step * dayMs, 'UTC'),
  );
}

/** The label that most accounts have; null when none has any. */
export function commonLabel(accounts: readonly AccountView[]): string | null {
  const counts = new Map<string, number>();
  for (const { labels } of accounts)
    for (const key of Object.keys(labels)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...counts].sort(([, left], [, right]) => right - left)[0]?.[0] ?? null;
}

function forecastsOf(views: ReviewViews, accounts: readonly AccountView[]) {
  const records = accounts.flatMap(({ id, balances }) =>
    balances.flatMap((balance) => views.record(id, balance.id) ?? []),
  );
  const medianError = median(records.map((record) => record.medianError));
  const count = records.reduce((sum, record) => sum + record.count, 0);
  return medianError === null ? null : { medianError, count };
}

function median(values: readonly number[]): number | null {
  const known = values.filter((value) => !Number.isNaN(value)).sort((left, right) => left - right);
  const [low, high] = [known[(known.length - 1) >> 1], known[known.length >> 1]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}
