import type { Incident } from '../../src/domain/alert.ts';
import type {
  IncidentMessage,
  ItemAccount,
  Message,
  MessageItem,
  Payment,
  ReportAccount,
  ReportMessage,
  Runway,
  TestMessage,
} from '../../src/domain/message.ts';
import type { NotificationReason } from '../../src/domain/outbox.ts';
import { amountOf, type Balance, type Reading } from '../../src/domain/reading.ts';
import { paymentOf } from '../../src/engine/payments.ts';
import { incidentSubject, readerOf } from '../../src/messages/item-wording.ts';
import { accountServiceBalances } from '../../src/providers/account-service/account-service-kind.ts';
import { makeProvider } from './settings.ts';

/** Fri 20 Nov 2026, 18:41 UTC: 02:41 on Saturday in Shanghai. */
export const messageNow = Date.UTC(2026, 10, 20, 18, 41);

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

export function money(units: number): number {
  return Math.round(units * 1_000_000);
}

/**
 * Seven days of readings every half hour that fall to `end`, by day faster than by night, with a top-up of
 * `topUp` three days ago.
 */
function fallingHistory(options: {
  readonly end: number;
  readonly perDay: number;
  readonly topUp?: number;
  readonly until?: number;
}): readonly Reading[] {
  const until = options.until ?? messageNow - 4 * minute;
  const readings: Reading[] = [];
  for (let at = until - 7 * day; at <= until; at += 30 * minute) {
    const daysLeft = (until - at) / day;
    const wave = (Math.sin(2 * Math.PI * daysLeft) * 0.8) / (2 * Math.PI);
    const beforeTopUp = at < until - 3 * day ? (options.topUp ?? 0) : 0;
    readings.push({
      at,
      balances: {
        sms: money(Math.round((options.end + (daysLeft + wave) * options.perDay - beforeTopUp) * 100) / 100),
        voip: money(80),
      },
      currency: 'CNY',
    });
  }
  return readings;
}

const usualHistory = fallingHistory({ end: 42.1, perDay: 48, topUp: 200 });

export function buildRunway(over: Partial<Runway> = {}): Runway {
  return {
    balance: 'sms',
    emptyMicros: 0,
    lookbackMs: 86_400_000,
    usualPerDay: money(48),
    expected: null,
    burnPerDay: money(48),
    runwayMs: Math.round((42.1 / 48) * day),
    emptyAt: messageNow + Math.round((42.1 / 48) * day),
    confidence: 'high',
    forecast: null,
    payBy: null,
    restoreMicros: money(1397.9),
    ...over,
  };
}

/** `clearsAt`: the balance at which its alerts resolve. Unless it is given, the payment is what follows. */
export function buildAccount({
  clearsAt = money(500),
  ...over
}: Partial<ItemAccount> & { readonly clearsAt?: number | null } = {}): ItemAccount {
  const account: ItemAccount = {
    id: 'otp',
    name: 'OTP production',
    labels: { team: 'identity' },
    topUpUrl: null,
    runbookUrl: null,
    note: null,
    keyFrom: null,
    provider: 'provider',
    words: makeProvider().words,
    balances: accountServiceBalances,
    reading: {
      at: messageNow - 4 * minute,
      balances: { sms: money(42.1), voip: money(80) },
      currency: 'CNY',
    },
    previous: {
      at: messageNow - 9 * minute,
      balances: { sms: money(42.18), voip: money(80) },
      currency: 'CNY',
    },
    outcome: 'ok',
    failure: null,
    consecutiveFailures: 0,
    runway: buildRunway(),
    polled: true,
    payment: null,
    takenAlerts: [],
    thresholds: { info: money(500), warning: money(200), critical: money(50) },
    history: usualHistory,
    ...over,
  };
  return { ...account, payment: over.payment ?? owedBy(account, clearsAt) };
}

function owedBy({ runway, reading }: ItemAccount, clearsAt: number | null): Payment | null {
  if (runway === null || reading === null) return null;
  const left = amountOf(reading, runway.balance);
  return paymentOf(runway, { left, clearsAt, now: messageNow, currency: reading.currency });
}

/** What most tests change; the incident follows the notice. */
export interface NoticeOver extends Partial<Omit<MessageItem, 'incident'>> {
  readonly incident?: Partial<Incident>;
}

export function buildItem(over: NoticeOver = {}): MessageItem {
  const { incident, ...rest } = over;
  const base = {
    kinds: ['firing'] as readonly NotificationReason[],
    type: 'below',
    severity: 'critical' as const,
    account: buildAccount(),
    accountName: 'OTP production',
    rule: 'sms-low',
    balance: 'sms' as Balance | null,
    balanceLabel: rest.balance === null ? '' : rest.balance === 'voip' ? 'VoIP' : 'SMS',
    value: { unit: 'money', micros: money(42.1) } as const,
    threshold: { unit: 'money', micros: money(50) } as const,
    facts: [],
    firedAt: messageNow - 19 * minute,
    resolvedAt: null,
    resolution: null,
    acknowledgeUrl: 'https://lowwater.example.com/a/nPuFyM7lAA2x2kkc6mYV3Q',
    mention: true,
    receipt: null,
    ...rest,
  };
  return { ...base, incident: buildIncident(base, incident ?? {}) };
}

function buildIncident(item: Omit<MessageItem, 'incident'>, over: Partial<Incident>): Incident {
  return {
    id: '0f9f3c1e-6f5b-4b58-9f3a-2f4d6f0a7a11',
    account: item.account?.id ?? '@lowwater',
    rule: item.rule,
    type: item.type,
    balance: item.balance,
    accountName: item.accountName,
    labels: item.account?.labels ?? {},
    severity: item.severity,
    worstSeverity: item.severity,
    rises: 0,
    firedAt: item.firedAt,
    escalationSince: item.firedAt,
    flappingSince: null,
    resolvedAt: item.resolvedAt,
    resolution: item.resolution,
    event: item.kinds.includes('event'),
    value: item.value,
    threshold: item.threshold,
    facts: item.facts,
    acknowledgement: null,
    eased: null,
    notified: {},
    ...over,
  };
}

export function buildMessage(
  items: readonly MessageItem[] = [buildItem()],
  over: Partial<IncidentMessage> = {},
): IncidentMessage {
  return {
    kind: 'incidents',
    id: '5b0f5a2e-77a8-4a55-8f4b-0d9f0f0c2b10',
    at: messageNow,
    publicUrl: 'https://lowwater.example.com',
    timezone: 'Asia/Shanghai',
    language: 'en',
    items,
    thread: null,
    companions: [],
    ...over,
  };
}

/** A later message of an incident whose first one was sent. */
function buildReply(item: MessageItem): IncidentMessage {
  const subject = incidentSubject(item, readerOf(buildMessage([item])));
  return buildMessage([item], {
    thread: { firstMessage: 'first', subject, references: ['first'], othersFiring: null },
  });
}

export function buildReportAccount(over: Partial<ReportAccount> = {}): ReportAccount {
  const history = over.history ?? usualHistory;
  return {
    id: 'otp',
    name: 'OTP production',
    balances: accountServiceBalances,
    reading: {
      at: messageNow - 4 * minute,
      balances: { sms: money(42.1), voip: money(80) },
      currency: 'CNY',
    },
    runways: { sms: buildRunway(), voip: null },
    payments: [],
    records: { sms: { aheadMs: 3 * day, count: 44, medianError: 0.041, tooLow: 0.75 }, voip: null },
    spent: { sms: money(336), voip: 0 },
    toppedUp: { sms: money(200), voip: 0 },
    topUps: [{ at: messageNow - 3 * day, balance: 'sms', micros: money(200) }],
    incidents: [buildItem().incident],
    history,
    ...over,
  };
}

export function buildReport(over: Partial<ReportMessage> = {}): ReportMessage {
  return {
    kind: 'report',
    ...{ inOne: null, months: [], payRuns: [] },
    id: '9d1c2f52-1a86-4f0c-8a52-0e6a0d1f7b3c',
    at: messageNow,
    publicUrl: 'https://lowwater.example.com',
    timezone: 'Asia/Shanghai',
    language: 'en',
    reportId: 'weekly',
    since: messageNow - 7 * day,
    until: messageNow,
    nextAt: messageNow + 7 * day,
    accounts: [
      buildReportAccount(),
      buildReportAccount({
        id: 'marketing',
        name: 'Marketing EU',
        reading: {
          at: messageNow - 4 * minute,
          balances: { sms: money(1840.25), voip: money(0) },
          currency: 'EUR',
        },
        runways: {
          sms: buildRunway({
            burnPerDay: money(55.2),
            runwayMs: Math.round(33.3 * day),
            emptyAt: messageNow + Math.round(33.3 * day),
            restoreMicros: 0,
          }),
          voip: null,
        },
        spent: { sms: money(386.4), voip: 0 },
        toppedUp: { sms: 0, voip: 0 },
        topUps: [],
        incidents: [],
        history: fallingHistory({ end: 1840.25, perDay: 55.2 }).map((reading) => ({
          ...reading,
          currency: 'EUR',
          balances: { ...reading.balances, voip: 0 },
        })),
      }),
      buildReportAccount({
        id: 'voice',
        name: 'Voice calls',
        reading: {
          at: messageNow - 4 * minute,
          balances: { sms: money(0), voip: money(912.4) },
          currency: 'CNY',
        },
        runways: {
          sms: null,
          voip: buildRunway({
            balance: 'voip',
            burnPerDay: 0,
            runwayMs: null,
            emptyAt: null,
            restoreMicros: 0,
          }),
        },
        spent: { sms: 0, voip: 0 },
        toppedUp: { sms: 0, voip: 0 },
        topUps: [],
        incidents: [],
        history: fallingHistory({ end: 0, perDay: 0 }).map((reading) => ({
          ...reading,
          balances: { sms: 0, voip: money(912.4) },
        })),
      }),
    ],
    ...over,
  };
}

export function buildTestMessage(over: Partial<TestMessage> = {}): TestMessage {
  return {
    kind: 'test',
    id: '1f0e8f3a-9f60-4a0a-90b1-5ac6a2a6a0c4',
    at: messageNow,
    publicUrl: 'https://lowwater.example.com',
    timezone: 'Asia/Shanghai',
    language: 'en',
    channel: 'ops',
    ...over,
  };
}

/** Every kind of message that lowwater sends, by name. */
export function everyMessage(): Readonly<Record<string, Message>> {
  return {
    ...moneyMessages(),
    ...habitMessages(),
    ...accessMessages(),
    ...ownMessages(),
    ...otherMessages(),
  };
}

function moneyMessages(): Readonly<Record<string, Message>> {
  const toppedUp = buildAccount({
    reading: { at: messageNow - minute, balances: { sms: money(541.6), voip: money(80) }, currency: 'CNY' },
    previous: {
      at: messageNow - 6 * minute,
      balances: { sms: money(41.8), voip: money(80) },
      currency: 'CNY',
    },
    runway: buildRunway({
      runwayMs: Math.round(11.3 * day),
      emptyAt: messageNow + Math.round(11.3 * day),
      restoreMicros: 0,
    }),
    history: [
      ...fallingHistory({ end: 41.8, perDay: 48, topUp: 200, until: messageNow - 6 * minute }),
      { at: messageNow - minute, balances: { sms: money(541.6), voip: money(80) }, currency: 'CNY' },
    ],
  });
  return {
    firing: buildMessage(),
    worse: buildReply(
      buildItem({ kinds: ['worse'], firedAt: messageNow - 3 * hour, incident: { rises: 1 } }),
    ),
    reminder: buildReply(buildItem({ kinds: ['reminder'], firedAt: messageNow - 4 * hour })),
    escalated: buildMessage([buildItem({ kinds: ['escalated'], firedAt: messageNow - 30 * minute })]),
    resolved: buildReply(
      buildItem({
        kinds: ['resolved'],
        account: toppedUp,
        resolvedAt: messageNow - minute,
        resolution: { kind: 'topped-up', micros: money(500) },
      }),
    ),
    flapping: buildReply(buildItem({ kinds: ['flapping'], firedAt: messageNow - 50 * minute })),
    'top-up': buildMessage([
      buildItem({
        kinds: ['event'],
        type: 'top-up',
        severity: 'info',
        rule: 'topped-up',
        account: toppedUp,
        value: { unit: 'money', micros: money(500) },
        threshold: { unit: 'money', micros: money(0.01) },
        firedAt: messageNow - minute,
        acknowledgeUrl: null,
      }),
    ]),
    negative: buildMessage([
      buildItem({
        type: 'negative',
        rule: 'sms-negative',
        account: buildAccount({
          reading: {
            at: messageNow - 4 * minute,
            balances: { sms: money(-18.383), voip: money(0) },
            currency: 'CNY',
          },
          previous: {
            at: messageNow - 9 * minute,
            balances: { sms: money(842.1), voip: money(0) },
            currency: 'CNY',
          },
          runway: buildRunway({
            runwayMs: 0,
            emptyAt: messageNow - 2 * hour,
            restoreMicros: money(1458.383),
          }),
          history: fallingHistory({ end: -18.383, perDay: 30 }),
        }),
        value: { unit: 'money', micros: money(-18.383) },
        threshold: { unit: 'money', micros: 0 },
      }),
    ]),
    runway: buildMessage([
      buildItem({
        type: 'runway',
        severity: 'warning',
        rule: 'sms-runway',
        value: { unit: 'duration', ms: Math.round((42.1 / 48) * day) },
        threshold: { unit: 'duration', ms: 7 * day },
        account: predictedAccount(),
      }),
    ]),
    drop: buildMessage([
      buildItem({
        type: 'drop',
        severity: 'warning',
        rule: 'sms-burst',
        value: { unit: 'money', micros: money(120) },
        threshold: { unit: 'money', micros: money(100) },
        facts: [{ name: 'window', value: { unit: 'duration', ms: hour } }],
      }),
    ]),
    idle: buildMessage([
      buildItem({
        type: 'idle',
        severity: 'info',
        rule: 'sms-idle',
        value: { unit: 'duration', ms: 6 * hour + 10 * minute },
        threshold: { unit: 'duration', ms: 6 * hour },
      }),
    ]),
  };
}

/** Of rules that know what is usual: a burst, traffic that falls away, a recharge that did not come, a budget. */
function habitMessages(): Readonly<Record<string, Message>> {
  const amount = (units: number) => ({ unit: 'money', micros: money(units) }) as const;
  return {
    acknowledged: buildReply(
      buildItem({
        kinds: ['acknowledged'],
        incident: {
          acknowledgement: {
            at: messageNow - 2 * minute,
            by: 'ada',
            comment: 'finance is topping up',
            rises: 0,
            severity: 'critical',
          },
        },
      }),
    ),
    surge: buildMessage([
      buildItem({
        type: 'surge',
        severity: 'warning',
        rule: 'sms-surge',
        value: amount(96),
        threshold: amount(8),
        facts: [
          { name: 'an hour, beyond the usual', value: amount(96) },
          { name: 'times the usual', value: { unit: 'text', text: '12.0' } },
          { name: 'empty at this pace', value: { unit: 'instant', at: messageNow + 26 * minute } },
        ],
      }),
    ]),
    slump: buildMessage([
      buildItem({
        type: 'slump',
        severity: 'warning',
        rule: 'sms-slump',
        value: amount(0.4),
        threshold: amount(8),
      }),
    ]),
    budget: buildMessage([
      buildItem({
        type: 'budget',
        severity: 'warning',
        rule: 'monthly',
        value: amount(812.5),
        threshold: amount(800),
        facts: [
          { name: 'period', value: { unit: 'text', text: 'month' } },
          { name: 'period began', value: { unit: 'instant', at: Date.UTC(2026, 9, 31, 16) } },
          { name: 'total at its end', value: amount(1260) },
          { name: 'reckoned by', value: { unit: 'text', text: 'the forecast' } },
        ],
      }),
    ]),
    'missed-top-up': buildMessage([
      buildItem({
        type: 'missed-top-up',
        severity: 'critical',
        rule: 'missed-top-up',
        threshold: amount(100),
        facts: [{ name: 'usual top-up', value: amount(500) }],
      }),
    ]),
  };
}

/** What is predicted of it, and everything that its operators left. */
function predictedAccount(): ItemAccount {
  const emptyAt = messageNow + 21 * hour;
  const interval = { earliest: messageNow + 15 * hour, latest: messageNow + 31 * hour };
  return buildAccount({
    topUpUrl: 'https://pay.example.com/otp',
    runbookUrl: 'https://runbooks.example.com/top-up',
    note: 'Finance answers until 18:00; after that ask the shift lead.',
    runway: buildRunway({
      emptyAt,
      forecast: { emptyAt, ...interval, basis: 'hour-of-week' },
      payBy: messageNow + 13 * hour,
    }),
  });
}

function accessMessages(): Readonly<Record<string, Message>> {
  const blind = (over: Partial<ItemAccount>): ItemAccount =>
    buildAccount({
      reading: {
        at: messageNow - 42 * minute,
        balances: { sms: money(742.1), voip: money(80) },
        currency: 'CNY',
      },
      runway: buildRunway({
        runwayMs: Math.round((742.1 / 48) * day) - 42 * minute,
        emptyAt: messageNow - 42 * minute + Math.round((742.1 / 48) * day),
        restoreMicros: money(699.3),
      }),
      history: fallingHistory({ end: 742.1, perDay: 48, until: messageNow - 42 * minute }),
      consecutiveFailures: 8,
      ...over,
    });
  const stale = (over: Partial<ItemAccount>): Message =>
    buildMessage([
      buildItem({
        type: 'stale',
        severity: 'warning',
        rule: 'stale',
        balance: null,
        account: blind(over),
        value: { unit: 'duration', ms: 42 * minute },
        threshold: { unit: 'duration', ms: 15 * minute },
      }),
    ]);
  return {
    'auth-failed': buildMessage([
      buildItem({
        type: 'auth-failed',
        rule: 'auth-failed',
        balance: null,
        account: blind({ outcome: 'auth_failed', failure: 'the provider refuses the key (code -22)' }),
        value: null,
        threshold: null,
      }),
    ]),
    stale: stale({ outcome: 'timeout', failure: 'no complete answer within 10s' }),
    'stale-tls': stale({ outcome: 'network_error', failure: 'the certificate has expired' }),
    currency: buildMessage([
      buildItem({
        type: 'currency',
        rule: 'currency',
        balance: null,
        account: buildAccount({
          reading: { at: messageNow - minute, balances: { sms: money(5.2), voip: 0 }, currency: 'EUR' },
        }),
        value: { unit: 'text', text: 'EUR' },
        threshold: { unit: 'text', text: 'CNY' },
      }),
    ]),
    'provider-down': buildMessage([
      buildItem({
        type: 'provider-down',
        rule: 'provider-down',
        account: null,
        accountName: 'api.example.com',
        balance: null,
        value: { unit: 'text', text: '12 of 14 accounts' },
        threshold: null,
        acknowledgeUrl: null,
        facts: [
          { name: 'provider', value: { unit: 'text', text: 'api.example.com' } },
          { name: 'accounts', value: { unit: 'count', count: 12 } },
          { name: 'reason', value: { unit: 'text', text: 'HTTP 503 without an answer of the provider' } },
        ],
        incident: { account: '@provider:api.example.com' },
      }),
    ]),
  };
}

function ownMessages(): Readonly<Record<string, Message>> {
  const own = (type: string, text: string, facts: MessageItem['facts'] = []): Message =>
    buildMessage([
      buildItem({
        type,
        rule: type === 'channel-failed' ? 'channel-failed:ops' : type,
        account: null,
        accountName: 'lowwater',
        balance: null,
        value: { unit: 'text', text },
        threshold: null,
        facts,
        acknowledgeUrl: null,
      }),
    ]);
  return {
    'storage-failed': own('storage-failed', 'the disk is full'),
    'channel-failed': own('channel-failed', 'Slack answered 404 no_service', [
      { name: 'channel', value: { unit: 'text', text: 'ops' } },
    ]),
    'config-invalid': own('config-invalid', '2 errors', []),
  };
}

function otherMessages(): Readonly<Record<string, Message>> {
  return {
    group: buildMessage([
      buildItem(),
      buildItem({
        type: 'auth-failed',
        rule: 'auth-failed',
        balance: null,
        value: null,
        threshold: null,
        account: buildAccount({
          id: 'marketing',
          name: 'Marketing EU',
          outcome: 'auth_failed',
          failure: 'the provider refuses the key (code -22)',
          consecutiveFailures: 1,
        }),
        accountName: 'Marketing EU',
      }),
      buildItem({
        kinds: ['firing', 'resolved'],
        severity: 'warning',
        rule: 'voip-low',
        balance: 'voip',
        account: buildAccount({ id: 'voice', name: 'Voice calls' }),
        accountName: 'Voice calls',
        firedAt: messageNow - 2 * hour,
        resolvedAt: messageNow - hour,
        resolution: { kind: 'recovered' },
      }),
    ]),
    report: buildReport(),
    test: buildTestMessage(),
  };
}
