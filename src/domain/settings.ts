import type { Micros } from './money.ts';
import type { Money } from './one-sum.ts';
import type { ProviderAccess, ProviderEntry } from './provider-entry.ts';
import type { BalanceDefinition } from './reading.ts';
import type { RecurringSilence, Route } from './route.ts';
import type { Ladder, Rule } from './rule.ts';
import type { Secret } from './secret.ts';

/** The validated configuration with defaults; durations in milliseconds, paths absolute. */
export interface Settings {
  /** The entry for accounts that name none of `providers`. */
  readonly provider: ProviderEntry;
  readonly providers: Readonly<Record<string, ProviderEntry>>;
  readonly accounts: readonly AccountSettings[];
  readonly rules: readonly Rule[];
  readonly channels: readonly ChannelSettings[];
  readonly routes: readonly Route[];
  readonly silences: readonly RecurringSilence[];
  readonly reports: readonly ReportSettings[];
  readonly server: ServerSettings | null;
  readonly heartbeat: HeartbeatSettings | null;
  readonly storage: StorageSettings;
  readonly log: { readonly level: LogLevel };
  /** Null: sums are by currency alone. */
  readonly money: MoneySettings | null;
  /** When payments are made, as a cron expression; null when nobody said. */
  readonly payDays: string | null;
  /** An IANA name, for times in messages and for cron expressions that name none. */
  readonly timezone: string;
  /** The language of messages whose channel or report names none: `en`, `zh-CN`. */
  readonly language: string;
}

/** Money with the rates of the file, or with a source that they are read from. */
export interface MoneySettings extends Money {
  readonly source: RatesSource | null;
}

export interface RatesSource {
  readonly entry: ProviderEntry;
  /** The account that the entry is asked for: its balances are currencies. */
  readonly account: AccountSettings;
  readonly everyMs: number;
  readonly inverted: boolean;
}

/** One daemon's SQLite file, or a PostgreSQL database that several share. */
export type StorageSettings = { readonly retentionMs: number } & (
  | { readonly path: string; readonly postgres?: never }
  | { readonly path?: never; readonly postgres: PostgresSettings }
);

export interface PostgresSettings {
  readonly url: Secret;
  /** Null: the name of the machine. */
  readonly node: string | null;
  readonly advertise: string | null;
  readonly leaseMs: number;
  /** The time for which an owner continues from memory while nobody reaches the database. */
  readonly aloneForMs: number;
  /** Whether channels are notified of a take-over that was no hand-over. */
  readonly announceTakeovers: boolean;
}

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export type PollSchedule =
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'cron'; readonly cron: string; readonly timezone: string };

/** The origin of a value. A changed variable is seen only by the next process, a changed file at once. */
export type ValueSource =
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

export interface AccountSettings extends ProviderAccess {
  readonly id: string;
  /** In the order in which its provider's kind shows them. Accounts of a provider entry share the list. */
  readonly balances: readonly BalanceDefinition[];
  /** The configured name, or the id. */
  readonly name: string;
  readonly keyFrom: ValueSource | null;
  readonly currency: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Keyed by balance. Each threshold replaces the one of that severity in rules of a kind with `accountThresholds`. */
  readonly thresholds?: Readonly<Record<string, Ladder<Micros>>>;
  /** The address to pay at; its own, else the provider's. */
  readonly topUpUrl: string | null;
  readonly runbookUrl: string | null;
  /** One line for whoever is woken. */
  readonly note: string | null;
  readonly poll: PollSchedule;
  /** The poll interval while the balance may run out within a day; null when it does not differ. */
  readonly nearEmptyMs: number | null;
  /** The zone of its customers; with the days that count as public holidays: dates such as `2026-12-25`, countries and regions such as `DE-BY`. */
  readonly timezone: string;
  readonly holidays: readonly string[];
  /** Absent: Saturday and Sunday. A holiday counts as the last day of the weekend. */
  readonly weekend?: readonly ('mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun')[];
  /** The distance below zero that the provider allows, 0 or more; the balance is empty that far below zero. Null: as the provider says. */
  readonly creditLimitMicros: Micros | null;
  /** The time a payment takes to arrive; null when nobody said. */
  readonly leadTimeMs: number | null;
}

/** The settings that all channels have; each kind has further ones. */
export interface ChannelSettings {
  readonly type: string;
  readonly name: string;
  /** The target of its messages, as one text: channels with the same target are one channel under different names. */
  readonly place: Secret;
  /** The language of its messages; absent: that of the configuration. */
  readonly language?: string | undefined;
  readonly valuesFrom?: ValueSource;
}

/** The receiver of each channel, by the channel's name: one text for one receiver, under any name. It is a secret. */
export function receiversOf(channels: readonly ChannelSettings[]): ReadonlyMap<string, string> {
  return new Map(channels.map(({ name, type, place }) => [name, `${type} ${place.reveal()}`]));
}

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

export interface ReportSettings {
  readonly id: string;
  /** Absent: that of each channel. */
  readonly language?: string | undefined;
  readonly cron: string;
  readonly timezone: string;
  readonly channels: readonly string[];
}

export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | null;
  readonly token: Secret | null;
  /** A token that shows everything and changes nothing; only with `token`. */
  readonly viewerToken: Secret | null;
  /** The proxy in front of lowwater that names people. */
  readonly trustedProxy: TrustedProxy | null;
  readonly allowUnauthenticated: boolean;
  /** True: `/metrics` asks nobody for the token, also beyond loopback. */
  readonly openMetrics: boolean;
}

export interface TrustedProxy {
  /** IP addresses, or networks such as `10.0.0.0/8`. */
  readonly addresses: readonly string[];
  /** In lower case. */
  readonly header: string;
}

export interface HeartbeatSettings {
  readonly url: Secret;
  readonly everyMs: number;
}
