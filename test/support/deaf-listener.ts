import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

/** Makes a port of 127.0.0.1 an address that leads nowhere until the test is over: its queue holds two connections, which are there, and it takes none. */
export async function leadNowhere(port: number): Promise<void> {
  const listen = `require('node:net').createServer().listen({ port: ${port}, host: '127.0.0.1', backlog: 1 }, () => process.send(''))`;
  const deaf = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  onTestFinished(() => void deaf.kill('SIGKILL'));
  await once(deaf, 'message');
  deaf.kill('SIGSTOP');
  const waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  onTestFinished(() => waiting.forEach((each) => void each.destroy()));
  await setTimeout(100);
}
