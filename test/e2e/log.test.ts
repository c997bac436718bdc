import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { builtMain, leanStart, startedSooner } from '../support/built-program.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Bed, withBed } from '../support/run-daemon.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

/** So many accounts fail at once that their lines are more than a pipe and the queue behind it hold; seldom, for the sake of a busy machine. */
const failing = Array.from({ length: 1000 }, (_, index) => ({
  id: `account-${index}`,
  authSecret: `key-of-account-${index}`,
  baseUrl: 'http://127.0.0.1:1',
  poll: { every: '20s' },
}));

interface Running {
  readonly child: ChildProcess;
  get(path: string): Promise<string>;
  /** `lowwater_log_lines_dropped_total`. */
  dropped(): Promise<number>;
}

/** Runs the daemon with this standard output until the test is over; its log may never be seen. */
async function run(
  { onTestFinished }: TestContext,
  bed: Bed,
  stdout: number | 'pipe',
  accounts: readonly object[] = [],
): Promise<Running> {
  const port = await freePort();
  const own = [{ id: 'otp', authSecret: 'otp-key-of-the-simulator' }];
  bed.configure({ server: { port }, accounts: [...own, ...accounts] });
  const child = spawn(process.execPath, [...leanStart, builtMain, 'run', '--config', bed.configFile], {
    cwd: bed.folder,
    env: { PATH: process.env.PATH ?? '', ...startedSooner(['run']) },
    stdio: ['ignore', stdout, 'ignore'],
  });
  // One that a failed test leaves behind would take its share of the machine from all others.
  onTestFinished(() => void child.kill('SIGKILL'));
  const get = async (path: string): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(120_000) });
    return response.text();
  };
  const dropped = async (): Promise<number> =>
    Number(/^lowwater_log_lines_dropped_total (\d+)$/m.exec(await get('/metrics'))?.[1]);
  return { child, get, dropped };
}

/** That it polls, answers and tells, no matter what became of its log. */
async function expectAtWork(bed: Bed, { get, child }: Running): Promise<void> {
  await eventually('it answers', async () => (await get('/livez').catch(() => '')).length > 0);
  bed.provider.control.setBalance('otp', 'sms', '100');
  await eventually('the alert goes out', () => bed.slack.posts.some(({ text }) => /100\.00 CNY/.test(text)));
  expect(child.exitCode).toBeNull();
}

async function expectOrderlyEnd({ child }: Running): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
}

const scenario = {
  accounts: [{ id: 'otp', authSecret: 'otp-key-of-the-simulator', sms: '1000', currency: 'CNY' }],
};

describe.concurrent('a log that cannot be written stops nothing', () => {
  it('on a full disk: lines are dropped and counted, and one says so when there is room again', (context) =>
    withBed({ scenario }, async (bed) => {
      const disk = mountSmallDisk(join(bed.folder, 'log'), 'size=1m');
      if (disk === null) context.skip('only root can mount a small file system');
      const file = join(bed.folder, 'log', 'lowwater.log');
      const stdout = openSync(file, 'a');
      try {
        disk?.fill();
        const daemon = await run(context, bed, stdout);
        await expectAtWork(bed, daemon);
        expect(await daemon.dropped()).toBeGreaterThan(0);
        disk?.free();
        bed.provider.control.fail({ kind: 'reset' });
        await eventually('the log goes on', () => /could not be written/.test(readFileSync(file, 'utf8')));
        const lines = readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        const [item] = lines.filter(({ msg }) => msg === 'lines of the log could not be written');
        expect(item).toMatchObject({ level: 'warn', dropped: expect.any(Number) });
        expect(item.dropped).toBeGreaterThan(0);
        await expectOrderlyEnd(daemon);
      } finally {
        closeSync(stdout);
        disk?.unmount();
      }
    }));

  it('into a pipe that nobody reads: it goes on, counts, and says so once it is read', (context) =>
    withBed({ scenario }, async (bed) => {
      const fifo = join(bed.folder, 'fifo');
      execFileSync('mkfifo', [fifo]);
      const pipe = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
      const writer = openSync(fifo, constants.O_WRONLY);
      const daemon = await run(context, bed, writer, failing);
      await expectAtWork(bed, daemon);
      await eventually('lines are dropped', async () => (await daemon.dropped()) > 0);
      let read = '';
      await eventually('the log says so', async () => {
        // Each change of what the provider does makes a line, and it has to last for a poll.
        if (Math.floor(performance.now() / 1500) % 2 === 0) bed.provider.control.fail({ kind: 'reset' });
        else bed.provider.control.recover();
        read += drain(pipe);
        return /could not be written/.test(read);
      });
      bed.provider.control.recover();
      await expectOrderlyEnd(daemon);
      closeSync(pipe);
      closeSync(writer);
    }));

  it('into a pipe that nobody ever reads: it still ends when it is told to', (context) =>
    withBed({ scenario }, async (bed) => {
      const daemon = await run(context, bed, 'pipe', failing);
      await expectAtWork(bed, daemon);
      await eventually('lines are dropped', async () => (await daemon.dropped()) > 0);
      await expectOrderlyEnd(daemon);
      daemon.child.stdout?.destroy();
    }));

  it('whose reader went away', (context) =>
    withBed({ scenario }, async (bed) => {
      const daemon = await run(context, bed, 'pipe');
      daemon.child.stdout?.destroy();
      await expectAtWork(bed, daemon);
      expect(await daemon.dropped()).toBeGreaterThan(0);
      await expectOrderlyEnd(daemon);
    }));
});

/** What a pipe holds now. */
function drain(pipe: number): string {
  const piece = Buffer.alloc(64 * 1024);
  let text = '';
  try {
    for (;;) text += piece.toString('utf8', 0, readSync(pipe, piece));
  } catch {
    return text;
  }
}
