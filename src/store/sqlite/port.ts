import type { Store, StoreFile, StoreReader } from '../../ports/store.ts';

type AtOnce<Port, Name extends keyof Port> = {
  readonly [Key in Name]: Port[Key] extends (...question: infer Question) => infer Answer
    ? (...question: Question) => Answer extends AsyncIterable<infer Part> ? Iterable<Part> : Awaited<Answer>
    : never;
};

export type SqliteReader = AtOnce<StoreReader, keyof StoreReader> &
  AtOnce<StoreFile, 'leftOrders'> &
  Pick<StoreFile, 'backup'>;
export type SqliteStore = SqliteReader &
  AtOnce<Store, 'commit' | 'takeOrders' | 'takeUnstored' | 'takeDamaged' | 'prune'>;

/** Each call does its work before it returns its promise, so nothing else runs in between. */
export function asStoreFile(sqlite: SqliteReader): StoreFile {
  return {
    load: async () => sqlite.load(),
    readings: (query) => inParts(sqlite.readings(query)),
    polls: (query) => inParts(sqlite.polls(query)),
    readingBefore: async (account, at) => sqlite.readingBefore(account, at),
    incidents: async (query) => sqlite.incidents(query),
    silences: async (notOverAt) => sqlite.silences(notOverAt),
    messages: async (limit, before) => sqlite.messages(limit, before),
    backup: (file) => sqlite.backup(file),
    leftOrders: async () => sqlite.leftOrders(),
    close: async () => sqlite.close(),
  };
}

export function asStore(sqlite: SqliteStore): Store {
  return {
    ...asStoreFile(sqlite),
    commit: async (batch) => sqlite.commit(batch),
    takeOrders: async () => sqlite.takeOrders(),
    takeUnstored: async () => sqlite.takeUnstored(),
    takeDamaged: () => sqlite.takeDamaged(),
    prune: async (olderThan) => sqlite.prune(olderThan),
  };
}

async function* inParts<Part>(parts: Iterable<Part>): AsyncGenerator<Part> {
  yield* parts;
}
