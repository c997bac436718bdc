import { readPressed } from '../../src/channels/chats/buttons.ts';
import { isRefusal } from '../../src/domain/operator.ts';
import { auditOf } from '../../src/engine/audit.ts';
import { type Answered, type OperatorOrder, wasDoneBefore } from '../../src/engine/orders.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import { orderOf } from '../support/orders.ts';

const weekMs = 7 * 24 * 3_600_000;

export interface Pressed {
  readonly daemon: { readonly state: MonitorState; now(): number };
  readonly views: LiveViews;
  /** The button beside which the link stands. */
  readonly data: string;
  readonly by: string;
  /** Looked at the page behind the link, and acknowledged what that shows. */
  readonly reads: boolean;
}

/** Acknowledges by the link in a message, as the page behind it does. Gives how what is done differs from what is said; null where it does not. */
export async function takeByLink({ daemon, views, data, by, reads }: Pressed): Promise<string | null> {
  const { incident: id = '' } = readPressed(data) ?? {};
  const linked = await findLinked(views, id, daemon.now());
  const alert = linked && (await views.alert(linked.account, linked.rule));
  if (linked === null || alert === null || alert.state !== 'firing') return done(daemon.state, by, 0);
  const { account, rule, incident, severity } = alert;
  const seen = reads ? { incident, severity } : { incident: id };
  const order = orderOf(
    { kind: 'acknowledge', account, rule, comment: '', seen },
    { by, at: daemon.now(), from: { door: 'link', address: null } },
  );
  const [answer] = await views.orders([order]);
  const isDone = isNew(answer);
  const taken = [...daemon.state.incidents.values()].filter(
    ({ acknowledgement }) => acknowledgement?.by === by,
  );
  const other = taken.find((it) => it.account === account && it.rule === rule && it.id !== seen.incident);
  if (other !== undefined) return `${by} took ${other.id}, and saw ${seen.incident}`;
  if (!isDone && taken.length > 0) return `${by} took ${taken[0]?.id}, and was refused`;
  return done(daemon.state, by, isDone ? 1 : 0);
}

async function findLinked(
  views: LiveViews,
  id: string,
  now: number,
): Promise<{ readonly account: string; readonly rule: string } | null> {
  for (const firing of views.firing()) if (firing.incident === id) return firing;
  const past = await views.incidents({ since: now - weekMs, until: now + 1, limit: 2000 });
  return past.find((ended) => ended.resolvedAt !== null && ended.id === id) ?? null;
}

/** Whether an order was done now, and not before by another. */
export function isNew(answer: Answered<OperatorOrder> | undefined): boolean {
  return answer !== undefined && !isRefusal(answer) && !wasDoneBefore(answer);
}

function done(state: MonitorState, by: string, times: number): string | null {
  const all = auditOf(state, { since: 0, before: Number.POSITIVE_INFINITY, limit: 10_000 });
  const entries = all.filter((entry) => entry.by === by);
  return entries.length === times ? null : `${by} was done ${entries.length} times, and told of ${times}`;
}
