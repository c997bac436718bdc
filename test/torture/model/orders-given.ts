import type { Acknowledgement, Alert } from '../../../src/domain/alert.ts';
import type { AnnouncedRun, AuditEntry } from '../../../src/domain/operator.ts';
import type { Outcome, Reading } from '../../../src/domain/reading.ts';
import type { Silence } from '../../../src/domain/route.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import { auditOf } from '../../../src/engine/audit.ts';
import type { MonitorState } from '../../../src/engine/state.ts';
import type { Batch } from '../../../src/ports/store.ts';
import { Violation } from '../story.ts';
import { DurableMap } from './durable-map.ts';
import { acknowledged, sharesVoice } from './routing.ts';

/** A payment counts as arrived once this share of it has come (contract, 4). */
const arrivedShare = 0.8;

interface Expected {
  readonly account: string;
  readonly amountMicros: number;
  /** The rises of the balance by the time of the order. */
  readonly risenBefore: number;
  readonly balance: string;
  readonly orderedAt: number;
}

/** The answer to an order that somebody read, on the page or from the command line. */
export interface Answer {
  readonly isSaidDone: boolean;
  /** Whether it was done from memory by a daemon that may have died since. */
  readonly mayBeLost?: boolean;
  /** The incident that they acknowledged; null without one. */
  readonly incident: string | null;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Each silence that is extended lasts this much longer. */
export const extendedByMs = hourMs;

/** Orders of people: each holds as long as ordered, counts once, and is either done or undone. */
export class OrdersGiven {
  readonly #silences = new DurableMap<Silence>();
  readonly #expected = new DurableMap<Expected>();
  readonly #cancelled = new DurableMap<true>();
  /** The rises of each balance so far. */
  readonly #risen = new DurableMap<number>();
  readonly #readings = new DurableMap<Reading>();
  /** The account of each announced run, and when that ends. */
  readonly #runs = new DurableMap<Pick<AnnouncedRun, 'account' | 'endsAt'>>();
  readonly #stored = [
    ...[this.#silences, this.#expected, this.#cancelled],
    ...[this.#risen, this.#readings, this.#runs],
  ] as const;
  /** Audit entries that a batch had. */
  readonly #audited = new Set<string>();
  /** By the person; each gives one order. */
  readonly #answers = new Map<string, Answer>();

  answered(by: string, it: Answer): void {
    this.#answers.set(by, it);
  }

  polled(account: string, outcome: Outcome, at: number): void {
    if (outcome.kind !== 'ok') return;
    const before = this.#readings.get(account);
    this.#readings.set(account, { at, ...outcome.answer });
    for (const [balance, now] of Object.entries(outcome.answer.balances)) {
      const rise = now - (before?.balances[balance] ?? now);
      const key = `${account}/${balance}`;
      if (rise > 0) this.#risen.set(key, (this.#risen.get(key) ?? 0) + rise);
    }
  }

  /** Called before a batch is stored. */
  follow(state: MonitorState, batch: Batch, now: number): void {
    for (const silence of batch.silences) this.#silences.set(silence.id, silence);
    // All that an older database lacks is stored again.
    const ordered = Object.entries(batch.notes).flatMap(([name, note]) => {
      if (!name.startsWith('audit:') || note === null || this.#audited.has(note)) return [];
      this.#audited.add(note);
      return [JSON.parse(note) as AuditEntry];
    });
    this.#expectMuted(state, now);
    this.#expectExtended(state);
    this.#expectGivenBack(state, ordered);
    this.#expectCancelled(state, ordered);
    this.#expectComing(state);
    this.#expectRunsOnce(state);
    this.#expectRunsKept(state, now);
  }

  /** A top-up for an account that was removed, even for a moment, is no longer expected. */
  configured({ accounts }: Settings): void {
    const ids = new Set(accounts.map(({ id }) => id));
    for (const announced of [this.#expected, this.#runs])
      for (const [id, { account }] of [...announced.entries()]) if (!ids.has(account)) announced.delete(id);
  }

  taken(): void {
    for (const map of this.#stored) map.take();
  }

  committed(): void {
    for (const map of this.#stored) map.commit();
  }

  died(): void {
    for (const map of this.#stored) map.crash();
  }

  /** An older database took the place of the present one. */
  restored(): void {
    this.#answers.clear();
    for (const map of this.#stored) for (const key of [...map.keys()]) map.forget(key);
  }

  /**
   * Checks that each order, at a standby too, is once in the audit of the owner. `isTaken`: whether another person acknowledged the
   * incident before; null while something may wait.
   */
  expectOnce(state: MonitorState, isTaken: ((incident: string) => boolean) | null): void {
    if (this.#answers.size === 0) return;
    const times = Map.groupBy(entriesOf(state), ({ by }) => by);
    for (const [by, { isSaidDone, mayBeLost, incident }] of this.#answers) {
      const count = times.get(by)?.length ?? 0;
      if (count > 1 || (count > 0 && !isSaidDone))
        throw new Violation('an order is done once, and where that is said', `${by}: ${count} times`);
      if (isTaken === null || !isSaidDone || mayBeLost === true || count > 0) continue;
      if (incident === null || !isTaken(incident)) throw new Violation('an order is done or named', by);
    }
  }

  /** Whether the audit says that the order was done. */
  isDone(state: MonitorState, by: string): boolean {
    return entriesOf(state).some((entry) => entry.by === by && !entry.detail.startsWith('not done'));
  }

  /** A silence lasts as long as was ordered, whatever the clock does. */
  #expectMuted(state: MonitorState, now: number): void {
    for (const { id, endsAt } of this.#silences.values()) {
      const known = state.silences.get(id);
      if (endsAt > now && known?.expired !== true && (known?.endsAt ?? 0) < endsAt)
        throw new Violation('a silence lasts', `${id} until ${endsAt} is ${JSON.stringify(known)} at ${now}`);
    }
  }

  /** A silence lasts longer by what the audit says, counted once for each order. */
  #expectExtended(state: MonitorState): void {
    if (state.silences.size === 0) return;
    const extended = entriesOf(state).filter(({ action }) => action === 'extend-silence');
    for (const { id, comment, startsAt, endsAt, expired } of state.silences.values()) {
      if (!comment.startsWith('for ') || expired === true) continue;
      const times = extended.filter(({ detail }) => detail.startsWith(`${id}, `)).length;
      if (endsAt - startsAt !== Number(comment.slice('for '.length)) + times * extendedByMs)
        throw new Violation('a silence is extended once an order', `${id}, ${times} times`);
    }
  }

  /** An acknowledgement that was removed is gone, also for incidents in the same messages, unless somebody acknowledged since. */
  #expectGivenBack(state: MonitorState, ordered: readonly AuditEntry[]): void {
    for (const { action, account, rule, detail } of ordered) {
      if (action !== 'unacknowledge' || detail !== '' || account === null || isTakenIn(ordered)) continue;
      const alerts = state.alerts.of(account);
      const given = alerts.get(rule ?? '');
      for (const alert of alerts.values())
        if (alert === given || (given !== undefined && sharesVoice(alert, given)))
          expectFree(state, alert, () => true);
    }
  }

  /** A cancelled top-up also removes the acknowledgements that came with it. */
  #expectCancelled(state: MonitorState, ordered: readonly AuditEntry[]): void {
    for (const { action, account, detail } of ordered) {
      if (action !== 'cancel-expected' || account === null) continue;
      const { orderedAt } = this.#expected.get(detail) ?? {};
      this.#expected.delete(detail);
      this.#cancelled.set(detail, true);
      if (orderedAt === undefined || isTakenIn(ordered)) continue;
      for (const alert of state.alerts.of(account).values())
        expectFree(state, alert, (taken) => taken.at === orderedAt && taken.comment.startsWith('ordered'));
    }
  }

  /** No top-up counts as arrived that did not come, and none is dropped before it arrived. */
  #expectComing({ expected, accounts }: MonitorState): void {
    for (const account of expected.keys())
      if (!accounts.has(account)) throw new Violation('what is ordered is for an account', account);
    const coming = new Map([...expected.values()].flat().map((it) => [it.id, it] as const));
    for (const { id, account, balance, amountMicros, receivedMicros, orderedAt } of coming.values()) {
      const risen = this.#risen.get(`${account}/${balance}`) ?? 0;
      const known = this.#expected.get(id);
      if (this.#cancelled.has(id)) throw new Violation('what is cancelled is expected no more', id);
      if (known === undefined)
        this.#expected.set(id, {
          ...{ account, balance, amountMicros, orderedAt },
          risenBefore: risen - receivedMicros,
        });
      else if (receivedMicros > risen - known.risenBefore)
        throw new Violation('what arrived has come', `${receivedMicros} of ${id}`);
    }
    for (const [id, { account, balance, amountMicros, risenBefore }] of [...this.#expected.entries()]) {
      if (coming.has(id)) continue;
      const risen = (this.#risen.get(`${account}/${balance}`) ?? 0) - risenBefore;
      if (accounts.has(account) && risen < amountMicros * arrivedShare)
        throw new Violation(
          'what is ordered is expected until it comes',
          `${id}: ${risen} of ${amountMicros}`,
        );
      this.#expected.delete(id);
    }
  }

  #expectRunsOnce({ announced }: MonitorState): void {
    for (const [account, runs] of announced) {
      const names = runs.map((run) => [run.balance, run.amountMicros, run.startsAt, run.endsAt].join(' '));
      if (new Set(names).size < names.length)
        throw new Violation('a run that two announce counts once', `${account}: ${names}`);
    }
  }

  /** A run is kept until it is over, even if the clock was ahead by less than a week meanwhile. */
  #expectRunsKept({ announced }: MonitorState, now: number): void {
    const known = new Map([...announced.values()].flat().map((run) => [run.id, run]));
    for (const [id, run] of known) this.#runs.set(id, run);
    for (const [id, { endsAt }] of [...this.#runs.entries()]) {
      if (known.has(id)) continue;
      if (now < endsAt + 7 * dayMs) throw new Violation('a run is known until it is over', id);
      this.#runs.delete(id);
    }
  }
}

function isTakenIn(ordered: readonly AuditEntry[]): boolean {
  return ordered.some(({ action }) => action === 'acknowledge' || action === 'expect-top-up');
}

function expectFree(
  state: MonitorState,
  { incident }: Pick<Alert, 'incident'>,
  isMeant: (taken: Acknowledgement) => boolean,
): void {
  const open = state.incidents.get(incident ?? '');
  const taken = open?.acknowledgement ?? null;
  if (open !== undefined && acknowledged(open) && taken !== null && isMeant(taken))
    throw new Violation('what is given back nobody has', `${taken.by} has ${incident}`);
}

function entriesOf(state: MonitorState) {
  return auditOf(state, { since: 0, before: Number.POSITIVE_INFINITY, limit: 10_000 });
}
