import type { LoadedConfig } from '../config/load-config.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import type { Output } from './terminal/output.ts';

/** Everything that a command may use from outside. Tests provide their own. */
export interface CommandContext {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The name of the person who types, for the audit of orders. */
  readonly user: string;
  readonly version: string;
  /** Asks the person at the terminal; a `hidden` answer is not shown. Null if there is no terminal. */
  readonly ask: ((question: string, hidden: boolean) => Promise<string>) | null;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by the first SIGTERM or SIGINT, or when nobody reads standard output any more. */
  readonly signal: AbortSignal;
  readonly process: ProcessParts;
}

/** Functions of rooms above the command line. They are passed in, and loaded when first called. */
export interface ProcessParts {
  /** Adds texts that no log of this process may print from now on. */
  hide(secrets: Iterable<string>): Promise<void>;
  /** Runs the daemon until `signal` aborts. Throws `StorageError` when its database cannot be opened. */
  runDaemon(loaded: LoadedConfiguration, signal: AbortSignal): Promise<void>;
  /** Runs everything in one process and sped up, until `signal` aborts. */
  runDemo(order: DemoOrder): Promise<void>;
}

export interface DemoOrder {
  /** The kinds of channels to show; null leaves the choice to the demo. */
  readonly channels: readonly string[] | null;
  /** The language of messages and page: `en`, `zh-CN`. */
  readonly language: string;
  readonly stdout: Output;
  readonly signal: AbortSignal;
}

export type LoadedConfiguration = Omit<Extract<LoadedConfig, { readonly kind: 'loaded' }>, 'warnings'> & {
  readonly file: string;
  /** Warnings of settings that are allowed but perhaps not intended. */
  readonly warnings: readonly ConfigProblem[];
  /** The files from which it was made, for a daemon to watch. */
  readonly sources: readonly WatchedSource[];
};
