import { hostname } from 'node:os';
import { Counting } from '../daemon/counting.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { Membership } from '../daemon/membership.ts';
import type { PostgresSettings } from '../domain/settings.ts';
import { openCluster } from '../store/store.ts';
import { cronCalendar } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';
import { createLiveViews } from '../views/live-views.ts';
import { createStandbyViews } from '../views/standby-views.ts';
import { switchViews } from '../views/switched-views.ts';
import type { LiveViews } from '../views/views.ts';
import { anyReaches } from './ask-peers.ts';
import { hashSettings } from './hash-settings.ts';
import type { Ownership, OwnershipParts } from './ownership.ts';

/** One of the daemons that share a PostgreSQL database: it does the work while it owns the accounts, and stands by otherwise. */
export async function ownShared(postgres: PostgresSettings, parts: OwnershipParts): Promise<Ownership> {
  const { log, version, makeDaemon } = parts;
  const { url, leaseMs, aloneForMs, advertise } = postgres;
  const now = systemClock.now;
  const startedAt = now();
  let { settings } = parts;
  let configHash = hashSettings(settings, postgres);
  let configLoadedAt = startedAt;
  let refused: string | null = null;
  let work: { readonly daemon: Daemon; readonly views: LiveViews } | null = null;
  const cluster = await openCluster({ url, leaseMs, log, now, program: `lowwater ${version}` });

  const finish = async (): Promise<void> => {
    const finished = work;
    work = null;
    views.switched();
    await finished?.daemon.stop();
  };
  const membership = new Membership({
    cluster,
    clock: systemClock,
    log,
    newIncarnation: () => systemRandom.id(),
    card: () => ({ node: postgres.node ?? hostname(), advertise, configHash }),
    leaseMs,
    aloneForMs,
    anyReaches: (members) => anyReaches(members, systemClock),
    begin({ store, stored }) {
      const daemon = makeDaemon({
        settings,
        store,
        stored,
        owns: () => membership.holds(),
        maySend: () => membership.maySend(),
        handOver: () => void membership.handOver(),
      });
      const standing = () => membership.standing;
      work = { daemon, views: createLiveViews(daemon, store, version, standing) };
      daemon.start();
      views.switched();
      log.info({ accounts: settings.accounts.length }, 'this daemon owns the accounts');
    },
    abandon() {
      const abandoned = work;
      work = null;
      views.switched();
      void abandoned?.daemon.forsake();
    },
    finish,
  });
  const standby = await createStandbyViews({
    settings: () => settings,
    reader: cluster.reader,
    revision: () => membership.revision,
    leaveOrder: (order) => cluster.leaveOrder(order),
    clock: systemClock,
    random: systemRandom,
    calendar: cronCalendar,
    counters: new Counting(log),
    ownerName: () => membership.standing.owner?.node ?? null,
    status: () => ({
      version,
      startedAt,
      // As long as it has not reached the database, it knows nothing of the accounts.
      ready: membership.standing.epoch !== null,
      problems: [
        ...(refused === null ? [] : [`config-invalid: ${refused}`]),
        ...membership.standing.problems,
      ],
      configLoadedAt,
      configReloadOk: refused === null,
      cluster: membership.standing,
    }),
  });
  const views = switchViews(() => work?.views ?? standby);
  return {
    views,
    reader: cluster.reader,
    begin: (fail) => void membership.run().catch(fail),
    apply(next) {
      settings = next;
      configHash = hashSettings(next, postgres);
      configLoadedAt = now();
      refused = null;
      work?.daemon.reload(next);
    },
    refuse(text) {
      refused = text;
      work?.daemon.reportInvalidConfiguration(text);
    },
    async end() {
      await finish();
      await membership.stop();
    },
    close: () => cluster.close(),
  };
}
