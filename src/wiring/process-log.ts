import { decideColour } from '../cli/terminal/output.ts';
import { inSlices } from '../daemon/slices.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { LogLevel } from '../domain/settings.ts';
import type { SystemLog } from '../system/log.ts';
import { openLogDestination } from '../system/log-destination.ts';
import { nameSources } from './readable-stack.ts';

/** The one log of the process and the secret values that it must never print. */
export type ProcessLog = ReturnType<typeof openProcessLog>;

export function openProcessLog(env: Readonly<Record<string, string | undefined>>) {
  const hidden = new Set<string>();
  let current: SystemLog | null = null;
  const create = async (fileDescriptor: 1 | 2, level: LogLevel): Promise<SystemLog> => {
    // Few commands ever log anything.
    const { createLog } = await import('../system/log.ts');
    const stream = fileDescriptor === 1 ? process.stdout : process.stderr;
    const log = createLog({
      level,
      destination: openLogDestination(fileDescriptor),
      pretty: stream.isTTY === true,
      colour: decideColour(env, stream),
    });
    await teach(log, hidden);
    return log;
  };
  return {
    /** The daemon's log on standard output: JSON lines, or for people where that is a terminal. */
    async open(level: LogLevel): Promise<SystemLog> {
      current = await create(1, level);
      return current;
    },
    /** Values that no log of this process may print from then on. */
    async hide(values: Iterable<string>): Promise<void> {
      for (const value of values) hidden.add(value);
      if (current !== null) await teach(current, values);
    },
    /** One fatal line: in the daemon's log where it is open, else on standard error. Written when it is done, and where the log is open when the call returns. */
    async reportFatal(error: unknown): Promise<void> {
      const err = error instanceof Error ? error : new Error(String(error));
      nameSources(err);
      const log = current ?? (await create(2, 'fatal'));
      const expected = error instanceof OperatorError;
      log.fatal(
        { err },
        expected ? 'the process cannot go on and ends' : 'programming error, the process ends',
      );
    },
  };
}

/** So many are taken in at once, which takes some milliseconds. */
export const secretsAtOnce = 2000;

async function teach(log: SystemLog, values: Iterable<string>): Promise<void> {
  for await (const part of inSlices(values, secretsAtOnce)) log.addSecrets(part);
}
