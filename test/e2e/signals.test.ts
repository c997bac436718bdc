import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { accountOf, notificationsOf } from '../support/api-answers.ts';
import { eventually } from '../support/eventually.ts';
import { withBed } from '../support/run-daemon.ts';
import { accepted } from '../support/slack-sink.ts';

/**
 * A module that keeps the configuration's reader waiting in a thread, as a file system that hangs does, from `begin` on. The other
 * asks for the end as soon as that is listened to, and before the reader is in its thread.
 */
function writeHang(folder: string): {
  readonly preload: string;
  readonly endsFirst: string;
  begin(): void;
} {
  const [preload, endsFirst, fifo, mark] = ['hang.mjs', 'ends-first.mjs', 'fifo', 'hangs-now'].map((name) =>
    join(folder, name),
  );
  execFileSync('mkfifo', [fifo ?? '']);
  writeFileSync(
    preload ?? '',
    `import fs, { constants } from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const { open, stat } = fs.promises;
    const hang = async () => {
      process.stderr.write('hangs');
      await globalThis.ended;
      return open(${JSON.stringify(fifo)}, constants.O_RDONLY);
    };
    const hangs = (path) => String(path).endsWith('config.json') && fs.existsSync(${JSON.stringify(mark)});
    fs.promises.open = (path, ...rest) => hangs(path) ? hang() : open(path, ...rest);
    fs.promises.stat = (path, ...rest) => hangs(path) ? hang() : stat(path, ...rest);
    syncBuiltinESMExports();`,
  );
  writeFileSync(
    endsFirst ?? '',
    `globalThis.ended = new Promise((resolve) => setTimeout(resolve, 500));
    process.on('newListener', (name) => name === 'SIGHUP' && process.kill(process.pid, 'SIGTERM'));`,
  );
  return {
    preload: preload ?? '',
    endsFirst: endsFirst ?? '',
    begin: () => writeFileSync(mark ?? '', ''),
  };
}

describe.concurrent('signals', () => {
  it('SIGTERM while a poll and a delivery hang ends it with 0 long before they would; the message goes out after the next start', () =>
    withBed({}, async (bed) => {
      bed.configure({ provider: { baseUrl: bed.provider.url, timeout: '1m', maxRequestsPerSecond: 20 } });
      const first = await bed.start();
      bed.slack.behave(() => 'hang');
      bed.provider.control.setBalance('otp', 'sms', '100');
      await eventually('the delivery hangs', () => bed.slack.posts.length > 0);
      const polls = bed.provider.control.requests();
      bed.provider.control.fail({ kind: 'hang' });
      await eventually('the poll hangs', () => bed.provider.control.requests() > polls);

      const askedAt = performance.now();
      const { code, stderr } = await first.stop();
      // Tests of the daemon show by a clock that it takes 9 s: here a busy machine may take longer.
      expect(performance.now() - askedAt).toBeLessThan(30_000);
      expect(code).toBe(0);
      expect(stderr).not.toMatch(/error/i);
      expect(first.log().at(-1)?.msg).toBe('stopped');

      bed.slack.behave(() => accepted);
      bed.provider.control.recover();
      const second = await bed.start();
      expect((await accountOf(second)).balances.sms).toBe('100');
      await eventually('it is delivered', () => bed.slack.accepted().length > 0);
      expect(bed.slack.accepted()[0]?.text).toContain('100.00 CNY');
    }));

  it('SIGTERM while a poll is answered slowly lets it finish and stores it', () =>
    withBed({}, async (bed) => {
      const first = await bed.start();
      await eventually('the first reading', async () => (await accountOf(first)).outcome === 'ok');
      bed.provider.control.setBalance('otp', 'sms', '777');
      bed.provider.control.slowDown(600);
      const polls = bed.provider.control.requests();
      await eventually('a poll is under way', () => bed.provider.control.requests() > polls);
      expect((await first.stop()).code).toBe(0);
      const history = await bed.command('history', 'otp', '--json');
      expect(history.stdout).toContain('"777"');
    }));

  it('a second signal does not wait for what hangs, and leaves a database that the next start takes up', () =>
    withBed({}, async (bed) => {
      const first = await bed.start();
      bed.slack.behave(() => 'hang');
      bed.provider.control.setBalance('otp', 'sms', '100');
      await eventually('the delivery hangs', () => bed.slack.posts.length > 0);
      first.child.kill('SIGTERM');
      await eventually('it is ending', () => first.log().some(({ msg }) => msg === 'ending'));
      const askedAt = performance.now();
      first.child.kill('SIGINT');
      expect((await first.ended).code).toBe(130);
      expect(performance.now() - askedAt).toBeLessThan(8000); // one that waits takes nearly ten seconds

      bed.slack.behave(() => accepted);
      const second = await bed.start();
      await eventually('it is delivered', async () =>
        (await notificationsOf(second)).every(({ state }) => state === 'delivered'),
      );
    }));

  it('a second daemon on the database gives up, names the holder and harms nothing', () =>
    withBed({}, async (bed) => {
      const first = await bed.start();
      const { code, stderr } = await bed.launch().ended;
      expect(code).toBe(1);
      const lines = stderr
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('warning: '));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`process ${first.pid}`);
      await first.kill();
      const third = await bed.start();
      expect((await third.stop()).code).toBe(0);
    }));

  it.each(['before it read its configuration', 'while it watches its configuration'])(
    'a file system that hangs %s keeps nobody from ending it by one SIGTERM',
    (when) =>
      withBed({}, async (bed) => {
        const early = when.startsWith('before');
        const hang = writeHang(bed.folder);
        const env = { NODE_OPTIONS: `--import=${hang.preload}` };
        if (early) hang.begin();
        const daemon = bed.launch(env);
        if (early) await new Promise((resolve) => setTimeout(resolve, 1000));
        else {
          await eventually('it runs', () => daemon.output().stdout.includes('"msg":"started"'));
          hang.begin();
          await eventually('it reads what hangs', () => daemon.output().stderr.includes('hangs'));
        }
        daemon.child.kill('SIGTERM');
        const { signal, code, stdout } = await daemon.ended;
        expect({ signal, code }).toEqual({ signal: 'SIGTERM', code: null });
        expect(stdout.includes('"stopped"')).toBe(!early);
      }),
  );

  it('a SIGTERM just before it reads its configuration from a file system that hangs ends it too', () =>
    withBed({}, async (bed) => {
      const hang = writeHang(bed.folder);
      hang.begin();
      const daemon = bed.launch({ NODE_OPTIONS: `--import=${hang.preload} --import=${hang.endsFirst}` });
      expect(await daemon.ended).toMatchObject({ signal: 'SIGTERM', code: null });
      expect(daemon.output().stderr).toContain('hangs');
    }));

  it('a port that another program listens on is reported in one line', () =>
    withBed({}, async (bed) => {
      bed.configure({ server: { port: Number(new URL(bed.slack.origin).port) } });
      const { code, stdout, stderr } = await bed.launch().ended;
      expect(code).toBe(1);
      expect(`${stdout}${stderr}`).toMatch(/already in use; set server\.port/);
      expect(`${stdout}${stderr}`).not.toMatch(/"fatal"|\n {4}at /);
    }));
});
