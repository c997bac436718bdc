import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/registry.ts';
import { asking } from '../../src/wiring/signals.ts';

const signals = join(import.meta.dirname, '../../src/wiring/signals.ts');

/** A process that only listens and gets these signals one by one; how it ends, and whether it was asked to. */
function sendSignals(words: readonly string[], sent: readonly string[]): Promise<object> {
  return runScript(`
    const { listenForSignals } = await import(${JSON.stringify(signals)});
    const ending = listenForSignals(${JSON.stringify(words)});
    const send = (rest) => {
      if (rest.length > 0) process.kill(process.pid, rest[0]), setTimeout(send, 50, rest.slice(1));
      else if (ending.aborted) process.stdout.write('asked to end', () => process.exit(0));
      // A signal is late on a busy machine.
      else setTimeout(() => process.stdout.write(ending.aborted ? 'asked to end' : 'goes on', () => process.exit(0)), 1000);
    };
    send(${JSON.stringify(sent)});`);
}

function runScript(script: string): Promise<object> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece;
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece;
  });
  return new Promise((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, said, stderr })),
  );
}

it.concurrent.each<[name: string, words: string[], sent: string[], end: object]>([
  ['one SIGTERM asks for an orderly end', ['check'], ['SIGTERM'], { code: 0, said: 'asked to end' }],
  ['one SIGINT does so as well', ['run'], ['SIGINT'], { code: 0, said: 'asked to end' }],
  ['a second signal does not wait', ['run'], ['SIGTERM', 'SIGINT'], { code: 130 }],
  [
    'a command that only reads waits for no daemon: the first signal ends it',
    ['--config', 'x', 'status'],
    ['SIGINT'],
    { code: 130 },
  ],
  [
    'SIGHUP does not end a daemon that does not run yet, nor one that is ending',
    ['--config', 'x', 'run'],
    ['SIGHUP', 'SIGTERM', 'SIGHUP'],
    { code: 0, said: 'asked to end' },
  ],
  [
    'SIGUSR1 opens no debugger, and neither it nor SIGUSR2 ends anything',
    ['run'],
    ['SIGUSR1', 'SIGUSR2'],
    { code: 0, said: 'goes on', stderr: '' },
  ],
  [
    'the same holds for every other command',
    ['check'],
    ['SIGUSR1', 'SIGUSR2'],
    { code: 0, said: 'goes on', stderr: '' },
  ],
  ['SIGUSR1 opens no debugger of a query', ['query'], ['SIGUSR1'], { code: 0, said: 'goes on', stderr: '' }],
  [
    'a terminal that goes away asks every other command for an orderly end, such as that of a test alert',
    ['test-alert', 'run'],
    ['SIGHUP'],
    { code: 0, said: 'asked to end' },
  ],
])('%s', async (_name, words, sent, end) => {
  expect(await sendSignals(words, sent)).toMatchObject(end);
});

it('a process that got no processor while it read a file ends with its code, and not by the signal', async () => {
  const script = `
    const { leave } = await import(${JSON.stringify(signals)});
    (await import('node:fs')).readFile(${JSON.stringify(signals)}, () => undefined);
    leave(130, 'SIGINT');
    for (const began = Date.now(); Date.now() - began < 300; );`;
  expect(await runScript(script)).toMatchObject({ code: 130, signal: null });
});

it('what the first signal ends at once are commands that there are', () => {
  expect(commands.map(({ name }): unknown => name)).toEqual(expect.arrayContaining([...asking]));
});
