import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** One question on standard error, one line from standard input; what is typed is not echoed when it is `hidden`. */
export async function askOnTerminal(question: string, hidden: boolean): Promise<string> {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = hidden ? silence : process.stderr;
  if (hidden) process.stderr.write(question);
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  // Without this, Ctrl-C while it asks would only end the line.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(hidden ? '' : question), ended]);
  terminal.close();
  if (hidden) process.stderr.write('\n');
  return answer;
}
