import type { Incident } from '../domain/alert.ts';
import { StorageError } from '../domain/operator-error.ts';
import { takeLeftOrder } from '../engine/orders.ts';
import { sayAgain, takeInUnstored } from '../engine/unstored.ts';
import type { OrderReach } from '../ports/orders.ts';
import type { LeftOrder, Unstored } from '../ports/store.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

const orderNote = 'order-at';
/** Orders are looked for at most this often, however often something is written next to the database. */
const lookMs = 500;

/** Takes and executes the orders that the command line left in the database. One look at a time, and not at every poll. */
export function openLeftOrders(parts: DaemonParts, reach: OrderReach) {
  const { state, store, log, committer, act } = parts;
  const takeUnstored = openUnstoredTaker(parts, obey);
  let looks = false;
  let isFailing = false;
  let lookedAt = Number.NEGATIVE_INFINITY;

  function obey(order: LeftOrder, now: number): void {
    const refused = takeLeftOrder(state, order, now, reach);
    // Nobody waits for what becomes of an order that was left in the database.
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
          // The store deletes orders with the next commit, so there must be one.
          state.notes.write(orderNote, String(now));
          for (const order of orders) obey(order, now);
        });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      if (!isFailing) log.warn({ err: error }, 'orders that were left in the database cannot be read');
      isFailing = true;
      // A failure to read them is a storage failure, which the next commit reports: so there must be one.
      act((now) => state.notes.write(orderNote, String(now)));
    } finally {
      looks = false;
    }
  }

  return {
    take(now: number): void {
      // After the clock was set back, look again.
      if (looks || Math.abs(now - lookedAt) < lookMs) return;
      looks = true;
      lookedAt = now;
      committer.alone(take);
    },
    nextAt: () => lookedAt + lookMs,
  };
}

/**
 * Takes in the work from memory of daemons that lost the accounts: polls and orders once, incidents once this daemon knows of their
 * accounts itself. The commit that stores it leaves only the rest in its note, for the next owner; polls go one commit later.
 */
function openUnstoredTaker(
  { state, store, log, act }: DaemonParts,
  obey: (order: LeftOrder, now: number) => void,
) {
  /** Orders that are still to be taken in, by the name of the note. */
  const rests = new Map<string, Unstored>();
  /** Names of polls that are not stored yet, or were taken in from another note. */
  const takenIn = new Set<string>();

  /** A batch whose end was unknown may have been stored, and who lost the accounts twice may have left a poll twice. */
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

  /** A stored one was notified, or goes on as what it is: only what was told since, and is not so, is left of it. */
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
