import { type DestinationStream, destination as openDestination, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Log } from '../domain/ports.ts';
import type { LogLevel } from '../domain/settings.ts';
import { createSecretScrubber } from './secret-scrubber.ts';

export interface LogOptions {
  readonly level: LogLevel;
  /** Where finished lines go, each with its line end. */
  readonly destination: DestinationStream;
  /** For people at a terminal instead of JSON lines. */
  readonly pretty: boolean;
  readonly colour?: boolean;
  /** Values that must never be printed. */
  readonly secrets: Iterable<string>;
}

export interface SystemLog extends Log {
  /** More values that must never be printed, such as those of a configuration loaded later. */
  addSecrets(values: Iterable<string>): void;
  setLevel(level: LogLevel): void;
}

/**
 * A log by pino: one JSON line an event with an ISO time, the level as text, and an error under `err` with its causes.
 * Every line passes a scrubber that knows the secret values.
 */
export function createLog(options: LogOptions): SystemLog {
  const scrubber = createSecretScrubber();
  scrubber.add(options.secrets);
  const format = options.pretty ? formatForPeople(options.colour ?? false) : (line: string) => line;
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => options.destination.write(format(scrubber.scrub(line))) },
  );
  return {
    debug: (fields, message) => logger.debug(nestReserved(fields), message),
    info: (fields, message) => logger.info(nestReserved(fields), message),
    warn: (fields, message) => logger.warn(nestReserved(fields), message),
    error: (fields, message) => logger.error(nestReserved(fields), message),
    fatal: (fields, message) => logger.fatal(nestReserved(fields), message),
    addSecrets: (values) => scrubber.add(values),
    setLevel(level) {
      logger.level = level;
    },
  };
}

/**
 * Standard output (1) or standard error (2), written before the call returns: whatever ends the process afterwards, the
 * line is out. A reader that went away is no error.
 */
export function openLogDestination(fileDescriptor: 1 | 2): DestinationStream {
  return openDestination({ dest: fileDescriptor, sync: true });
}

const reserved = ['level', 'time', 'msg'] as const;

/** A field named like one of pino's own would stand in the line twice, and the second one would win. */
function nestReserved(fields: object): object {
  return reserved.some((key) => key in fields) && !(fields instanceof Error) ? { fields } : fields;
}

function formatForPeople(colour: boolean): (line: string) => string {
  return prettyFactory({ colorize: colour, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' });
}
