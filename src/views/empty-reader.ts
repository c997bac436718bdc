import type { StoreReader } from '../domain/ports.ts';

/** The database of somebody who has none: nothing was ever stored. */
export const emptyReader: StoreReader = {
  load: () => ({
    accounts: [],
    spending: [],
    backoffs: [],
    alerts: [],
    incidents: [],
    messages: [],
    silences: [],
    notes: {},
  }),
  readings: () => [],
  polls: () => [],
  readingBefore: () => null,
  incidents: () => [],
  incident: () => null,
  messages: () => [],
  close: () => undefined,
};
