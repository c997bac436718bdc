import { writeSync } from 'node:fs';
import { createPing } from '../../src/channels/ping.ts';
import { createChannel } from '../../src/channels/registry.ts';
import { loadConfigFile } from '../../src/config/load-config.ts';
import { Daemon } from '../../src/daemon/daemon.ts';
import { createForeignTexts } from '../../src/domain/foreign-text.ts';
import { startMonitor } from '../../src/engine/restore.ts';
import type { Channel } from '../../src/ports/channel.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Provider } from '../../src/ports/provider.ts';
import type { Store } from '../../src/ports/store.ts';
import { createEntryClients } from '../../src/providers/transport/client.ts';
import { openStore } from '../../src/store/store.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import { createLog } from '../../src/system/log.ts';
import { systemRandom } from '../../src/system/random.ts';

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

/**
 * The daemon over its real ports, wired as `lowwater run` wires it but for the clock and what `changes`
 * replace; from the sources, for the built program is a bundle that has no ports to take hold of.
 * `providerClock` measures the provider's deadlines, which real sockets keep in real time.
 */
export async function wireDaemon(order: {
  readonly configFile: string;
  readonly clock: Clock;
  readonly providerClock?: Clock;
  readonly changes?: PortChanges;
}): Promise<WiredDaemon> {
  const { configFile, clock, providerClock = clock, changes = {} } = order;
  const { loaded } = await loadConfigFile({
    path: configFile,
    env: {},
    calendar: cronCalendar,
    now: clock.now(),
  });
  if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems));
  const { settings } = loaded;
  const log = createLog({
    level: settings.log.level,
    destination: { write: (line) => writeSync(1, line) },
    pretty: false,
  });
  log.addSecrets(loaded.secrets);
  const {
    store: changeStore = (it) => it,
    channel = (it) => it,
    provider: changeProvider = (it) => it,
  } = changes;
  const store = changeStore(
    openStore({
      path: settings.storage.path ?? '',
      log,
      now: clock.now,
      program: 'lowwater (wired by a test)',
    }),
  );
  const texts = createForeignTexts(loaded.secrets);
  const daemon = new Daemon({
    store,
    state: startMonitor({
      settings,
      stored: await store.load(),
      calendar: cronCalendar,
      random: systemRandom,
      now: clock.now(),
    }),
    openProvider: (current) =>
      changeProvider(createEntryClients(current, { texts, clock: providerClock, random: systemRandom })),
    openChannels: (current) =>
      current.channels.map((one) => channel(createChannel(one, { clock: providerClock, texts }))),
    clock,
    log,
    ping: createPing(providerClock),
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
