import type { Incident } from '../domain/alert.ts';
import { takeInUnstored } from '../engine/unstored.ts';
import type { Unstored } from '../ports/store.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** What takes in what daemons that lost the accounts did from memory: polls once, incidents once this daemon knows of their accounts itself. */
export function openUnstoredTaker({ state, store, log, act }: DaemonParts) {
  /** By name, what is still to be taken in; nothing of what the next commit removes. */
  const waiting = new Map<string, readonly Incident[]>();

  /** A batch whose end was unknown may have been stored. */
  async function withoutStored({ polls }: Unstored): Promise<Unstored['polls']> {
    const stored = new Set<string>();
    for (const account of new Set(polls.map((each) => each.account))) {
      const instants = polls.flatMap((each) => (each.account === account ? [each.poll.at] : []));
      const span = { account, since: Math.min(...instants), until: Math.max(...instants) + 1 };
      for await (const part of store.polls(span)) for (const { at } of part) stored.add(`${at} ${account}`);
    }
    return polls.filter(({ account, poll }) => !stored.has(`${poll.at} ${account}`));
  }

  /** Rejects with `StorageError`. */
  return async (): Promise<void> => {
    const found = (await store.takeUnstored?.()) ?? new Map<string, Unstored>();
    for (const [name, unstored] of found) {
      const incidents = waiting.get(name);
      if (incidents?.length === 0) continue;
      const polls = incidents === undefined ? await withoutStored(unstored) : [];
      act((now) => {
        const rest = takeInUnstored(
          state,
          { ...unstored, polls, incidents: incidents ?? unstored.incidents },
          now,
        );
        waiting.set(name, rest);
        if (rest.length === 0) state.notes.delete(name);
      });
      if (incidents === undefined)
        log.info(
          { polls: polls.length, incidents: unstored.incidents.length },
          'what another daemon did from memory before it lost the accounts is taken in',
        );
    }
  };
}
