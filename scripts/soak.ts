import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { deployedFlags, deployedVariables } from '../bench/pipeline/measured-process.ts';
import { dayMs, minuteMs, parseDuration } from '../src/domain/time.ts';
import { type ScenarioInput, scenarioSchema } from '../src/simulator/scenario.ts';
import { openSqliteReader } from '../src/store/sqlite/reader.ts';
import { systemClock } from '../src/system/clock.ts';
import { systemRandom } from '../src/system/random.ts';
import { drawSparkline } from '../src/wording/sparkline.ts';
import { type BuiltProcess, startNode } from '../test/support/built-program.ts';
import { eventually } from '../test/support/eventually.ts';
import { freePort } from '../test/support/free-port.ts';
import { startMailSink } from '../test/support/mail-sink.ts';
import { startSimulator } from '../test/support/simulator.ts';
import { startSlackSink } from '../test/support/slack-sink.ts';

/**
 * A simulated month of the daemon on an accelerated clock, over real sockets and a real database: 100
 * accounts that spend by the hour, are topped up daily, and meet outages, wrong bodies and a revoked key.
 * Prints once a simulated day what the system says of the process, and ends with 1 when memory, open files or
 * the database keep growing. Two hours of a thousand accounts, in about four minutes:
 *
 *     npm run soak -- --days 0.0833 --step 5m --speed 30 --accounts 1000 --every 20s
 *
 * At `--speed 1` it is the built program, and its pages are read once a minute.
 */
const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '30' },
    speed: { type: 'string', default: '1000' },
    accounts: { type: 'string', default: '100' },
    every: { type: 'string', default: '5m' },
    step: { type: 'string', default: '1d' },
  },
});
const stepMs = parseDuration(values.step) ?? dayMs;
/** So many lines are printed, one a step. */
const steps = Math.round((Number(values.days) * dayMs) / stepMs);
const speed = Number(values.speed);
/** What ships has no clock that could run faster. */
const isReal = speed === 1;
const accountCount = Number(values.accounts);

const retentionDays = 5;

interface Sample {
  readonly step: number;
  readonly residentMb: number;
  /** Heap and buffers in use, after garbage was collected; null for what ships, which does not say. */
  readonly heapMb: number | null;
  readonly files: number;
  readonly databaseKb: number;
  readonly logKb: number;
  readonly polls: number;
  readonly messages: number;
}

// No disk waits a thousand times faster than another: the database lies in memory where the system has a
// place for that.
const memory = '/dev/shm';
const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'lowwater-soak-'));
const port = await freePort();
const provider = await startSimulator({
  host: '127.0.0.1',
  port: 0,
  scenario: scenarioSchema.parse(makeScenario()),
  clock: systemClock,
  random: systemRandom,
});
const slack = await startSlackSink();
const mail = await startMailSink();
try {
  process.exitCode = await soak();
} finally {
  await Promise.all([provider.close(), slack.close(), mail.close()]);
  rmSync(folder, { recursive: true, force: true });
}

async function soak(): Promise<number> {
  const configFile = join(folder, 'config.json');
  writeFileSync(configFile, JSON.stringify(makeConfiguration(), null, 2));
  const daemon = startNode([...deployedFlags, ...programOf(configFile)], { env: deployedVariables });
  await eventually(
    'the first polls',
    () => provider.control.requests() > 0 || daemon.child.exitCode !== null,
  );
  process.stdout.write(
    `${values.days} days at ${speed} x real time, ${accountCount} accounts every ${values.every}, a line each ${values.step}\n\n`,
  );
  process.stdout.write(
    'step  resident MB   heap MB   open files   database KB   log KB      polls   messages\n',
  );
  const samples: Sample[] = [];
  for (let step = 1; step <= steps; step += 1) {
    if (isReal) await readPagesFor(stepMs);
    else {
      await eventually(
        `step ${step}`,
        () => heapAfter(daemon.output().stdout, step) !== null || daemon.child.exitCode !== null,
        600_000,
      );
    }
    if (daemon.child.exitCode !== null)
      throw new Error(`the daemon ended: ${JSON.stringify(await daemon.ended)}`);
    const sample = measure(daemon, step);
    samples.push(sample);
    printSample(sample);
  }
  daemon.child.kill('SIGTERM');
  const { code, stderr } = await daemon.ended;
  return judge(samples, { code, stderr });
}

function programOf(configFile: string): readonly string[] {
  if (isReal) return [join(import.meta.dirname, '../dist/main.js'), 'run', '--config', configFile];
  const entry = join(import.meta.dirname, '../test/support/patient-daemon.ts');
  return ['--expose-gc', entry, configFile, String(speed), String(stepMs)];
}

async function readPagesFor(ms: number): Promise<void> {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    for (const path of [
      '/',
      '/?sort=burn',
      '/alerts',
      '/pay',
      '/review',
      '/accounts/account-1',
      '/metrics',
    ]) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { accept: 'text/html,*/*' },
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} was answered with ${response.status}`);
    }
    await sleep(Math.min(minuteMs, Math.max(0, until - Date.now())));
  }
}

function makeScenario(): ScenarioInput {
  const accounts = Array.from({ length: accountCount }, (_, index) => ({
    id: `account-${index}`,
    authSecret: `soak-secret-${index}`,
    sms: String(300 + index),
    voip: '500',
    currency: 'CNY',
    burn: {
      sms: [
        { from: 0, to: 7, perHour: '2.5' },
        { from: 7, to: 23, perHour: '18.125' },
        { from: 23, to: 24, perHour: '6' },
      ],
      voip: '1',
    },
  }));
  return {
    speed,
    accounts,
    events: [
      ...accounts.flatMap(({ id }, index) => [
        { at: `${6 + (index % 24)}h`, every: '1d', do: 'top-up' as const, account: id, amount: '313.5' },
        {
          at: '20d',
          every: '20d',
          do: 'top-up' as const,
          account: id,
          balance: 'voip' as const,
          amount: '480',
        },
      ]),
      { at: '50h', every: '5d', do: 'outage', as: 'http-error', status: 503, for: '3h' },
      { at: '70h', every: '3d', do: 'outage', as: 'reset', for: '2h', account: 'account-1' },
      {
        at: '30h',
        every: '4d',
        do: 'wrong-body',
        body: { code: -32, msg: 'Too Many Requests' },
        for: '1h',
        account: 'account-2',
      },
      { at: '40h', every: '6d', do: 'revoke-key', account: 'account-3' },
      { at: '45h', every: '6d', do: 'restore-key', account: 'account-3' },
    ],
  };
}

function makeConfiguration(): object {
  return {
    provider: { baseUrl: provider.url, maxRequestsPerSecond: 20 },
    poll: { every: values.every },
    accounts: Array.from({ length: accountCount }, (_, index) => ({
      id: `account-${index}`,
      name: `Account number ${index}`,
      authSecret: `soak-secret-${index}`,
      currency: 'CNY',
    })),
    rules: [
      {
        id: 'sms-low',
        type: 'below',
        thresholds: { info: 120, warning: 60, critical: 20 },
        hysteresis: '10%',
      },
      { id: 'runway', type: 'runway', within: '4h', balance: 'voip' },
      { id: 'drop', type: 'drop', by: '90%', window: '6h' },
      { id: 'top-up', type: 'top-up', atLeast: 400, balance: 'voip' },
      { id: 'stale', type: 'stale', after: '2h' },
    ],
    channels: {
      ops: { type: 'slack', webhookUrl: slack.url },
      hook: { type: 'webhook', url: `${slack.origin}/hook` },
      finance: {
        type: 'email',
        smtpUrl: mail.url,
        from: 'lowwater@example.com',
        to: ['finance@example.com'],
      },
    },
    routes: [
      { match: { account: 'account-1' }, channels: ['finance'], continue: true, repeatEvery: '12h' },
      { channels: ['ops', 'hook'], groupWait: '10m', repeatEvery: '12h' },
    ],
    reports: [{ id: 'daily', cron: '0 9 * * *', channels: ['ops'] }],
    server: isReal ? { port } : null,
    // Shorter than the month, so that the database can show that it levels off.
    storage: { retention: `${retentionDays}d` },
    log: { level: 'error' },
  };
}

/** What the daemon said of its heap after a step, in bytes; null before it did. */
function heapAfter(stdout: string, step: number): number | null {
  const line = stdout.split('\n').find((one) => one.startsWith(`{"step":${step},`));
  return line === undefined ? null : (JSON.parse(line) as { heapBytes: number }).heapBytes;
}

function heapInMb(stdout: string, step: number): number | null {
  const bytes = heapAfter(stdout, step);
  return bytes === null ? null : bytes / 1024 / 1024;
}

function measure(daemon: BuiltProcess, step: number): Sample {
  const pid = daemon.child.pid ?? 0;
  const kib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const database = join(folder, 'lowwater.db');
  return {
    step,
    residentMb: kib / 1024,
    heapMb: heapInMb(daemon.output().stdout, step),
    files: readdirSync(`/proc/${pid}/fd`).length,
    databaseKb: statSync(database).size / 1024,
    logKb: (statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 1024,
    polls: provider.control.requests(),
    messages: slack.posts.length + mail.count(),
  };
}

function printSample(sample: Sample): void {
  const cells = [
    String(sample.step).padStart(4),
    sample.residentMb.toFixed(1).padStart(13),
    (sample.heapMb?.toFixed(1) ?? '-').padStart(10),
    String(sample.files).padStart(13),
    sample.databaseKb.toFixed(0).padStart(14),
    sample.logKb.toFixed(0).padStart(9),
    String(sample.polls).padStart(11),
    String(sample.messages).padStart(11),
  ];
  process.stdout.write(`${cells.join('')}\n`);
}

/**
 * Levels off: the lowest of the last fifth of the steps is at most a tenth above the lowest of the middle fifth. What comes and goes, as
 * connections and garbage do, falls back to its lower edge; what leaks lifts it.
 */
function judge(
  samples: readonly Sample[],
  ended: { readonly code: number | null; readonly stderr: string },
): number {
  const fifth = Math.max(1, Math.floor(steps / 5));
  const early = samples.slice(2 * fifth, 3 * fifth);
  const late = samples.slice(-fifth);
  const rows = [
    ['resident memory, MB', ({ residentMb }: Sample) => residentMb],
    ['open files', ({ files }: Sample) => files],
    ['database, KB', ({ databaseKb }: Sample) => databaseKb],
  ] as const;
  process.stdout.write('\n');
  let grows = false;
  for (const [name, of] of rows) {
    const ratio = Math.min(...late.map(of)) / Math.min(...early.map(of));
    // The database grows by itself until the first of it is old enough to be deleted.
    const isDue = name !== 'database, KB' || Number(values.days) > 2 * retentionDays;
    if (isDue && ratio > 1.1) grows = true;
    const points = samples.map((sample) => ({ at: sample.step, value: of(sample) }));
    const curve = drawSparkline({ points, since: 1, until: steps + 1, width: Math.min(steps, 60) });
    process.stdout.write(
      `${name.padEnd(22)}${curve}  lowest of the last fifth / of the middle fifth = ${ratio.toFixed(3)}\n`,
    );
  }
  const reader = openSqliteReader({ path: join(folder, 'lowwater.db'), now: Date.now });
  const states = reader.messages(1_000_000).map(({ state }) => state);
  const incidents = reader.incidents({ limit: 1_000_000 });
  reader.close();
  const open = incidents.filter(({ resolvedAt, event }) => resolvedAt === null && !event).length;
  const undelivered = states.filter((state) => state !== 'delivered').length;
  process.stdout.write(
    `kept at the end: ${incidents.length} incidents (${open} open), ${states.length} messages, ${undelivered} of them not delivered\n`,
  );
  const fine = !grows && ended.code === 0 && ended.stderr === '';
  process.stdout.write(
    fine ? 'levels off\n' : `does NOT hold: exit code ${ended.code}, grows: ${grows}\n${ended.stderr}`,
  );
  return fine ? 0 : 1;
}
