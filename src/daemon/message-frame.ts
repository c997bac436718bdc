import type { Incident } from '../domain/alert.ts';
import { type OutboxMessage, wireId } from '../domain/outbox.ts';
import type { MonitorState } from '../engine/state.ts';
import type { StoreReader } from '../ports/store.ts';
import type { Recollection } from './history-loader.ts';

export interface ComposeParts {
  readonly state: MonitorState;
  readonly reader: StoreReader;
  readonly recollection: Recollection;
  readonly now: () => number;
  /** Signed link to the confirmation page of an acknowledgement; null where no page can be reached. */
  readonly acknowledgeUrl: (incident: Incident, now: number) => string | null;
}

/** What every message carries. */
export function baseOf(state: MonitorState, message: OutboxMessage, now: number) {
  return {
    id: wireId(message),
    at: now,
    publicUrl: state.settings.server?.publicUrl ?? null,
    timezone: state.settings.timezone,
    ...(message.owed === undefined ? {} : { recipients: message.owed }),
  };
}
