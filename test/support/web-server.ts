import { onTestFinished } from 'vitest';
import type { ServerSettings } from '../../src/domain/settings.ts';
import type { ServerLimits } from '../../src/http/options.ts';
import { startWebServer } from '../../src/http/server.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Trials } from '../../src/replay/trial.ts';
import { CurrentViews } from '../../src/views/current-views.ts';
import type { LiveViews } from '../../src/views/live-views.ts';
import { minuteMs, viewsNow } from './built-views.ts';
import { FakeViews } from './fake-views.ts';
import { startWorld, type World } from './world.ts';

export const ackKey = Buffer.alloc(32, 7);

/** Timers of the servers run so many times as fast: nobody reads what a test's page shows. */
export const hurry = 10;

/** The clock of what is shown; timers are real. */
class WebClock implements Clock {
  readonly #shown: () => number;
  /** How far the server is ahead of what it shows. */
  aheadMs = 0;
  passedMs = 0;
  hurry = hurry;

  constructor(shown: () => number) {
    this.#shown = shown;
  }

  now(): number {
    return this.#shown() + this.aheadMs;
  }

  monotonic(): number {
    return this.passedMs;
  }

  setTimer(delayMs: number, fire: () => void): () => void {
    const timer = setTimeout(fire, delayMs / this.hurry);
    return () => clearTimeout(timer);
  }
}

/** Where nothing is stored. */
export const noTrials: Pick<Trials, 'run'> = {
  run: ({ since }) => Promise.resolve({ since, until: viewsNow, tried: [], present: null }),
};

interface RunningPage {
  readonly url: string;
  readonly clock: WebClock;
  readonly logged: { readonly fields: object; readonly message: string }[];
  close(): Promise<void>;
}

export interface RunningServer extends RunningPage {
  readonly world: World;
  /** How many the daemon notifies of changes. */
  readonly listeners: () => number;
}

export interface FakeServer extends RunningPage {
  readonly views: FakeViews;
}

interface ServerParts {
  readonly trials?: Pick<Trials, 'run'>;
  readonly settings?: Partial<ServerSettings>;
  readonly limits?: Partial<ServerLimits>;
  readonly timezone?: string;
}

/** The real server on a free loopback port before a fake daemon. */
export async function runFakeServer(
  options: ServerParts & { readonly views?: FakeViews } = {},
): Promise<FakeServer> {
  const views = options.views ?? new FakeViews();
  return { ...(await serveViews(views, () => viewsNow, options)), views };
}

/** The real server on a free loopback port before a world; unless one is given, one account was read at `viewsNow`. */
export async function runServer(
  options: ServerParts & { readonly world?: World } = {},
): Promise<RunningServer> {
  const world = options.world ?? (await startWorld({}, { startAt: viewsNow - minuteMs }));
  let listeners = 0;
  const views: LiveViews = {
    ...world.views,
    subscribe: (changed) => {
      const end = world.views.subscribe(changed);
      listeners += 1;
      return () => {
        end();
        listeners -= 1;
      };
    },
  };
  const page = await serveViews(views, () => world.now, options);
  return { ...page, world, listeners: () => listeners };
}

/** The same, closed when the test ends. */
export async function serveWorld(world: World, options: ServerParts = {}): Promise<RunningServer> {
  const server = await runServer({ ...options, world });
  onTestFinished(() => server.close());
  return server;
}

async function serveViews(views: LiveViews, shown: () => number, options: ServerParts): Promise<RunningPage> {
  const clock = new WebClock(shown);
  const logged: { fields: object; message: string }[] = [];
  let ids = 0;
  const server = await startWebServer({
    database: () => '00ff00ff00ff00ff',
    timezone: options.timezone ?? 'UTC',
    reports: {
      ids: () => ['otp'],
      compose: async () => ({ text: 'Balances\n', report: { type: 'lowwater.report' } }),
      send: async () => [{ channel: 'ops', delivered: true, reason: null }],
    },
    views: new CurrentViews(views),
    trials: options.trials ?? noTrials,
    clock,
    log: recordLog(logged),
    random: {
      fraction: () => 0.5,
      id: () => {
        ids += 1;
        return `id-${ids}`;
      },
      bytes: (count) => Buffer.alloc(count, ++ids),
    },
    ackKey,
    settings: {
      host: '127.0.0.1',
      port: 0,
      publicUrl: null,
      token: null,
      allowUnauthenticated: false,
      openMetrics: false,
      viewerToken: null,
      trustedProxy: null,
      ...options.settings,
    },
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  return { url: server.url, clock, logged, close: () => server.close() };
}

function recordLog(logged: { fields: object; message: string }[]): Log {
  const record = (fields: object, message: string): void => {
    logged.push({ fields, message });
  };
  return { debug: record, info: record, warn: record, error: record, fatal: record };
}
