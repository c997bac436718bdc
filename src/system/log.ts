import { pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { forTerminal } from '../domain/plain-text.ts';
import type { LogLevel } from '../domain/settings.ts';
import type { Log } from '../ports/log.ts';
import type { LogDestination } from './log-destination.ts';
import { SecretScrubber } from './secret-scrubber.ts';

export interface SystemLog extends Log {
  addSecrets(values: Iterable<string>): void;
  setLevel(level: LogLevel): void;
}

/** A log by pino: one JSON line per event. Every line passes a scrubber that knows the secret values. */
export function createLog(options: {
  readonly level: LogLevel;
  readonly destination: LogDestination;
  /** Lines for people at a terminal instead of JSON lines. */
  readonly pretty: boolean;
  readonly colour?: boolean;
}): SystemLog {
  const scrubber = new SecretScrubber();
  const format = options.pretty ? formatForPeople(options.colour ?? false) : (line: string) => line;
  const drain = new Drain(options.destination, format);
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write(line: string) {
        const [head = ''] = /^\{"level":"\w+","time":"[^"]+"/.exec(line) ?? [];
        // Level and time are not scrubbed: readers of the log need them, and a secret may be the same word or a year.
        drain.write(head + scrubber.scrub(line.slice(head.length)));
      },
    },
  );
  return {
    debug: (fields, message) => logger.debug(nestReserved(fields), message),
    info: (fields, message) => logger.info(nestReserved(fields), message),
    warn: (fields, message) => logger.warn(nestReserved(fields), message),
    error: (fields, message) => logger.error(nestReserved(fields), message),
    fatal: (fields, message) => logger.fatal(nestReserved(fields), message),
    get dropped() {
      return drain.dropped;
    },
    addSecrets: (values) => scrubber.add(values),
    setLevel(level) {
      logger.level = level;
    },
  };
}

/** Counts lines that the destination refuses. Before the first line that is accepted again, a line says how many are missing. */
class Drain {
  dropped = 0;
  #dropped = 0;
  readonly #destination: LogDestination;
  readonly #format: (line: string) => string;

  constructor(destination: LogDestination, format: (line: string) => string) {
    this.#destination = destination;
    this.#format = format;
  }

  write(line: string): void {
    if (!this.#reportMissing() || this.#destination.write(this.#format(line), this.#lost) === false)
      this.#lost();
  }

  readonly #lost = (): void => {
    this.dropped += 1;
    this.#dropped += 1;
  };

  #reportMissing(): boolean {
    if (this.#dropped === 0) return true;
    const item = `{"level":"warn"${stdTimeFunctions.isoTime()},"dropped":${this.#dropped},"msg":"lines of the log could not be written"}\n`;
    if (this.#destination.write(this.#format(item), () => undefined) === false) return false;
    this.#dropped = 0;
    return true;
  }
}

const reserved = ['level', 'time', 'msg'] as const;

/** A field with the name of one of pino's own would appear twice in the line, and the second one would count. */
function nestReserved(fields: object): object {
  return reserved.some((key) => key in fields) && !(fields instanceof Error) ? { fields } : fields;
}

function formatForPeople(colour: boolean): (line: string) => string {
  const format = prettyFactory({ colorize: colour, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' });
  return (line) => forTerminal(format(line));
}
