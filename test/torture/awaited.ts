import type { Daemon } from '../../src/daemon/daemon.ts';
import { nextReportAt } from '../../src/daemon/reporting.ts';
import type { Incident } from '../../src/domain/alert.ts';
import { ownOf } from '../../src/domain/own.ts';
import { acknowledged, asksOf } from './model/routing.ts';
import type { Happening } from './scenario.ts';

/** So long before it is due something counts as about to happen. */
const soonMs = 25_000;

/** Whether a daemon is about to do, or does, what a story waits for. */
export function isAbout(
  daemon: Pick<Daemon, 'state' | 'now'>,
  what: Extract<Happening, { kind: 'await' }>['what'],
): boolean {
  const { state } = daemon;
  if (what === 'a message') return state.underWay.size > 0;
  const at = daemon.now();
  const isSoon = (dueAt: number): boolean => dueAt - soonMs <= at && at <= dueAt;
  if (what === 'a report') return isSoon(nextReportAt(state));
  const free = (incident: Incident): boolean =>
    incident.resolvedAt === null && !incident.event && !acknowledged(incident);
  return [...state.incidents.values()]
    .filter(free)
    .some((incident) =>
      asksOf(state.settings, incident).some(({ channel, escalateAfterMs, repeatEveryMs }) =>
        what === 'an escalation'
          ? escalateAfterMs !== null && isSoon(incident.escalationSince + escalateAfterMs)
          : isSoon((ownOf(incident.notified, channel)?.at ?? Number.NaN) + repeatEveryMs),
      ),
    );
}
