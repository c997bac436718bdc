import { CommandError } from '../command.ts';

/** What another command of this very program prints. Throws `CommandError` with what it says where it fails. */
export async function runSelf(words: readonly string[]): Promise<string> {
  const { execFile } = process.getBuiltinModule('node:child_process');
  const [program = ''] = process.argv.slice(1);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(
    process.execPath,
    [...process.execArgv, program, ...words],
    { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: '1' } },
    (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new CommandError(stderr.trim() || 'the command failed')),
  );
  return promise;
}
