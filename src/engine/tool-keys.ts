import { type Incident, isAcknowledged, type ToolKeys } from '../domain/alert.ts';
import type { NotificationReason } from '../domain/outbox.ts';
import { ownOf } from '../domain/own.ts';
import { queueOf } from './queue.ts';
import type { MonitorState } from './state.ts';

/**
 * The keys of an incident at a channel that is notified of it once more. An incident tool wakes people for a key that it does not
 * have: what rose, and what nobody has any more who had taken it, gets another one.
 */
export function keysAfter(
  state: MonitorState,
  incident: Incident,
  { channel, item }: { readonly channel: string; readonly item: NotificationReason },
): ToolKeys {
  const known = ownOf(incident.notified, channel);
  const isTaken = isAcknowledged(incident);
  if (known === undefined) {
    const first = freshKey(state, incident, channel);
    return { first, newest: first, taken: isTaken ? first : null };
  }
  const { first, newest, taken } = known.keys ?? { first: 0, newest: 0, taken: null };
  if (isTaken) return { first, newest, taken: newest };
  const isLost = taken === newest;
  const isNews = item === 'worse' && !isBeginningUnsent(state, incident, channel);
  return { first, newest: newest + (isLost || isNews ? 1 : 0), taken };
}

/** After those of the alert's incidents of which the channel may not know the end. */
function freshKey(state: MonitorState, { id, account, rule }: Incident, channel: string): number {
  const others = state.incidents.ofAlert(account, rule);
  // The usual case, and no reason to look through thousands.
  if (others.size === (others.has(id) ? 1 : 0)) return 0;
  const newest = queueOf(state, channel)
    .flatMap(({ items }) => items)
    .filter(({ incident }) => incident !== id && others.has(incident))
    .map(({ incident }) => ownOf(state.incidents.get(incident)?.notified, channel)?.keys?.newest ?? 0);
  return Math.max(-1, ...newest) + 1;
}

/** Nothing of it has left: the channel hears of it as it is by then. */
function isBeginningUnsent(state: MonitorState, { id }: Incident, channel: string): boolean {
  return queueOf(state, channel).some(
    ({ id: message, uncertain, revision, owed, items }) =>
      !uncertain &&
      revision === 0 &&
      owed === undefined &&
      !state.underWay.has(message) &&
      items.some(({ incident, kind }) => incident === id && (kind === 'firing' || kind === 'flapping')),
  );
}

export function isOneKey({ newest, taken }: ToolKeys): boolean {
  return newest === 0 && taken === null;
}
