import { type Incident, isAcknowledged, type ToolKeys } from './alert.ts';
import type { Micros } from './money.ts';
import type { OneSum } from './one-sum.ts';
import type { NotificationReason } from './outbox.ts';
import type { ProviderWords } from './provider-entry.ts';
import type { Confidence, Forecast, ForecastRecord, PeriodTogether } from './quantity.ts';
import type { AccountState, Balance, Reading } from './reading.ts';
import type { Ladder } from './rule.ts';
import type { AccountSettings } from './settings.ts';
import { isWorse, type Severity } from './severity.ts';

/** The content of a message, composed from the state when it is sent; every channel renders it by pure functions. */
export type Message = IncidentMessage | ReportMessage | TestMessage;

interface MessageBase {
  /** Stable over retries of the same content. Letters, digits, hyphens. */
  readonly id: string;
  readonly at: number;
  /** Address of the page; null when none is configured. Without a trailing slash. */
  readonly publicUrl: string | null;
  /** Only these recipients of the channel get it, because the others have it; absent: all. */
  readonly recipients?: readonly string[];
  /** These recipients do not get it: they hear of it in the message that they are still owed. */
  readonly except?: readonly string[];
  /** An IANA name. */
  readonly timezone: string;
  /** The language of the message as a BCP 47 tag: `en`, `zh-CN`. */
  readonly language: string;
}

export interface IncidentMessage extends MessageBase {
  readonly kind: 'incidents';
  /** At least one; the most urgent first. Channels cut long lists and say how many more there are. */
  readonly items: readonly MessageItem[];
  /**
   * The thread of mails that the message belongs to: its first message and subject, and in `othersFiring` the worst severity among those of its
   * incidents that still fire and are not in this message. Null when this is the first message, or its incidents began in different ones.
   */
  readonly thread: {
    readonly firstMessage: string;
    readonly subject: string;
    readonly references: readonly string[];
    readonly othersFiring: Severity | null;
  } | null;
  /** All open incidents whose messages have the same receipts, these items among them; the most urgent first. */
  readonly companions: readonly MessageItem[];
}

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
  /** People's name for its balance; empty when it is about no balance. */
  readonly balanceLabel: string;
  /** Oldest first, such as firing and resolved for an incident that came and went while the channel was down. */
  readonly kinds: readonly NotificationReason[];
  /** The account as it is now; null for lowwater itself, a provider, and an account removed since. */
  readonly account: ItemAccount | null;
  /** Signed link to the confirmation page; null without `publicUrl`. */
  readonly acknowledgeUrl: string | null;
  /** Whether people are mentioned for it, as the route says. */
  readonly mention: boolean;
  /** The receiver's name for the first message about it; null when it gave none. */
  readonly receipt: string | null;
  /** The keys for incident tools; absent when there is only the first key. */
  readonly keys?: ToolKeys;
  /** In answers to people: until when a silence mutes the alert; null when none does. */
  readonly silencedUntil?: number | null;
}

export interface ItemAccount
  extends Pick<
      AccountSettings,
      'id' | 'name' | 'labels' | 'topUpUrl' | 'runbookUrl' | 'note' | 'keyFrom' | 'balances' | 'provider'
    >,
    Pick<AccountState, 'reading' | 'previous' | 'outcome' | 'failure' | 'consecutiveFailures'> {
  readonly words: ProviderWords;
  /** False when its readings are pushed. */
  readonly polled: boolean;
  readonly runway: Runway | null;
  /** The payment for the item's balance; null when none is needed, or nobody can say. */
  readonly payment: Payment | null;
  /** Other alerts of this balance that still fire and were acknowledged. */
  readonly takenAlerts: readonly {
    readonly rule: string;
    readonly severity: Severity;
    readonly by: string;
  }[];
  /** Thresholds of `below` and `negative` rules on this balance, for the chart. */
  readonly thresholds: Ladder<Micros>;
  /** The last seven days of every balance, thinned; oldest first. */
  readonly history: readonly Reading[];
}

/** Conclusions from the spending (`spending/burn.ts`). */
export interface Runway {
  readonly balance: Balance;
  /** The level that counts as empty: zero, or below it by the credit limit. */
  readonly emptyMicros: Micros;
  /** Measured over the last `lookbackMs`. */
  readonly burnPerDay: Micros | null;
  readonly lookbackMs: number;
  /** The mean of what the forecast expects for 30 days; null without a forecast. The cost of 30 days is based on it when it is known. */
  readonly usualPerDay: Micros | null;
  readonly runwayMs: number | null;
  /** Set when the balance was not empty at the last reading: that it is empty by now is only predicted. */
  readonly isEndPredicted?: true;
  /** When the balance is empty: by the forecast, or by the mean burn if a rule names one. Null: passed, unknown, or never. */
  readonly emptyAt: number | null;
  readonly confidence: Confidence;
  /** The forecast behind `emptyAt`, with its interval; null when nothing can be predicted. */
  readonly forecast: Forecast | null;
  /** The last instant to pay so that the money arrives before the balance may be empty; null without a lead time. */
  readonly payBy: number | null;
  /** The amount for 30 days of runway; null when the burn rate is unknown, 0 when nothing is needed. */
  readonly restoreMicros: Micros | null;
  /** Money still to come, the last of it by `by`; null when there is none. */
  readonly expected: ExpectedMoney | null;
}

export interface ExpectedMoney {
  readonly amountMicros: Micros;
  readonly by: number;
  readonly comment: string;
  /** The part that arrives before the balance may be empty, or no later than a payment made now. The payment is smaller by this part. */
  readonly inTimeMicros: Micros;
  /** The forecast with that money included; null when it comes too late to put the end off, or nobody can say. */
  readonly forecast: Forecast | null;
}

export interface Payment {
  readonly balance: Balance;
  /**
   * The amount for another 30 days; with pay days, until the money of the run after it arrives. At least what clears the balance's alerts,
   * rounded up to what a person would pay.
   */
  readonly micros: Micros;
  /** The reason for the amount. */
  readonly covers: 'thirty-days' | 'alerts' | 'next-run';
  /** The last instant to pay so that the money arrives before the balance may be empty. Null without a forecast; not after `now` when it is due. */
  readonly dueAt: number | null;
  readonly isEmpty: boolean;
  /** Due at once, by the clock with which the payment was calculated. */
  readonly isDue: boolean;
  /** The last pay run that is in time for it; null when it cannot wait for one, undefined when no pay days are set. */
  readonly runAt?: number | null | undefined;
}

export interface ReportMessage extends MessageBase {
  readonly kind: 'report';
  readonly reportId: string;
  readonly since: number;
  readonly until: number;
  readonly nextAt: number | null;
  /** Shortest runway first. */
  readonly accounts: readonly ReportAccount[];
  /** Over all currencies; null when no currency is set for sums. */
  readonly inOne: { readonly left: OneSum; readonly spent: OneSum } | null;
  /** The sums of the present month, by currency. */
  readonly months: readonly ReportMonth[];
  /** The next pay runs, payments that cannot wait for one first; empty when no pay days are set. */
  readonly payRuns: readonly PayRun[];
}

export interface ReportMonth {
  readonly currency: string;
  readonly startsAt: number;
  readonly month: PeriodTogether;
  /** Null unless each balance that spends has a budget. */
  readonly budget: Micros | null;
  /** The number of balances without a forecast: they count as spent so far. */
  readonly unknown: number;
  readonly balances: number;
}

export interface PayRun {
  /** Null: payments that cannot wait for a run. */
  readonly at: number | null;
  readonly sums: readonly { readonly currency: string; readonly micros: Micros }[];
  readonly total: OneSum | null;
  /** The number of payments. */
  readonly count: number;
}

export interface ReportAccount extends Pick<AccountSettings, 'id' | 'name' | 'balances'> {
  readonly reading: Reading | null;
  readonly runways: Readonly<Record<Balance, Runway | null>>;
  /** The record of the last two weeks; null while no forecast came due. */
  readonly records: Readonly<Record<Balance, ForecastRecord | null>>;
  readonly payments: readonly Payment[];
  readonly spent: Readonly<Record<Balance, Micros>>;
  /** Since when `spent` and `toppedUp` are known in full; absent: for the whole period, or never read. */
  readonly spentSince?: number;
  /** The first reading, when stored readings after it are damaged: `spent` begins there, although not all of it is known. */
  readonly watchedSince?: number;
  /** The last reading of the period, when later ones are missing; absent: it is known to the end, or was never read. */
  readonly spentUntil?: number;
  readonly toppedUp: Readonly<Record<Balance, Micros>>;
  readonly topUps: readonly { readonly at: number; readonly balance: Balance; readonly micros: Micros }[];
  readonly incidents: readonly Incident[];
  readonly history: readonly Reading[];
}

export interface TestMessage extends MessageBase {
  readonly kind: 'test';
  readonly channel: string;
}

/** One word for everything that a message says about an incident. */
export type ItemState = NotificationReason | 'closed';

/** An end outranks all else, and `firing` outranks `worse`. An end without recovery is `closed`. */
export function stateOf(item: MessageItem): ItemState {
  const { kinds, resolution } = item;
  if (kinds.includes('resolved')) {
    return resolution === null || resolution.kind === 'recovered' || resolution.kind === 'topped-up'
      ? 'resolved'
      : 'closed';
  }
  const order = ['flapping', 'escalated', 'firing', 'worse', 'acknowledged', 'reminder', 'event'] as const;
  const isTaken = isAcknowledged(item.incident);
  const { eased, rises, worstSeverity, severity } = item.incident;
  const isMilder = eased !== null && eased.rises >= rises && isWorse(worstSeverity, severity);
  // Somebody took it, or a top-up made it milder, before this was sent.
  const isSo = kinds.map((kind) => {
    if (kind === 'escalated' && isTaken) return 'acknowledged';
    return kind === 'worse' && isMilder ? 'reminder' : kind;
  });
  const state = order.find((kind) => isSo.includes(kind)) ?? 'firing';
  // The acknowledgement was removed, or broken, before this was sent.
  return state === 'acknowledged' && !isTaken ? 'reminder' : state;
}

/** Whether the item will not change any more: its numbers are those of that moment. */
export function isOver(item: MessageItem): boolean {
  const state = stateOf(item);
  return state === 'resolved' || state === 'event';
}

/** Whether this is surely the channel's first message about the incident. If it fired for something else besides, a later one cannot be ruled out. */
export function isFirstNotification({ kinds, incident }: MessageItem): boolean {
  return (kinds.includes('firing') && incident.anotherAt === undefined) || kinds.includes('event');
}

/** Whether it is an event, such as a top-up, that nobody has to act on. */
export function asksNothing({ event, severity }: Pick<Incident, 'event' | 'severity'>): boolean {
  return event && severity === 'info';
}

/** The worst severity of `others` and of items that are not over and ask for something; null without any. It need not be the most urgent item's. */
export function worstFiring(items: readonly MessageItem[], others: Severity | null = null): Severity | null {
  let worst = others;
  for (const item of items) {
    const state = stateOf(item);
    const isEnded = state === 'resolved' || state === 'closed';
    if (!isEnded && !asksNothing(item.incident) && (worst === null || isWorse(item.severity, worst)))
      worst = item.severity;
  }
  return worst;
}
