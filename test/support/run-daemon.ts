import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/ports/clock.ts';
import { type Scenario, type ScenarioInput, scenarioSchema } from '../../src/simulator/scenario.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { type BuiltProcess, type Ended, runBuilt, startBuilt } from './built-program.ts';
import { eventually } from './eventually.ts';
import { type MailSink, startMailSink } from './mail-sink.ts';
import { type Simulator, startSimulator } from './simulator.ts';
import { type SlackSink, startSlackSink } from './slack-sink.ts';

/** The parts of a configuration that tests change. */
export type Config = Readonly<Record<string, unknown>>;

/** A daemon of the built program while it runs. */
export interface RunningDaemon extends BuiltProcess {
  readonly pid: number;
  /** The page's address; empty without a server. */
  readonly url: string;
  /** Lines of the log so far. */
  log(): readonly LogLine[];
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<unknown>;
  post(path: string, body?: object): Promise<unknown>;
  /** SIGTERM, and its end. */
  stop(): Promise<Ended>;
  /** SIGKILL, and its end. */
  kill(): Promise<Ended>;
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** A folder with a configuration, a simulated provider, and receivers of Slack messages and mail. */
export interface Bed {
  readonly folder: string;
  readonly configFile: string;
  readonly provider: Simulator;
  readonly slack: SlackSink;
  readonly mail: MailSink;
  /** Writes the configuration: the usual one, with these keys in the place of its own. */
  configure(changes?: Config): void;
  /** Starts the daemon and waits until it runs. */
  start(env?: Readonly<Record<string, string>>): Promise<RunningDaemon>;
  /** Starts the daemon without waiting. */
  launch(env?: Readonly<Record<string, string>>): BuiltProcess;
  /** Runs another command on the same configuration. */
  command(...words: readonly string[]): Promise<Ended>;
  close(): Promise<void>;
}

export const otpSecret = 'otp+Secret/4711=key';

const usualScenario: ScenarioInput = {
  accounts: [{ id: 'otp', authSecret: otpSecret, sms: '1000', voip: '40', currency: 'CNY' }],
};

/** Everything that the built program talks to, on loopback. `config` and `scenario` replace parts of the usual ones. */
export async function makeBed(
  options: { readonly config?: Config; readonly scenario?: ScenarioInput; readonly clock?: Clock } = {},
): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-e2e-'));
  const configFile = join(folder, 'config.json');
  const scenario: Scenario = scenarioSchema.parse(options.scenario ?? usualScenario);
  const provider = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    scenario,
    clock: options.clock ?? systemClock,
    ownDate: options.clock !== undefined,
    random: systemRandom,
  });
  const slack = await startSlackSink();
  const mail = await startMailSink();
  const processes = new Set<BuiltProcess>();
  const usual = { ...usualConfig({ provider, slack, mail, scenario }), ...options.config };
  const bed: Bed = {
    folder,
    configFile,
    provider,
    slack,
    mail,
    configure: (changes = {}) => writeFileSync(configFile, JSON.stringify({ ...usual, ...changes }, null, 2)),
    launch(env = {}) {
      const launched = startBuilt(['run', '--config', configFile], { cwd: folder, env });
      processes.add(launched);
      void launched.ended.then(() => processes.delete(launched));
      return launched;
    },
    start: async (env = {}) => untilRunning(bed.launch(env)),
    command: (...words) => runBuilt([...words, '--config', configFile], { cwd: folder }),
    async close() {
      for (const { child } of processes) child.kill('SIGKILL');
      await Promise.all([...processes].map(({ ended }) => ended));
      await Promise.all([provider.close(), slack.close(), mail.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  bed.configure();
  return bed;
}

/** Makes a bed for one test and clears it away no matter what happens. */
export async function withBed(
  options: { readonly config?: Config; readonly scenario?: ScenarioInput },
  use: (bed: Bed) => Promise<void>,
): Promise<void> {
  const bed = await makeBed(options);
  try {
    await use(bed);
  } finally {
    await bed.close();
  }
}

/** The usual configuration: one Slack channel, one mail channel, no waiting for company, polls every second. */
function usualConfig(it: {
  readonly provider: Simulator;
  readonly slack: SlackSink;
  readonly mail: MailSink;
  readonly scenario: Scenario;
}): Config {
  return {
    provider: { baseUrl: it.provider.url, timeout: '5s', maxRequestsPerSecond: 20 },
    poll: { every: '1s' },
    accounts: it.scenario.accounts.map(({ id, authSecret }) => ({ id, authSecret })),
    rules: [{ id: 'sms-low', type: 'below', thresholds: { warning: 200, critical: 50 } }],
    channels: {
      ops: { type: 'slack', webhookUrl: it.slack.url },
      finance: {
        type: 'email',
        smtpUrl: it.mail.url,
        from: 'Lowwater <lowwater@example.com>',
        to: ['finance@example.com'],
      },
    },
    routes: [{ channels: ['ops', 'finance'], groupWait: '0s' }],
    server: { port: 0 },
  };
}

/** Waits until a launched daemon says that it runs. */
export async function untilRunning(launched: BuiltProcess): Promise<RunningDaemon> {
  let over: Ended | null = null;
  void launched.ended.then((ended) => {
    over = ended;
  });
  const line = await eventually('the daemon runs', () => {
    if (over !== null) throw new Error(`the daemon ended: ${JSON.stringify(over)}`);
    return readLog(launched.output().stdout).find(({ msg }) => msg === 'started') ?? null;
  });
  const url = typeof line.url === 'string' ? line.url : '';
  const ask = async (path: string, init: RequestInit): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, init);
    return response.json();
  };
  const end = (signal: NodeJS.Signals) => {
    launched.child.kill(signal);
    return launched.ended;
  };
  return {
    ...launched,
    pid: launched.child.pid ?? 0,
    url,
    log: () => readLog(launched.output().stdout),
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, body = {}) =>
      ask(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** Whole lines only: the last may be on its way. */
function readLog(stdout: string): LogLine[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogLine);
}
