import type { StoredState, StoreReader } from '../ports/store.ts';

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

export const emptyReader: StoreReader = {
  load: async () => nothingStored,
  async *readings() {},
  async *polls() {},
  readingBefore: async () => null,
  incidents: async () => [],
  silences: async () => [],
  messages: async () => [],
  close: async () => undefined,
};
