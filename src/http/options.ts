import type { ServerSettings } from '../domain/settings.ts';
import type { Clock, Random } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Trials } from '../replay/trial.ts';
import type { CurrentViews } from '../views/current-views.ts';

export interface WebServerOptions {
  readonly views: CurrentViews;
  readonly trials: Pick<Trials, 'run'>;
  readonly settings: ServerSettings;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** Outlives a restart. Sessions are signed with a key derived from it, as links were before 0.3. 32 bytes. */
  readonly ackKey: Buffer;
  /** The id of the daemon's database, named in each answer: the command line compares it with that of its own file. Null while it is not known. */
  readonly database: () => string | null;
  /** Reports that can be read and sent now. */
  readonly reports: ReportsOnDemand;
  /** Zone that the page shows times in, an IANA name. */
  readonly timezone: string;
  /** Language of the pages where a reader asks for none. */
  readonly language?: string;
  readonly limits?: Partial<ServerLimits>;
}

/** The reports of the configuration, for who asks for one before its time. */
export interface ReportsOnDemand {
  ids(): readonly string[];
  /** A report as text for a terminal, and as the webhook channel sends it. Null where there is no such report. */
  /** The text has lines of at most `width` columns. */
  compose(id: string, width: number): Promise<{ readonly text: string; readonly report: object } | null>;
  /** Sends it to each of its channels now. Null where there is no such report. */
  send(id: string): Promise<readonly ReportDelivery[] | null>;
}

export interface ReportDelivery {
  readonly channel: string;
  readonly delivered: boolean;
  readonly reason: string | null;
}

export type ServerLimits = Readonly<typeof defaultLimits>;

export const defaultLimits = {
  maxConnections: 512,
  maxStreams: 100,
  maxHeaderBytes: 16 * 1024,
  maxBodyBytes: 64 * 1024,
  /** From the first byte to the end of the headers. */
  headersTimeoutMs: 5_000,
  /** From the first byte to the end of the body. */
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 10_000,
  /** Without a byte in either direction. */
  idleTimeoutMs: 120_000,
  /** The pause in which a stream of events shows that it is alive, and late clients are looked for. */
  heartbeatMs: 4_000,
  /** The pause between checks of the limits above. Node checks even where there is no connection, so not often. */
  connectionCheckMs: 30_000,
};
