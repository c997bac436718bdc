import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasColours } from '../cli/terminal/output.ts';
import { inSlices } from '../daemon/slices.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { LogLevel } from '../domain/settings.ts';
import type { SystemLog } from '../system/log.ts';
import { openLogDestination } from '../system/log-destination.ts';

/** The one log of the process and the secret values that it must never print. */
export type ProcessLog = ReturnType<typeof openProcessLog>;

export function openProcessLog() {
  const hidden = new Set<string>();
  let current: SystemLog | null = null;
  const create = async (fileDescriptor: 1 | 2, level: LogLevel): Promise<SystemLog> => {
    // Loaded only when needed: few commands ever log anything.
    const { createLog } = await import('../system/log.ts');
    const stream = fileDescriptor === 1 ? process.stdout : process.stderr;
    const log = createLog({
      level,
      destination: openLogDestination(fileDescriptor),
      pretty: stream.isTTY === true,
      colour: hasColours(stream),
    });
    await teach(log, hidden);
    return log;
  };
  return {
    /** Opens the daemon's log on standard output: JSON lines, or text for people on a terminal. */
    async open(level: LogLevel): Promise<SystemLog> {
      current = await create(1, level);
      return current;
    },
    /** Adds values that no log of this process may print from now on. */
    async hide(values: Iterable<string>): Promise<void> {
      for (const value of values) hidden.add(value);
      if (current !== null) await teach(current, values);
    },
    /** Logs a warning of Node in the daemon's log. For example, undici calls its SOCKS support experimental. */
    reportWarning({ name, message }: Error): void {
      current?.warn({ name, warning: message }, 'warning of Node');
    },
    /** Writes one fatal line, to the daemon's log if it is open, else to standard error. With an open log it is written when the call returns. */
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

/** The number of secrets that are added at once, which takes a few milliseconds. */
export const secretsAtOnce = 2000;

async function teach(log: SystemLog, values: Iterable<string>): Promise<void> {
  for await (const part of inSlices(values, secretsAtOnce)) log.addSecrets(part);
}

/** Rewrites the stack with the source maps next to the bundle. They are read only now: Node would read them at every start. */
export function nameSources(error: Error): void {
  const maps = new Map<string, SourceMap | null>();
  for (let next: unknown = error; next instanceof Error; next = next.cause) {
    if (next.stack === undefined) continue;
    next.stack = next.stack.replace(placePattern, (place, file: string, line: string, column: string) => {
      const map = maps.get(file) ?? readMap(file);
      maps.set(file, map);
      return findSource({ map, file, line: Number(line), column: Number(column) }) ?? place;
    });
  }
}

/** `file:///app/dist/serve-BG2ZDO80.js:12:34`, the form in which V8 writes places in modules. */
const placePattern = /(file:\/\/[^\s()]+):(\d+):(\d+)/g;

/** Null if there is no map, or the process is in a state in which it cannot be read. */
function readMap(file: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')));
  } catch {
    return null;
  }
}

interface Place {
  readonly map: SourceMap | null;
  readonly file: string;
  /** Line and column count from 1, as in a stack. */
  readonly line: number;
  readonly column: number;
}

function findSource({ map, file, line, column }: Place): string | null {
  const origin = map?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return null;
  return `${join(dirname(fileURLToPath(file)), origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
}
