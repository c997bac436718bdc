import type { AccountState } from './account-state.ts';
import type { Incident } from './alert.ts';
import type { Forecast, ForecastRecord } from './forecast.ts';
import type { Micros } from './money.ts';
import type { NotificationReason } from './outbox.ts';
import type { Confidence } from './quantity.ts';
import type { Balance, Reading } from './reading.ts';
import type { Ladder } from './rule.ts';
import type { AccountSettings } from './settings.ts';
import type { Severity } from './severity.ts';

/**
 * What a message says, decided once and rendered by every channel. The dispatcher fills it in
 * from the state at the moment of sending; renderers are pure functions of it.
 */
export type Message = IncidentMessage | ReportMessage | TestMessage;

interface MessageBase {
  /** Stable over retries of the same content. Letters, digits, hyphens. */
  readonly id: string;
  /** When it is rendered. */
  readonly at: number;
  /** Address of the page; null where none is configured. Without a trailing slash. */
  readonly publicUrl: string | null;
  /** Only these of the channel's recipients get it, because the others have it; absent: all. */
  readonly recipients?: readonly string[];
  /** Time zone that absolute times are shown in, an IANA name. */
  readonly timezone: string;
}

export interface IncidentMessage extends MessageBase {
  readonly kind: 'incidents';
  /** At least one; the most urgent first. Channels cut long lists and say how many more there are. */
  readonly items: readonly MessageItem[];
  /**
   * Threads of mail: the id of the first message of the incidents here, its subject, and the worst of what that message told
   * of that still fires and this one does not speak of. Null when this is the first.
   */
  readonly thread: {
    readonly firstMessage: string;
    readonly subject: string;
    readonly references: readonly string[];
    readonly othersFiring: Severity | null;
  } | null;
  /** Other open incidents that the messages with the same receipts told of. */
  readonly companions: readonly MessageItem[];
}

/** One incident in a message: all that it has to say at once, newest state, oldest reason first. */
export interface MessageItem
  extends Pick<
    Incident,
    | 'type'
    | 'severity'
    | 'accountName'
    | 'rule'
    | 'balance'
    | 'value'
    | 'threshold'
    | 'facts'
    | 'firedAt'
    | 'resolvedAt'
    | 'resolution'
  > {
  readonly incident: Incident;
  /** Oldest first, such as firing + resolved for what came and went while the channel was down. */
  readonly kinds: readonly NotificationReason[];
  /**
   * The incident's account as it is now; null when it is about lowwater itself, a provider, or an account
   * removed since.
   */
  readonly account: ItemAccount | null;
  /** Signed link that leads to the confirmation page of an acknowledgement; null without `publicUrl`. */
  readonly acknowledgeUrl: string | null;
  /** People are to be mentioned for it, as the route to this channel says. */
  readonly mention: boolean;
  /** What the receiver calls the message that first told of it there; null where it gave no name. */
  readonly receipt: string | null;
}

/** What is known of the account of a notice. */
export interface ItemAccount
  extends Pick<AccountSettings, 'id' | 'name' | 'labels' | 'topUpUrl' | 'runbookUrl' | 'note' | 'keyFrom'>,
    Pick<AccountState, 'reading' | 'previous' | 'outcome' | 'failure' | 'consecutiveFailures'> {
  /** Spending of the balance that the notice is about. */
  readonly runway: Runway | null;
  /** The balance at which every open alert of it surely resolves; null where none says. */
  readonly clearsAt: Micros | null;
  /** Other alerts of this balance that still fire and that somebody has taken: nothing else is said of them now. */
  readonly takenAlerts: readonly {
    readonly rule: string;
    readonly severity: Severity;
    readonly by: string;
  }[];
  /** Thresholds of `below` and `negative` rules on this balance, for the chart. */
  readonly thresholds: Ladder<Micros>;
  /** Readings of the last seven days of every balance, thinned; oldest first. */
  readonly history: readonly Reading[];
}

/** Spending and what follows from it (spending/burn.ts computes it). */
export interface Runway {
  readonly balance: Balance;
  /** Where the balance counts as empty: zero, or below it by what the provider lets the account owe. */
  readonly emptyMicros: Micros;
  readonly burnPerDay: Micros | null;
  readonly runwayMs: number | null;
  /** When the balance is empty, as foretold, or at the mean burn that a rule names. Null: passed, unknown, or never. */
  readonly emptyAt: number | null;
  readonly confidence: Confidence;
  /** What `emptyAt` rests on and the interval it stands in; null where nothing can be foretold. */
  readonly forecast: Forecast | null;
  /** By when to pay so that the money is there before it may be empty; null where nobody said how long that takes. */
  readonly payBy: number | null;
  /**
   * The top-up that restores 30 days of runway; null where the burn rate is unknown, 0 where it is not
   * needed.
   */
  readonly restoreMicros: Micros | null;
}

export interface ReportMessage extends MessageBase {
  readonly kind: 'report';
  readonly reportId: string;
  readonly since: number;
  readonly until: number;
  /** When the report comes next; null when never. */
  readonly nextAt: number | null;
  /** Shortest runway first. */
  readonly accounts: readonly ReportAccount[];
}

export interface ReportAccount {
  readonly id: string;
  readonly name: string;
  readonly reading: Reading | null;
  readonly runways: Readonly<Record<Balance, Runway | null>>;
  /** How good its forecasts of the last two weeks were; null while none came due. */
  readonly records: Readonly<Record<Balance, ForecastRecord | null>>;
  /** Falls and rises of the balance within the period. */
  readonly spent: Readonly<Record<Balance, Micros>>;
  readonly toppedUp: Readonly<Record<Balance, Micros>>;
  readonly topUps: readonly { readonly at: number; readonly balance: Balance; readonly micros: Micros }[];
  readonly incidents: readonly Incident[];
  readonly history: readonly Reading[];
}

export interface TestMessage extends MessageBase {
  readonly kind: 'test';
  readonly channel: string;
}
