import type { StoredState, StoreReader } from '../ports/store.ts';

/** What is stored where nothing ever was. */
export const nothingStored: StoredState = {
  accounts: [],
  spending: [],
  backoffs: [],
  alerts: [],
  incidents: [],
  messages: [],
  silences: [],
  notes: {},
  damaged: [],
};

/** The database of somebody who has none. */
export const emptyReader: StoreReader = {
  load: async () => nothingStored,
  async *readings() {},
  async *polls() {},
  readingBefore: async () => null,
  incidents: async () => [],
  incident: async () => null,
  silences: async () => [],
  messages: async () => [],
  close: async () => undefined,
};
