import { writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Channel, Provider, Store } from '../../src/daemon/ports.ts';
import type { Clock } from '../../src/domain/ports.ts';
import { builtMain } from './built-program.ts';

/** The ports of a wired daemon as a test may replace them; each gets the real one. */
export interface PortChanges {
  readonly store?: (store: Store) => Store;
  readonly channel?: (channel: Channel) => Channel;
  readonly provider?: (provider: Provider) => Provider;
}

export interface WiredDaemon {
  readonly store: Store;
  stop(): Promise<void>;
}

const builtRoot = pathToFileURL(join(dirname(builtMain), '/'));

/** A module of the built program. The cast holds because it was compiled from that source. */
function built(path: string): Promise<unknown> {
  return import(new URL(path, builtRoot).href);
}

/**
 * The built program's daemon over its real ports, wired as `lowwater run` wires it but for the clock and what
 * `changes` replace. `providerClock` measures the provider's deadlines, which real sockets keep in real time.
 */
export async function wireDaemon(order: {
  readonly configFile: string;
  readonly clock: Clock;
  readonly providerClock?: Clock;
  readonly changes?: PortChanges;
}): Promise<WiredDaemon> {
  const { configFile, clock, providerClock = clock, changes = {} } = order;
  const [config, stores, daemons, providers, channels, foreign, pings, systems, random, logs] =
    (await Promise.all(
      [
        'config/load-config.js',
        'store/store.js',
        'daemon/daemon.js',
        'provider/client.js',
        'channels/create-channel.js',
        'domain/foreign-text.js',
        'channels/ping.js',
        'system/calendar.js',
        'system/random.js',
        'system/log.js',
      ].map(built),
    )) as unknown as [
      typeof import('../../src/config/load-config.ts'),
      typeof import('../../src/store/store.ts'),
      typeof import('../../src/daemon/daemon.ts'),
      typeof import('../../src/provider/client.ts'),
      typeof import('../../src/channels/create-channel.ts'),
      typeof import('../../src/domain/foreign-text.ts'),
      typeof import('../../src/channels/ping.ts'),
      typeof import('../../src/system/calendar.ts'),
      typeof import('../../src/system/random.ts'),
      typeof import('../../src/system/log.ts'),
    ];
  const { loaded } = await config.loadConfigFile({
    path: configFile,
    env: {},
    findCronProblem: systems.findCronProblem,
    calendar: systems.cronCalendar,
    now: clock.now(),
  });
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
  const { settings } = loaded;
  const log = logs.createLog({
    level: settings.log.level,
    destination: { write: (line) => writeSync(1, line) },
    pretty: false,
    secrets: loaded.secrets,
  });
  const {
    store: changeStore = (it) => it,
    channel = (it) => it,
    provider: changeProvider = (it) => it,
  } = changes;
  const store = changeStore(
    stores.openStore({
      path: settings.storage.path ?? '',
      log,
      now: clock.now,
      program: 'lowwater (wired by a test)',
    }),
  );
  const texts = foreign.createForeignTexts(loaded.secrets);
  const daemon = new daemons.Daemon({
    settings,
    store,
    stored: await store.load(),
    openProvider: ({ provider }) =>
      changeProvider(providers.createProviderClient({ ...provider, texts, clock: providerClock })),
    openChannels: (current) =>
      current.channels.map((one) => channel(channels.createChannel(one, { clock: providerClock, texts }))),
    clock,
    random: random.systemRandom,
    calendar: systems.cronCalendar,
    log,
    ping: pings.createPing(providerClock),
    acknowledgeUrl: () => null,
  });
  daemon.start();
  return {
    store,
    async stop() {
      await daemon.stop();
      await store.close();
    },
  };
}
