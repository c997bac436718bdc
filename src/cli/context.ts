import type { LoadedConfig } from '../config/load-config.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import type { Output } from './terminal/output.ts';

/** The means of a command. Nothing else reaches outside: tests give their own. */
export interface CommandContext {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The person who types, for the record of an acknowledgement or a silence. */
  readonly user: string;
  readonly version: string;
  /** Asks the person at the terminal; what is typed does not show when it is `hidden`. Null where there is none. */
  readonly ask: ((question: string, hidden: boolean) => Promise<string>) | null;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by the first SIGTERM or SIGINT, or when nobody reads standard output any more. */
  readonly signal: AbortSignal;
  readonly process: ProcessParts;
}

/** Functions of rooms above the command line, handed in to be loaded when it is first called. */
export interface ProcessParts {
  /** Texts that no log of this process may print from then on. */
  hide(secrets: Iterable<string>): Promise<void>;
  /** Runs the daemon until `signal` aborts. Throws `StorageError` when its database cannot be opened. */
  runDaemon(loaded: LoadedConfiguration, signal: AbortSignal): Promise<void>;
  /** Runs everything embedded and sped up until `signal` aborts. */
  runDemo(order: DemoOrder): Promise<void>;
}

export interface DemoOrder {
  /** Kinds of channels that are shown; null leaves it to the demo. */
  readonly channels: readonly string[] | null;
  /** The languages of messages and page: `en`, `zh-CN`. */
  readonly language: string;
  readonly stdout: Output;
  readonly signal: AbortSignal;
}

export type LoadedConfiguration = Omit<Extract<LoadedConfig, { readonly kind: 'loaded' }>, 'warnings'> & {
  readonly file: string;
  /** Warnings of things allowed, but perhaps not meant. */
  readonly warnings: readonly ConfigProblem[];
  /** The files it was made of, for a daemon to watch. */
  readonly sources: readonly WatchedSource[];
};
