import type { Incident } from '../domain/alert.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import { isSameCurrency, type Micros } from '../domain/money.ts';
import { amountOf, type Balance, type Reading } from '../domain/reading.ts';
import { isWorse, type Severity } from '../domain/severity.ts';
import { runwayOf } from '../engine/spending.ts';
import { emptyAt, type MonitorState, type WatchedAccount } from '../engine/state.ts';
import { ruleKindOf } from '../rules/registry.ts';

/** An incident of a replay, with no more of it than people read, because a long past has many. */
export interface ReplayedIncident
  extends Pick<
    Incident,
    'account' | 'rule' | 'type' | 'balance' | 'firedAt' | 'resolvedAt' | 'event' | 'value' | 'threshold'
  > {
  /** The worst that was reached. */
  readonly severity: Severity;
  /** The currency that the account was last read in when it fired. */
  readonly currency: string | null;
  /** When the balance ran empty; null for rules that do not warn of that, and when nothing tells. */
  readonly empty: Emptying | null;
  /** Whether its rule warns that the balance comes to a floor. */
  readonly floored: boolean;
  /** False when it fired again although nothing was paid in since it last resolved. */
  readonly isFirst: boolean;
}

/**
 * When the balance of an incident was used up.
 *
 * - `reached`: a reading at the floor or below came while it fired (at its start, if the balance was empty already).
 * - `spent`: a top-up came in between; by then as much was spent as was left when it fired.
 * - `projected`: the past ends before either; the instant is that of the forecast when it fired.
 */
export interface Emptying {
  readonly at: number;
  readonly how: 'reached' | 'spent' | 'projected';
}

type Entry = { -readonly [Key in keyof ReplayedIncident]: ReplayedIncident[Key] };

/** An incident whose balance has yet to be used up. */
interface Draining {
  readonly entry: Entry;
  readonly floorMicros: Micros;
  leftMicros: Micros;
}

/** The most kept for one account: more would be rules that fire and resolve without anything ever being spent. The oldest are dropped. */
const maxDraining = 50;

/** Records the incidents of a replay, and what became of their balances. */
export function createIncidentBook(state: MonitorState) {
  const incidents: ReplayedIncident[] = [];
  const known = new Map<string, Entry>();
  const draining = new Map<string, Draining[]>();
  /** When each alert last resolved, until something is paid in. */
  const resolved = new Map<string, Set<string>>();

  function open(incident: Incident): void {
    const account = state.accounts.get(incident.account);
    const { rule, type, balance, firedAt, resolvedAt, event, value, threshold } = incident;
    const entry: Entry = {
      account: incident.account,
      rule,
      type,
      balance,
      severity: incident.worstSeverity,
      firedAt,
      resolvedAt,
      event,
      value,
      threshold,
      currency: account?.poll.reading?.currency ?? account?.settings.currency ?? null,
      empty: null,
      floored: false,
      isFirst: resolved.get(incident.account)?.has(rule) !== true,
    };
    known.set(incident.id, entry);
    incidents.push(entry);
    if (account !== undefined && balance !== null && !event) watchDrain(entry, account, balance);
  }

  function follow(entry: Entry, incident: Incident): void {
    if (isWorse(incident.worstSeverity, entry.severity)) entry.severity = incident.worstSeverity;
    if (entry.resolvedAt !== null || incident.resolvedAt === null) return;
    entry.resolvedAt = incident.resolvedAt;
    if (incident.resolution?.kind === 'topped-up') return;
    getOrMake(resolved, entry.account, () => new Set<string>()).add(entry.rule);
  }

  /** Records the end of the balance by the outlook, until readings say better. */
  function watchDrain(entry: Entry, account: WatchedAccount, balance: Balance): void {
    const { reading } = account.poll;
    const rule = account.rules.find(({ id }) => id === entry.rule);
    if (reading === null || rule === undefined) return;
    const floorMicros = ruleKindOf(rule).floorMicros?.(rule, emptyAt(account, balance));
    if (floorMicros === undefined) return;
    entry.floored = true;
    if (isUsedUp(account, balance, floorMicros)) {
      entry.empty = { at: entry.firedAt, how: 'reached' };
      return;
    }
    const endsAt = runwayOf(account, balance, entry.firedAt)?.emptyAt ?? null;
    entry.empty = endsAt === null ? null : { at: endsAt, how: 'projected' };
    const begun = { entry, floorMicros, leftMicros: amountOf(reading, balance) - floorMicros };
    const others = draining.get(account.settings.id) ?? [];
    draining.set(account.settings.id, [...others, begun].slice(-maxDraining));
  }

  return {
    incidents,
    /** Takes in incidents that the engine opened or changed, after the engine has dropped those that nobody needs. */
    note(changed: readonly Incident[]): void {
      for (const incident of changed) {
        const entry = known.get(incident.id);
        if (entry === undefined) open(incident);
        else follow(entry, incident);
        // An incident that nobody needs any more does not come again.
        if (!state.incidents.has(incident.id)) known.delete(incident.id);
      }
    },
    /** Takes in what a reading says of balances that drain. */
    read(account: WatchedAccount): void {
      const { poll, settings } = account;
      const { reading, previous } = poll;
      // A reading in another currency says nothing of what drains.
      if (reading === null || previous === null || !isSameCurrency(previous.currency, reading.currency))
        return;
      if (settings.balances.some(({ id }) => amountOf(reading, id) > amountOf(previous, id)))
        resolved.delete(settings.id);
      const begun = draining.get(settings.id);
      if (begun === undefined) return;
      const left = begun.filter((it) => !drain(it, previous, account));
      if (left.length === 0) draining.delete(settings.id);
      else if (left.length < begun.length) draining.set(settings.id, left);
    },
  };
}

/** Returns true when nothing more is to be learned: the balance is used up, or goes on in another currency. */
function drain(it: Draining, previous: Reading, account: WatchedAccount): boolean {
  const { entry, floorMicros } = it;
  const { balance } = entry;
  const { reading } = account.poll;
  if (reading === null || balance === null || !isSameCurrency(reading.currency, entry.currency ?? ''))
    return true;
  if (entry.resolvedAt === null && isUsedUp(account, balance, floorMicros)) {
    entry.empty = { at: reading.at, how: 'reached' };
    return true;
  }
  it.leftMicros -= Math.max(0, amountOf(previous, balance) - amountOf(reading, balance));
  if (it.leftMicros > 0) return false;
  entry.empty = { at: reading.at, how: 'spent' };
  return true;
}

/** Whether the balance is at the floor, or so near that nothing more can be sent. */
function isUsedUp({ poll, spending }: WatchedAccount, balance: Balance, floorMicros: Micros): boolean {
  if (poll.reading === null) return false;
  return amountOf(poll.reading, balance) - floorMicros < spending.leastSpendable(balance);
}

/** An incident was too early with more than this share of the time left that its rule asks for, and too late with less than the second share. */
const earlyFactor = 1.2;
const lateFactor = 0.8;

/**
 * One record for each rule whose incidents fired by a time until the balance is empty. The true end is when the balance was empty, or when
 * as much was spent as had been left (`Emptying`). If the past ends before, an incident counts as early if more time has passed already
 * than the rule asks for, and else as not known.
 */
export function judgeRunways(incidents: readonly ReplayedIncident[], until: number) {
  const notified = incidents.flatMap((incident) => {
    const { threshold, floored } = incident;
    return floored && threshold?.unit === 'duration' ? [{ incident, withinMs: threshold.ms }] : [];
  });
  return [...Map.groupBy(notified, ({ incident }) => incident.rule)].map(([rule, its]) => {
    const leads = its.flatMap(({ incident }) => leadOf(incident) ?? []);
    const verdicts = its.map(({ incident, withinMs }) => verdictOf(incident, withinMs, until));
    const count = (verdict: Verdict): number => verdicts.filter((it) => it === verdict).length;
    return {
      rule,
      /** The longest `within` with which it fired. */
      withinMs: its.reduce((longest, { withinMs }) => Math.max(longest, withinMs), 0),
      fired: its.length,
      /** The numbers that came in time, too early and too late, of those whose true end is known. */
      inTime: count('in time'),
      early: count('early'),
      late: count('late'),
      /** The median of the times from firing until nothing was left; null when that is never known. */
      leadMs: leads.toSorted((left, right) => left - right)[leads.length >> 1] ?? null,
      /** The number of times it fired again although nothing was paid in since it had resolved. */
      flapped: its.filter(({ incident }) => !incident.isFirst).length,
    };
  });
}

type Verdict = 'in time' | 'early' | 'late' | 'not known';

function verdictOf(incident: ReplayedIncident, withinMs: number, until: number): Verdict {
  const leadMs = leadOf(incident);
  if (leadMs === null) return until - incident.firedAt > earlyFactor * withinMs ? 'early' : 'not known';
  if (leadMs > earlyFactor * withinMs) return 'early';
  return leadMs < lateFactor * withinMs ? 'late' : 'in time';
}

/** From firing until nothing was left; null when the past does not tell. */
function leadOf({ empty, firedAt }: ReplayedIncident): number | null {
  return empty === null || empty.how === 'projected' ? null : empty.at - firedAt;
}
