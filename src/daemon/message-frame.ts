import type { Incident } from '../domain/alert.ts';
import { type Notification, wireId } from '../domain/outbox.ts';
import type { MonitorState } from '../engine/state.ts';
import type { StoreReader } from '../ports/store.ts';
import type { HistoryLoader } from './history-loader.ts';

/** A link by which an incident is acknowledged without signing in. */
export interface AcknowledgeLink {
  readonly incident: Incident;
  readonly now: number;
  /** What it is signed with. */
  readonly key: Buffer;
}

export interface ComposeDependencies {
  readonly state: MonitorState;
  readonly reader: StoreReader;
  readonly historyLoader: HistoryLoader;
  readonly now: () => number;
  /** Signed link to the confirmation page; null where the page has no address. */
  readonly acknowledgeUrl: (link: AcknowledgeLink) => string | null;
}

export function baseOf(state: MonitorState, message: Notification, now: number) {
  return {
    id: wireId(message),
    at: now,
    publicUrl: state.settings.server?.publicUrl ?? null,
    timezone: state.settings.timezone,
    ...(message.owed === undefined ? {} : { recipients: message.owed }),
  };
}
