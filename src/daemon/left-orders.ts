import type { Incident } from '../domain/alert.ts';
import { StorageError } from '../domain/operator-error.ts';
import { takeLeftOrder } from '../engine/orders.ts';
import { sayAgain, takeInUnstored } from '../engine/unstored.ts';
import type { OrderReach } from '../ports/orders.ts';
import type { LeftOrder, Unstored } from '../ports/store.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

const orderNote = 'order-at';
/** The shortest time between two looks for orders, however often something is written to the database. */
const lookMs = 500;

/** Takes and executes the orders that the command line left in the database. Looks once at a time, and not at every poll. */
export function openLeftOrders(parts: DaemonParts, reach: OrderReach) {
  const { state, store, log, committer, act } = parts;
  const takeUnstored = openUnstoredTaker(parts, obey);
  let looks = false;
  let isFailing = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function obey(order: LeftOrder, now: number): void {
    const refused = takeLeftOrder(state, order, now, reach);
    // Nobody waits for the result of an order that was left in the database, so a refusal is logged.
    if (refused !== null)
      log.warn(
        { order: refused.kind, why: refused.why },
        'an order that was left in the database was refused',
      );
  }

  async function take(): Promise<void> {
    try {
      const orders = await store.takeOrders();
      await takeUnstored();
      isFailing = false;
      if (orders.length > 0)
        act((now) => {
          // The store deletes orders with the next commit, so the note makes sure that there is one.
          state.notes.write(orderNote, String(now));
          for (const order of orders) obey(order, now);
        });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (!isFailing) log.warn({ err: error }, 'orders that were left in the database cannot be read');
      isFailing = true;
      // The note makes sure that there is a commit: it reports that the orders could not be read, as a storage failure.
      act((now) => state.notes.write(orderNote, String(now)));
    } finally {
      looks = false;
    }
  }

  return {
    take(now: number): void {
      // A clock that was set back leaves `lookedAt` in the future: look again.
      if (looks || Math.abs(now - lookedAt) < lookMs) return;
      looks = true;
      lookedAt = now;
      committer.alone(take);
    },
    nextAt: () => lookedAt + lookMs,
  };
}

/**
 * Applies the work that daemons did from memory before they lost the accounts: polls and orders once, incidents once this daemon itself
 * knows of their accounts. The commit that stores it leaves only the rest in the note, for the next owner; polls go one commit later.
 */
function openUnstoredTaker(
  { state, store, log, act }: DaemonParts,
  obey: (order: LeftOrder, now: number) => void,
) {
  /** The part of each note that is still to be applied, by the name of the note. */
  const rests = new Map<string, Unstored>();
  /** Names of polls that are not stored yet, or that another note contained too. */
  const takenIn = new Set<string>();

  /** Drops polls that are stored already: a batch with an unknown end may have been stored, and a daemon may have left a poll twice. */
  async function newPolls({ polls }: Unstored): Promise<Unstored['polls']> {
    const stored = new Set<string>();
    for (const account of new Set(polls.map((each) => each.account))) {
      const instants = polls.flatMap((each) => (each.account === account ? [each.poll.at] : []));
      const span = { account, since: Math.min(...instants), until: Math.max(...instants) + 1 };
      for await (const part of store.polls(span)) for (const { at } of part) stored.add(`${at} ${account}`);
    }
    return polls.filter(({ account, poll }) => {
      const name = `${poll.at} ${account}`;
      if (stored.has(name) || takenIn.has(name)) return false;
      takenIn.add(name);
      return true;
    });
  }

  /** A stored incident was notified, or goes on as it is. It is kept only if the other daemon told a channel since what is not true of it. */
  async function newIncidents({ incidents }: Unstored): Promise<Unstored['incidents']> {
    const fresh: Incident[] = [];
    for (const incident of incidents) {
      const { id, account, rule, firedAt } = incident;
      const stored = await store.incidents({ account, rule, since: firedAt, until: firedAt + 1 });
      const known = state.incidents.has(id) ? undefined : stored.find((each) => each.id === id);
      const news = known === undefined ? incident : sayAgain(known, incident);
      if (news !== known) fresh.push(news);
    }
    return fresh;
  }

  /** Rejects with `StorageError`. */
  return async (): Promise<void> => {
    const found = await store.takeUnstored();
    for (const [name, record] of found) {
      const before = rests.get(name);
      if (before !== undefined && sizeOf(before) === 0) continue;
      const polls = before?.polls.filter((each) => state.polls.has(each)) ?? (await newPolls(record));
      const incidents = before?.incidents ?? (await newIncidents(record));
      const { orders } = before ?? record;
      act((now) => {
        const waiting = takeInUnstored(state, { ...record, polls, incidents }, now);
        for (const order of orders) obey(order, now);
        const rest = { at: record.at, polls, incidents: waiting, orders: [] };
        rests.set(name, rest);
        if (sizeOf(rest) === 0) state.notes.delete(name);
        else if (sizeOf(rest) < sizeOf(before ?? record)) state.notes.write(name, record.write(rest));
      });
      if (before === undefined)
        log.info(
          { polls: polls.length, incidents: incidents.length, orders: orders.length },
          'what another daemon did from memory before it lost the accounts is taken in',
        );
    }
  };
}

const sizeOf = ({ polls, incidents, orders }: Unstored): number =>
  polls.length + incidents.length + orders.length;
