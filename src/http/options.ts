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
  /** 32 bytes that survive a restart. The key that signs sessions is derived from them, as was that of links before 0.3. */
  readonly ackKey: Buffer;
  /** The id of the daemon's database, sent with each answer: the command line compares it with its own file's. Null while it is not known. */
  readonly database: () => string | null;
  /** Makes and sends reports on request. */
  readonly reports: ReportsOnDemand;
  /** The time zone of the page, an IANA name. */
  readonly timezone: string;
  /** The language of the pages for readers who ask for none. */
  readonly language?: string;
  readonly limits?: Partial<ServerLimits>;
}

/** The configured reports, for people who want one before its time. */
export interface ReportsOnDemand {
  ids(): readonly string[];
  /** A report as text with lines of at most `width` columns, and as the webhook channel sends it. Null if there is no such report. */
  compose(id: string, width: number): Promise<{ readonly text: string; readonly report: object } | null>;
  /** Sends a report to each of its channels now. Null if there is no such report. */
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
  /** The time from the first byte to the end of the headers. */
  headersTimeoutMs: 5_000,
  /** The time from the first byte to the end of the body. */
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 10_000,
  /** The time without a byte in either direction. */
  idleTimeoutMs: 120_000,
  /** The pause between signs of life on an event stream, and between checks for late clients. */
  heartbeatMs: 4_000,
  /** The pause between checks of the limits above. Node checks even without connections, so not often. */
  connectionCheckMs: 30_000,
};
