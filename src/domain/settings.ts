import type { Route } from './route.ts';
import type { Rule } from './rule.ts';
import type { Secret } from './secret.ts';
import type { RecurringSilence } from './silence.ts';

/**
 * The configuration as the daemon uses it: validated, defaults filled in, durations in milliseconds, paths
 * absolute.
 */
export interface Settings {
  readonly provider: ProviderSettings;
  readonly accounts: readonly AccountSettings[];
  readonly rules: readonly Rule[];
  readonly channels: readonly ChannelSettings[];
  readonly routes: readonly Route[];
  readonly silences: readonly RecurringSilence[];
  readonly reports: readonly ReportSettings[];
  readonly server: ServerSettings | null;
  readonly heartbeat: HeartbeatSettings | null;
  readonly storage: { readonly path: string; readonly retentionMs: number };
  readonly log: { readonly level: LogLevel };
  /** Zone that absolute times in messages are shown in, an IANA name; also of cron expressions that name none. */
  readonly timezone: string;
}

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

export interface ProviderSettings {
  readonly timeoutMs: number;
  readonly maxRequestsPerSecond: number;
  readonly allowInsecureHttp: boolean;
  readonly backoff: { readonly initialMs: number; readonly maxMs: number };
}

export type PollSchedule =
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly cron: string; readonly timezone: string };

export interface AccountSettings {
  readonly id: string;
  /** The configured name, or the id. */
  readonly name: string;
  readonly authSecret: Secret;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly currency: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly poll: PollSchedule;
}

export type ChannelSettings =
  | { readonly type: 'slack'; readonly name: string; readonly webhookUrl: Secret }
  | {
      readonly type: 'email';
      readonly name: string;
      readonly smtpUrl: Secret;
      readonly from: Mailbox;
      readonly to: readonly Mailbox[];
      readonly allowInsecure: boolean;
      /** XOAUTH2 access, instead of a password in the URL. */
      readonly oauth2: OAuth2Settings | null;
    }
  | {
      readonly type: 'webhook';
      readonly name: string;
      readonly url: Secret;
      /** Base64 key, `whsec_…` as in the Standard Webhooks specification; null sends unsigned. */
      readonly secret: Secret | null;
    };

export interface OAuth2Settings {
  readonly user: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly refreshToken: Secret;
  readonly accessUrl: string;
}

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

export interface ReportSettings {
  readonly id: string;
  readonly cron: string;
  readonly timezone: string;
  readonly channels: readonly string[];
}

export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | null;
  readonly token: Secret | null;
  readonly allowUnauthenticated: boolean;
}

export interface HeartbeatSettings {
  readonly url: Secret;
  readonly everyMs: number;
}
