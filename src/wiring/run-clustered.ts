import { hostname } from 'node:os';
import { keepOrders } from '../cluster/kept-orders.ts';
import { Membership } from '../cluster/membership.ts';
import { createStandbyViews } from '../cluster/standby-views.ts';
import { describeParts, hashSettings } from '../config/hash-settings.ts';
import { Counting } from '../daemon/counting.ts';
import type { Daemon } from '../daemon/daemon.ts';
import { atMost } from '../daemon/ending.ts';
import { keyOf } from '../domain/json.ts';
import { onStorageError, StorageError } from '../domain/operator-error.ts';
import type { PostgresSettings } from '../domain/settings.ts';
import { noteClusterChange } from '../engine/self-alerts.ts';
import { storeAgain, takeUnstored } from '../engine/unstored.ts';
import type { ClusterMember, PeerAnswer, Role } from '../ports/cluster.ts';
import type { Unstored } from '../ports/store.ts';
import { openCluster } from '../store/postgres/open-cluster.ts';
import { cronCalendar } from '../system/calendar.ts';
import { systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';
import { CurrentViews } from '../views/current-views.ts';
import { createLiveViews } from '../views/live-views.ts';
import { hearChats, type Ownership, type OwnershipDependencies, restore } from './run-single.ts';

/** One of the daemons that share a PostgreSQL database: it works while it owns the accounts, and stands by otherwise. */
export async function ownShared(
  postgres: PostgresSettings,
  parts: OwnershipDependencies,
): Promise<Ownership> {
  const { log, version, makeDaemon } = parts;
  const { leaseMs, aloneForMs, advertise } = postgres;
  let { url } = postgres;
  const now = systemClock.now;
  const node = postgres.node ?? hostname();
  const startedAt = now();
  const counting = new Counting(log);
  let { settings } = parts;
  let configHash = await hashSettings(settings, { url });
  let configLoadedAt = startedAt;
  let refused: string | null = null;
  let work: Daemon | null = null;
  if (advertise === null)
    log.warn(
      {},
      'cluster.advertise is not set: the daemons cannot ask one another who polls while the database is away, nor notice two primaries',
    );
  const cluster = openCluster({ url, leaseMs, log, now, program: `lowwater ${version}` });

  let published: string | null = null;
  const publish = async (): Promise<void> => {
    const hash = configHash;
    if (published === hash || !membership.clusterStatus.reachesDatabase) return;
    published = hash;
    try {
      await cluster.publishConfiguration(hash, JSON.stringify(await describeParts(settings, { url })));
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      published = null;
    }
  };
  /** Work that was done from memory, to be left for the daemon that has the accounts now. */
  const unstored: (readonly [id: string, Unstored])[] = [];
  let isLeaving = false;
  const leaveUnstored = async (): Promise<void> => {
    if (isLeaving) return;
    isLeaving = true;
    while (unstored[0] !== undefined && membership.clusterStatus.reachesDatabase) {
      if (!(await cluster.leaveUnstored(...unstored[0]).then(() => true, onStorageError(false)))) break;
      unstored.shift();
    }
    isLeaving = false;
  };
  const announce = (happened: string): void => {
    const daemon = work;
    daemon?.act((at) => noteClusterChange(daemon.state, happened, at));
  };
  /** Stores again what the database lost. A database that fails over cannot always be read at the first try. */
  const compare = async (daemon: Daemon | null): Promise<void> => {
    if (daemon === null || work !== daemon) return;
    const again = storeAgain(daemon.state);
    const stored = await cluster.reader.load().catch(onStorageError(null));
    if (stored === null) {
      await new Promise<void>((resolve) => systemClock.setTimer(leaseMs, resolve));
      return compare(daemon);
    }
    if (work === daemon) daemon.act((at) => again(stored, at));
  };
  const membership = new Membership({
    cluster,
    clock: systemClock,
    log,
    newIncarnation: () => systemRandom.id(),
    card: () => ({ node, advertise, configHash }),
    leaseMs,
    aloneForMs,
    askPeers,
    restore: (stored, before) => {
      const isOther = before !== null && before.configHash !== configHash;
      return restore(settings, stored, isOther ? { node, from: before.node } : null);
    },
    begin({ store, state, takenFrom }) {
      const daemon = makeDaemon({ store, state, membership, counting });
      work = daemon;
      daemon.start(refused);
      // The settings may have changed while the state was made from them.
      if (state.settings !== settings) {
        void daemon.reload(settings);
        if (refused !== null) daemon.reportInvalidConfiguration(refused);
      }
      const acting = createLiveViews(daemon, version, () => membership.clusterStatus);
      const live = {
        ...acting,
        isKnown: () => !membership.isBlind,
        // Taking the accounts is not a start of the process, and loads no file.
        status: () => ({ ...acting.status(), startedAt, configLoadedAt }),
      };
      views.become(live);
      hearChats(daemon, live, log);
      log.info({ accounts: settings.accounts.length }, 'this daemon owns the accounts');
      if (takenFrom !== null && postgres.announceTakeovers)
        announce(
          takenFrom === node
            ? `${node} owns the accounts again, which it had not handed over`
            : `${node} has taken the accounts over from ${takenFrom}, which did not hand them over`,
        );
    },
    abandon() {
      const abandoned = work;
      work = null;
      standby.forget();
      views.become(standby);
      void abandoned?.abandon();
      if (abandoned === null) return;
      for (const each of takeUnstored(abandoned.state, abandoned.now()))
        unstored.push([systemRandom.id(), each]);
    },
    drain: async (aheadMs) => work?.drain(aheadMs),
    takenBack: () => compare(work),
    looked: () => void publish().then(leaveUnstored).then(orders.looked),
    happened: announce,
  });
  const orders = keepOrders({ ...cluster, clock: systemClock, log, news: () => membership.news });
  const standby = await createStandbyViews({
    settings: () => settings,
    reader: cluster.reader,
    revision: () => membership.news.revision,
    heardAt: () => membership.news.heardAt,
    leaseMs,
    leaveOrder: orders.leave,
    clock: systemClock,
    random: systemRandom,
    calendar: cronCalendar,
    counters: counting,
    owner: () => membership.clusterStatus.owner,
    ownerElsewhere: () => membership.ownerElsewhere,
    programs: () => membership.news.programs,
    status: () => ({
      version,
      startedAt,
      // A daemon that has never reached the database knows nothing of the accounts.
      ready: membership.clusterStatus.ready,
      problems: [
        ...(refused === null ? [] : [`config-invalid: ${refused}`]),
        ...membership.clusterStatus.problems,
      ],
      configLoadedAt,
      configReloadOk: refused === null,
      cluster: membership.clusterStatus,
    }),
  });
  const views = new CurrentViews(standby);
  return {
    views,
    get reader() {
      return work?.reader ?? cluster.reader;
    },
    databaseId: cluster.databaseId,
    begin: (fail) => void membership.run().catch(fail),
    async apply(next) {
      url = next.storage.postgres?.url ?? url;
      cluster.signIn(url);
      configHash = await hashSettings(next, { url });
      settings = next;
      configLoadedAt = now();
      refused = null;
      await work?.reload(next);
    },
    refuse(text) {
      refused = text;
      work?.reportInvalidConfiguration(text);
    },
    async end() {
      const until = systemClock.monotonic() + endMs;
      const finished = work;
      work = null;
      views.become(standby);
      await finished?.stop();
      await atMost(systemClock, Math.max(0, until - systemClock.monotonic()), membership.stop());
    },
    close: () => atMost(systemClock, closeMs, cluster.close()),
  };
}

/** The longest wait for a silent database at the end: the accounts are free once the lease is over. Docker kills after 10 s. */
const endMs = 8000;
const closeMs = 500;

/** A peer that does not answer within this time counts as silent. */
const patienceMs = 1500;

/** The answers of these daemons, of those that answer at their addresses. */
async function askPeers(members: readonly ClusterMember[]): Promise<readonly PeerAnswer[]> {
  const answers = await Promise.all(
    members.map(({ node, advertise }) => (advertise === null ? null : askPeer(node, advertise))),
  );
  return answers.filter((answer) => answer !== null);
}

async function askPeer(node: string, address: string): Promise<PeerAnswer | null> {
  const giveUp = new AbortController();
  const cancel = systemClock.setTimer(patienceMs, () => giveUp.abort());
  try {
    const response = await fetch(new URL('/readyz', address), { signal: giveUp.signal, redirect: 'error' });
    return readPeer(await response.json());
  } catch (error) {
    const isGone = error instanceof Error && keyOf(error.cause, 'code') === 'ECONNREFUSED';
    return isGone ? { node, reachesDatabase: false, owns: false, takenUnder: null, origin: null } : null;
  } finally {
    cancel();
  }
}

const rolesThatHave: ReadonlySet<unknown> = new Set<Role>(['loading', 'owner', 'alone']);

/** Reads `{"cluster":{"node":"n1","role":"owner","epoch":3,"reachesDatabase":true,"origin":{"system":"7…","timeline":2}}}`; 0.2 gives no origin. */
function readPeer(body: unknown): PeerAnswer | null {
  const cluster = keyOf(body, 'cluster');
  const node = keyOf(cluster, 'node');
  const origin = keyOf(cluster, 'origin');
  const role = keyOf(cluster, 'role');
  const epoch = keyOf(cluster, 'epoch');
  const [system, timeline] = [keyOf(origin, 'system'), keyOf(origin, 'timeline')];
  if (typeof node !== 'string') return null;
  return {
    node,
    reachesDatabase: keyOf(cluster, 'reachesDatabase') === true,
    owns: role === 'owner',
    takenUnder: rolesThatHave.has(role) && typeof epoch === 'number' ? epoch : null,
    origin: typeof system === 'string' && typeof timeline === 'number' ? { system, timeline } : null,
  };
}
