import type { StoreReader } from '../ports/daemon-ports.ts';
import type { StoredState } from '../ports/domain-ports.ts';

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
