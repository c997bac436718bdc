import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { accountOf } from '../support/api-answers.ts';
import { eventually } from '../support/eventually.ts';
import { withBed } from '../support/run-daemon.ts';

/** Lets the process open files with numbers below `most` alone: what it has open stays so. */
function limitDescriptors(pid: number, most: string): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`]);
}

const canLimit = (() => {
  try {
    // The limit is that of a process of its own: other files of tests come after this one in this worker.
    execFileSync('prlimit', ['--nofile=1024:', 'true']);
    return true;
  } catch {
    return false;
  }
})();

/** Asks as a browser does, over a connection that is there already; gives the first line of the answer, or what there is at its end. */
async function ask(socket: Socket, path: string): Promise<string> {
  let received = '';
  let isOver = false;
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  socket.on('close', () => {
    isOver = true;
  });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/html\r\n\r\n`);
  await eventually('an answer', () => isOver || received.includes('\r\n\r\n'));
  return received.split('\r\n', 1)[0] ?? '';
}

it.skipIf(!canLimit)(
  'a daemon that has no file descriptor left lives on, and page, metrics and mails work by themselves when it has some',
  () =>
    withBed({}, async (bed) => {
      const daemon = await bed.start();
      await eventually('two polls', () => bed.provider.control.requests() > 1);
      const port = Number(new URL(daemon.url).port);
      const sockets = ['/', '/nothing-here', '/metrics'].map((path) => ({
        path,
        to: connect(port, '127.0.0.1'),
      }));
      await eventually('the connections', () => sockets.every(({ to }) => !to.connecting));
      // A probe is answered after those who came before it were taken.
      expect((await fetch(`${daemon.url}/livez`)).status).toBe(200);
      limitDescriptors(daemon.pid, '3');
      const answers = await Promise.all(sockets.map(({ path, to }) => ask(to, path)));
      expect(answers.slice(0, 2)).toEqual(Array(2).fill('HTTP/1.1 500 Internal Server Error'));
      bed.provider.control.setBalance('otp', 'sms', '100');
      const delayed = () => daemon.log().filter(({ msg }) => msg === 'message not delivered yet');
      await eventually(
        'no channel is reached',
        () => new Set(delayed().map(({ channel }) => channel)).size === 2,
      );
      expect(delayed()[0]?.reason).toBe('this process has no file descriptor left for a connection');

      limitDescriptors(daemon.pid, '1024');
      for (const { to } of sockets) to.destroy();
      await eventually('both channels', () => bed.slack.posts.length > 0 && bed.mail.count() > 0);
      expect([bed.slack.posts.length, bed.mail.count()]).toEqual([1, 1]);
      expect((await fetch(daemon.url, { headers: { accept: 'text/html' } })).status).toBe(200);
      expect(await (await fetch(`${daemon.url}/metrics`)).text()).toContain('process_open_fds');
      expect((await accountOf(daemon)).balances.sms).toBe('100');
      expect((await daemon.stop()).code).toBe(0);
    }),
);
