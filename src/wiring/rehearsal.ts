import { Daemon, type DaemonParts } from '../daemon/daemon.ts';
import type { Channel, Provider, Store } from '../daemon/ports.ts';
import type { Clock, Log } from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { emptyReader, nothingStored } from '../views/empty-reader.ts';

/** The start has the processor first, with its first look at every account. */
const beginAfterMs = 5000;
/** Between two steps, each of which takes a millisecond or two: polls go on meanwhile. */
const pauseMs = 4;
/** V8 compiles what has run some hundred times. */
const acts = 40;
/** What the provider says in an act: enough, too little of everything, enough. Twice, for the newest reading alone decides little. */
const balances = [1e15, -1e6, -1e6, 1e15, 1e15];

type Parts = Pick<DaemonParts, 'settings' | 'random' | 'calendar' | 'acknowledgeUrl'> & {
  readonly openChannels: (settings: Settings) => readonly Channel[];
  readonly clock: Clock;
};

/**
 * An alert is rare, and V8 compiles only what runs often: each would go through code that is as slow as on its first day, for most of
 * the time between the provider's answer and the message. So the daemon rehearses, some seconds after the start: the first account runs
 * dry and is paid for, with a stage for the world. Its clock jumps from timer to timer, its provider reads from a script, what it stores
 * is forgotten, and its messages end before the network (`Channel.rehearse`). Nothing of it is seen, logged or counted.
 *
 * Gives the end of it.
 */
export function rehearse(parts: Parts): () => void {
  let cancel = parts.clock.setTimer(beginAfterMs, () => void play());
  let over = false;
  const play = async (): Promise<void> => {
    const settings = onStage(parts.settings);
    const channels = parts.openChannels(settings);
    for (let act = 0; act < acts && !over; act++) await playAct({ ...parts, settings }, channels, nextStep);
    await Promise.all(channels.map((channel) => channel.close()));
  };
  const nextStep = (): Promise<boolean> =>
    new Promise((resolve) => {
      if (over) resolve(false);
      else cancel = parts.clock.setTimer(pauseMs, () => resolve(!over));
    });
  return () => {
    over = true;
    cancel();
  };
}

async function playAct(
  { settings, random, calendar, acknowledgeUrl, clock }: Parts,
  channels: readonly Channel[],
  nextStep: () => Promise<boolean>,
): Promise<void> {
  const stage = new StageClock(clock.now());
  const script = [...balances];
  const daemon = new Daemon({
    settings,
    store: forgetful,
    stored: nothingStored,
    clock: stage,
    random,
    calendar,
    log: silent,
    ping: async () => true,
    acknowledgeUrl,
    openProvider: () => readFrom(script, settings),
    openChannels: () => channels.map(stopShort),
    longestSleepMs: 86_400_000,
  });
  daemon.start();
  while (script.length > 0 && (await nextStep())) stage.next();
  // The last message.
  for (let step = 0; step < 4 && (await nextStep()); step++) stage.next();
  await daemon.forsake();
}

/** One account, of which a channel of each kind hears at once. */
function onStage(settings: Settings): Settings {
  const byKind = new Map(settings.channels.map((channel) => [channel.type, channel]));
  const channels = [...byKind.values()];
  const all = {
    match: {},
    channels: channels.map(({ name }) => name),
    repeatEveryMs: 86_400_000,
    groupWaitMs: 0,
    escalate: null,
    continue: false,
    mention: true,
  };
  return {
    ...settings,
    accounts: settings.accounts.slice(0, 1),
    channels,
    routes: [all],
    silences: [],
    reports: [],
    heartbeat: null,
  };
}

function readFrom(script: number[], { accounts }: Settings): Provider {
  const currency = accounts[0]?.currency ?? 'USD';
  return {
    async readBalance() {
      const micros = script.shift() ?? 0;
      return { kind: 'ok', answer: { sms: micros, voip: micros, currency }, durationMs: 1, usage: {} };
    },
    close: async () => undefined,
  };
}

function stopShort(channel: Channel): Channel {
  return {
    ...channel,
    minGapMs: 0,
    async send(message, signal) {
      await channel.rehearse?.(message, signal);
      return { kind: 'delivered' };
    },
    close: async () => undefined,
  };
}

const forgetful: Store = {
  ...emptyReader,
  backup: async () => undefined,
  commit: async () => undefined,
  takeOrders: async () => [],
  prune: async () => false,
};

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

/** A clock that stands still until it is sent to the next instant for which something waits. */
class StageClock implements Clock {
  readonly #startsAt: number;
  #elapsedMs = 0;
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();

  constructor(startsAt: number) {
    this.#startsAt = startsAt;
  }

  now(): number {
    return this.#startsAt + this.#elapsedMs;
  }

  monotonic(): number {
    return this.#elapsedMs;
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    const timer = { at: this.#elapsedMs + delayMs, fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  next(): void {
    const [first] = [...this.#timers].sort((left, right) => left.at - right.at);
    if (first === undefined) return;
    this.#timers.delete(first);
    this.#elapsedMs = Math.max(this.#elapsedMs, first.at);
    first.fire();
  }
}
