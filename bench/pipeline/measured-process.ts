import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readdirSync, readFileSync } from 'node:fs';

/** Kernel ticks a second in /proc/PID/stat: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** A program whose processor time and memory are read from outside, as the kernel counts them. */
export interface MeasuredProcess {
  /** Instant of the start on the machine's monotonic clock, milliseconds. */
  readonly startedAt: number;
  /** Seconds of processor time that it has used, all threads. */
  cpuSeconds(): number;
  /** How often one of its threads waited and was woken: voluntary context switches. */
  wakeUps(): number;
  residentMegabytes(): number;
  peakMegabytes(): number;
  /** Its exit code, once it ends by itself or is ended. */
  readonly ended: Promise<number | null>;
  /** Ends it in good order; gives its exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** As the container and the systemd unit start it. */
export const deployedFlags = [
  '--disable-sigusr1',
  '--min-semi-space-size=2',
  '--no-concurrent-recompilation',
] as const;
export const deployedVariables = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' } as const;

/** Starts a script by this Node, with its output in a file. `script` may begin with flags of Node. */
export function startMeasured(script: readonly string[], outputFile: string): MeasuredProcess {
  const output = openSync(outputFile, 'a');
  const startedAt = Number(process.hrtime.bigint()) / 1e6;
  const child = spawn(process.execPath, script, {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...deployedVariables },
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${script.join(' ')}`);
  const stop = (): boolean => child.kill('SIGKILL');
  process.on('exit', stop);
  const ended = new Promise<number | null>((resolve) =>
    child.once('exit', (code) => {
      process.off('exit', stop);
      resolve(code);
    }),
  );
  return {
    startedAt,
    ended,
    cpuSeconds: () => readCpuSeconds(child, pid),
    wakeUps: () => readWakeUps(pid),
    residentMegabytes: () => readMegabytes(pid, 'VmRSS'),
    peakMegabytes: () => readMegabytes(pid, 'VmHWM'),
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

function readCpuSeconds(child: ChildProcess, pid: number): number {
  if (child.exitCode !== null) throw new Error(`the measured program ended early with ${child.exitCode}`);
  // The name in the second field may hold blanks; the fields after its bracket are numbered from 3 (proc(5)).
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

function readMegabytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return Number(kilobytes) / 1024;
}

function readWakeUps(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  }, 0);
}
