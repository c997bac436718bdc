import type { OperatorOrder } from '../domain/operator.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type {
  ChannelSettings,
  PostgresSettings,
  ReportSettings,
  Settings,
  StorageSettings,
} from '../domain/settings.ts';
import type { Delivery } from '../ports/channel.ts';
import type { Calendar, Clock, Random } from '../ports/clock.ts';
import type { ClusterLook } from '../ports/cluster.ts';
import type { SqlFile, StoreFile } from '../ports/store.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import type { DescribedExchange } from '../providers/describe-exchange.ts';
import type { PollShelf } from '../replay/history-csv.ts';
import type { CheckedAccount } from '../views/check.ts';
import type { Output } from './terminal/output.ts';

/** What a command gets to work with. Nothing else reaches outside: tests give their own. */
export interface CommandContext {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder in which the command was started. */
  readonly cwd: string;
  /** Who types, for the record of an acknowledgement or a silence. */
  readonly user: string;
  readonly version: string;
  /** Asks the person at the terminal; what is typed does not show when it is `hidden`. Null where there is none. */
  readonly ask: ((question: string, hidden: boolean) => Promise<string>) | null;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted by the first SIGTERM or SIGINT, or when nobody reads standard output any more. */
  readonly signal: AbortSignal;
  readonly rooms: Rooms;
}

/**
 * What commands need from other parts of the program, handed in by main: other rooms on this floor are not
 * imported. Each loads its part when it is first called, so that `--help` loads none.
 */
export interface Rooms {
  loadSettings(file: string): Promise<LoadedSettings>;
  /** The configuration as it was understood, as a plain tree with secrets hidden. */
  describeSettings(settings: Settings, warnings: readonly ConfigProblem[]): Promise<object>;
  readSchema(): Promise<object>;
  /** Opens the database to read, while a daemon may be writing it. Throws `StorageError`. */
  openReader(storage: StorageSettings): Promise<StoreFile>;
  /** Opens the database to ask it in SQL; the process is ended when it is not closed within `limitMs`. Throws `StorageError`. */
  openSql(path: string, limitMs: number): Promise<SqlFile>;
  loadCalendar(): Promise<Calendar>;
  /** Gives what makes a place for the readings of one account. */
  loadPollShelf(): Promise<() => PollShelf>;
  readDaemonNote(path: string): Promise<DaemonNote | null>;
  identifyDatabase(storage: StorageSettings): Promise<DatabaseIdentity>;
  /** Leaves an order in the database for the daemon. Throws `StorageError`. */
  leaveOrder(storage: StorageSettings, order: OperatorOrder): Promise<void>;
  /** The daemons that share the database of a configuration, and its digest as they have theirs. Throws `StorageError`. */
  lookAtCluster(
    settings: Settings,
    postgres: PostgresSettings,
  ): Promise<ClusterLook & { readonly configHash: string }>;
  /** What one configuration has differently from another, in words, by their hashes; null where their daemons have not said. */
  compareConfigurations(
    postgres: PostgresSettings,
    hashes: { readonly owner: string; readonly other: string },
  ): Promise<string | null>;
  /** Copies everything into another database: an address of PostgreSQL, with placeholders, or a file. Throws `StorageError`. */
  migrateStore(order: {
    readonly from: StorageSettings;
    readonly to: string;
  }): Promise<readonly CopiedTable[]>;
  startSimulator(options: SimulatorOrder): Promise<RunningSimulator | RefusedScenario>;
  /** Runs the daemon until `signal` aborts. Throws `StorageError` when its database cannot be opened. */
  runDaemon(loaded: LoadedConfiguration, signal: AbortSignal): Promise<void>;
  /** Runs everything embedded and sped up until `signal` aborts. */
  runDemo(order: DemoOrder): Promise<void>;
  /** Polls now, stores nothing. Null checks all accounts. `explain` gets each request that was made, with its answer. */
  checkAccounts(order: {
    readonly settings: Settings;
    readonly account: string | null;
    readonly explain?: (exchange: DescribedExchange) => void;
    readonly signal: AbortSignal;
  }): Promise<readonly CheckedAccount[]>;
  /** Sends a test message through one channel; `outgoing` is what went out, as text. */
  sendTest(order: {
    readonly settings: Settings;
    readonly channel: ChannelSettings;
    readonly signal: AbortSignal;
  }): Promise<{ readonly delivery: Delivery; readonly outgoing: string }>;
  /** A report as it would be sent now: for a person to read here, and as the webhook channel sends it. */
  renderReport(order: ReportOrder): Promise<{ readonly text: string; readonly payload: object }>;
  /** Sends a report now to each of its channels. */
  sendReport(order: ReportOrder): Promise<readonly SentReport[]>;
}

/** What a daemon leaves next to its SQLite file while it runs. */
export interface DaemonNote {
  /** Where it listens; null without a server. */
  readonly address: string | null;
  /** The id of the database. */
  readonly database: string | null;
  readonly version: string;
}

/** What was copied of a table of a database: rows, and bytes of text and of binary columns. */
export interface CopiedTable {
  readonly name: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface ReportOrder {
  readonly settings: Settings;
  readonly report: ReportSettings;
  readonly signal: AbortSignal;
}

/** What became of a report on a channel. */
export interface SentReport {
  readonly channel: string;
  readonly delivered: boolean;
  /** Why not. */
  readonly reason: string | null;
}

export interface DemoOrder {
  /** Kinds of channels that are shown; null leaves it to the demo. */
  readonly channels: readonly string[] | null;
  readonly stdout: Output;
  readonly signal: AbortSignal;
}

export type LoadedSettings =
  | {
      readonly kind: 'loaded';
      readonly settings: Settings;
      /** Every text that must not leave the process. */
      readonly secrets: readonly string[];
      readonly warnings: readonly ConfigProblem[];
      /** What it was made of, for a daemon to watch. */
      readonly sources: readonly WatchedSource[];
    }
  | {
      readonly kind: 'refused';
      readonly problems: readonly ConfigProblem[];
      /** What it says all the same; null where that is not even the server and the database. */
      salvage(): Promise<{ readonly settings: Settings; readonly lost: ReadonlySet<string> } | null>;
    };

/** Which database a configuration means. */
export type DatabaseIdentity =
  | { readonly kind: 'known'; readonly id: string; readonly place: string }
  /** It has no id, so no daemon of this version has opened it. */
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

export interface SimulatorOrder {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Null plays the built-in scenario. */
  readonly scenarioFile: string | null;
  /** A kind of provider whose API is played instead. */
  readonly provider: string | null;
}

export interface RunningSimulator {
  readonly kind: 'running';
  readonly url: string;
  readonly accounts: readonly {
    readonly id: string;
    readonly credentials: Readonly<Record<string, string>>;
  }[];
  close(): Promise<void>;
}

/** The scenario file, or the kind of provider, cannot be used; each problem names its place. */
export interface RefusedScenario {
  readonly kind: 'refused';
  readonly problems: readonly string[];
}

export type LoadedConfiguration = Extract<LoadedSettings, { readonly kind: 'loaded' }> & {
  readonly file: string;
};
