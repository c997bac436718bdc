import { StorageError } from '../../src/domain/operator-error.ts';
import type { MonitorState } from '../../src/engine/state.ts';
import { type Fleet, leaseMs } from './fleet.ts';
import type { Machine } from './machine.ts';
import type { Model } from './model/model.ts';
import { isStandingBy } from './standby-orders.ts';

/** Leases after which who stands by shows what the owner knew then, or nothing: one, the 11 s that docs/cluster.md says, and a read that takes seconds. */
const leasesBehind = 3;

export function lookAtStandbys(fleet: Fleet, model: Model): void {
  for (const machine of fleet.machines) void lookAt(machine, fleet, model);
}

/** Whoever looks at the page of a daemon that stands by sees how things are, or that this is not known there. */
async function lookAt(machine: Machine, fleet: Fleet, model: Model): Promise<void> {
  if (machine === fleet.owner || !isStandingBy(machine)) return;
  const page = await machine.standbyPage();
  if (page === undefined) return;
  try {
    const readAt = new Map((await page.accountsInBrief()).map((it) => [it.id, it.reading?.at ?? null]));
    const { daemon } = fleet;
    if (daemon === null || fleet.owner?.frozen === true || !page.isKnown()) return;
    const before = daemon.now() - leasesBehind * leaseMs * fleet.slowness;
    const old = oldReading(daemon.state, readAt, before);
    if (old !== null) model.broken('a standby shows nothing old as known', `${machine.name}: ${old}`);
    const shown = await page.alerts({ all: false });
    const over = shown.find(({ state, incident }) => {
      const ended = incident === null ? null : daemon.state.incidents.get(incident);
      return state === 'firing' && (ended?.resolvedAt ?? before) < before;
    });
    if (over !== undefined)
      model.broken('a standby shows nothing old as known', `${over.account}/${over.rule} is over`);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

/** Whoever looks at the page of a daemon that stood still is not shown what another daemon has the say over by now. */
export async function lookAtOvertaken(machine: Machine, fleet: Fleet, model: Model): Promise<void> {
  const { views, membership, frozen, stopping } = machine;
  if (views === null || frozen || stopping) return;
  try {
    await views.refresh();
    // Without its database it goes by what it knows, and says that it does.
    if (machine.views !== views || membership?.clusterStatus.reachesDatabase !== true) return;
    const { owner } = fleet;
    if (owner !== null && owner !== machine)
      model.broken(
        'an owner that stood still shows nothing old as known',
        `${machine.name}, not ${owner.name}`,
      );
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

/** An account of which the owner had read something newer by then. */
function oldReading(
  { accounts }: MonitorState,
  readAt: ReadonlyMap<string, number | null>,
  before: number,
): string | null {
  for (const [id, { log }] of accounts) {
    const shown = readAt.get(id);
    const known = log.readings(0).findLast(({ at }) => at < before);
    if (shown !== undefined && known !== undefined && (shown ?? 0) < known.at)
      return `${id} as of ${shown}, and the owner knew ${known.at}`;
  }
  return null;
}
