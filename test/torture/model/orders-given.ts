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

/** A payment counts as arrived with so much of it (contract, 4). */
const arrivedShare = 0.8;

interface Expected {
  readonly account: string;
  readonly amountMicros: number;
  /** The rises of the balance by the time of the order. */
  readonly risenBefore: number;
  readonly balance: string;
  readonly orderedAt: number;
}

/** What somebody read of their order, on the page or as the command line has it. */
export interface Answer {
  readonly isSaidDone: boolean;
  /** It was done from memory by a daemon that may have died with that. */
  readonly mayBeLost?: boolean;
  /** The incident that they took, if they did. */
  readonly incident: string | null;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** By so much each silence is let last longer that is. */
export const extendedByMs = hourMs;

/** Orders of people: each holds as long as they said, counts once, and is done or taken back. */
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
  /** Entries of the audit that a batch had. */
  readonly #audited = new Set<string>();
  /** By who gave it, each of whom gives one. */
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

  /** Before a batch is stored. */
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

  /** Money for an account that is gone, even for a moment, is expected no more. */
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
   * Orders of people, at a daemon that stands by too, in the audit of the one that has the accounts. `isTaken`: whether somebody else took
   * it before; null while something may wait.
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

  /** Whether the audit says so. */
  isDone(state: MonitorState, by: string): boolean {
    return entriesOf(state).some((entry) => entry.by === by && !entry.detail.startsWith('not done'));
  }

  /** A silence lasts as long as was ordered, on whatever clock. */
  #expectMuted(state: MonitorState, now: number): void {
    for (const { id, endsAt } of this.#silences.values()) {
      const known = state.silences.get(id);
      if (endsAt > now && known?.expired !== true && (known?.endsAt ?? 0) < endsAt)
        throw new Violation('a silence lasts', `${id} until ${endsAt} is ${JSON.stringify(known)} at ${now}`);
    }
  }

  /** A silence lasts by as much longer as the audit says, once for each order. */
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

  /** What somebody gave back nobody has, nor what shares its messages, if nobody took it since. */
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

  /** Nor does anybody have what was taken with money that does not come. */
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

  /** Nothing has arrived that did not come, and nothing is expected no more that did not arrive. */
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

  /** A run is known until it is over, also after a clock that was ahead for less than a week. */
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
