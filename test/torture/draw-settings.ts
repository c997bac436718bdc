import type { Route } from '../../src/domain/route.ts';
import type { Ladder, Matcher, Rule } from '../../src/domain/rule.ts';
import { Secret } from '../../src/domain/secret.ts';
import type {
  AccountSettings,
  ChannelSettings,
  ReportSettings,
  Settings,
} from '../../src/domain/settings.ts';
import { type Severity, severities } from '../../src/domain/severity.ts';
import type { RecurringSilence } from '../../src/domain/silence.ts';
import { accountServiceBalances } from '../../src/providers/account-service/balances.ts';
import { buildBuiltInRules } from '../../src/rules/built-in-rules.ts';
import type { AnyRule } from '../../src/rules/registry.ts';
import { asAnyRule } from '../support/any-rule.ts';
import { channelOf, makeProvider } from '../support/settings.ts';
import { dayMs, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

const unit = 1_000_000;
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Shanghai', 'Australia/Lord_Howe'];
const hosts = ['https://one.example', 'https://two.example'];

/** A valid configuration of any shape that the product allows. `long`: for a story of months. */
export function drawSettings(from: Seeded, { long }: { readonly long: boolean }): Settings {
  const accounts = drawAccounts(from, long ? [30, 60, 60, 120, 240, 360] : [5, 5, 10, 15, 30, 60]);
  const channels = drawChannels(from, from.int(1, 3));
  const configured = drawRules(from, accounts);
  return {
    provider: makeProvider({
      maxRequestsPerSecond: from.pick([1, 1, 2, 20]),
      backoff: {
        initialMs: from.pick([30_000, 30_000, 5000]),
        maxMs: from.pick([hourMs, hourMs, 10 * minuteMs]),
      },
    }),
    providers: {},
    accounts,
    rules: [...configured, ...buildBuiltInRules(configured, accounts)],
    channels,
    routes: drawRoutes(from, accounts, configured, channels),
    silences: drawSilences(from, accounts),
    reports: drawReports(from, channels),
    server: null,
    heartbeat: from.chance(0.3)
      ? { url: new Secret('https://beat.example/secret-heartbeat'), everyMs: hourMs }
      : null,
    storage: { path: ':memory:', retentionMs: from.pick([400, 400, 30]) * dayMs },
    log: { level: 'debug' },
    timezone: from.pick(zones),
  };
}

/** An edit of a configuration, as people make them. */
export function editSettings(from: Seeded, before: Settings): Settings {
  const configured = before.rules.filter((rule) => !rule.builtIn);
  const rebuilt = (rules: readonly Rule[], accounts = before.accounts): Settings => ({
    ...before,
    accounts,
    rules: [...rules, ...buildBuiltInRules(rules, accounts)],
  });
  switch (from.int(0, 8)) {
    case 0:
      return rebuilt(configured.filter((_, place) => place !== from.int(0, configured.length)));
    case 1:
      return rebuilt([...configured, drawRule(from, `late-${from.int(100, 999)}`, before.accounts)]);
    case 2:
      return rebuilt(configured.map((rule) => (from.chance(0.5) ? shiftThresholds(from, rule) : rule)));
    case 3: {
      if (before.accounts.length < 2) return before;
      const gone = from.int(0, before.accounts.length - 1);
      return rebuilt(
        configured,
        before.accounts.filter((_, place) => place !== gone),
      );
    }
    case 4:
      return { ...before, routes: drawRoutes(from, before.accounts, configured, before.channels) };
    case 5: {
      const place = from.int(0, before.accounts.length - 1);
      const secret = new Secret(`secret-rotated-${from.int(1000, 9999)}`);
      return {
        ...before,
        accounts: before.accounts.map((it, index) =>
          index === place ? { ...it, credentials: { authSecret: secret } } : it,
        ),
      };
    }
    case 6:
      return { ...before, silences: drawSilences(from, before.accounts) };
    case 7: {
      const place = from.int(0, before.accounts.length - 1);
      const { poll: old } = before.accounts[place] ?? { poll: null };
      const everyMs = old?.kind === 'every' ? old.everyMs * from.pick([0.5, 2]) : 10 * minuteMs;
      const poll = { kind: 'every', everyMs: Math.max(5 * minuteMs, everyMs) } as const;
      return {
        ...before,
        accounts: before.accounts.map((it, index) => (index === place ? { ...it, poll } : it)),
      };
    }
    default:
      return before;
  }
}

function drawAccounts(from: Seeded, everyMinutes: readonly number[]): AccountSettings[] {
  const count = from.pick([1, 1, 2, 2, 3, 4, 5, 6]);
  const shared = from.chance(0.3);
  return Array.from({ length: count }, (_, place) => ({
    id: `acc-${place}`,
    name: from.chance(0.5) ? `acc-${place}` : `Account ${place} <!channel> & co`,
    provider: 'provider',
    credentials: { authSecret: new Secret(`secret-key-${shared ? place % 2 : place}`) },
    baseUrl: from.chance(0.8) ? (hosts[0] ?? '') : from.pick(hosts),
    balances: accountServiceBalances,
    currency: from.chance(0.7) ? 'EUR' : null,
    labels: { team: from.pick(['red', 'blue']) },
    topUpUrl: null,
    runbookUrl: null,
    note: null,
    poll: from.chance(0.9)
      ? { kind: 'every', everyMs: from.pick(everyMinutes) * minuteMs }
      : {
          kind: 'cron',
          cron: from.pick(['*/15 8-20 * * 1-5', '0 * * * *', '*/20 * * * *']),
          timezone: from.pick(zones),
        },
    nearEmptyMs: null,
    timezone: zones[place % zones.length] ?? 'UTC',
    holidays: [],
    keyFrom: null,
    creditLimitMicros: 0,
    leadTimeMs: null,
  }));
}

function drawChannels(from: Seeded, count: number): ChannelSettings[] {
  return Array.from({ length: count }, (_, place) => drawChannel(from, place));
}

function drawChannel(from: Seeded, place: number): ChannelSettings {
  const name = `ch-${place}`;
  const places = [
    { type: 'slack', webhookUrl: `https://hooks.example/secret-hook-${place}` },
    {
      type: 'email',
      smtpUrl: `smtps://me:secret-mail-${place}@mail.example`,
      from: 'Lowwater <lowwater@example.com>',
      to: ['ops@example.com'],
    },
    { type: 'webhook', url: `https://in.example/secret-in-${place}` },
  ] as const;
  return channelOf(name, from.pick(places));
}

function drawRules(from: Seeded, accounts: readonly AccountSettings[]): Rule[] {
  return Array.from({ length: from.int(0, 5) }, (_, place) => drawRule(from, `rule-${place}`, accounts));
}

const types = [
  'below',
  'below',
  'below',
  'below',
  'negative',
  'runway',
  'drop',
  'idle',
  'top-up',
  'currency',
  'stale',
  'auth-failed',
] as const;

function drawRule(from: Seeded, id: string, accounts: readonly AccountSettings[]): AnyRule {
  const type = from.pick(types);
  const timed = from.chance(0.5);
  const base = {
    id,
    severity: from.pick(severities),
    forMs: timed ? from.pick([0, 7, 20, 60, 180]) * minuteMs : 0,
    recoverForMs: timed ? from.pick([0, 7, 20, 60]) * minuteMs : 0,
    match: from.chance(0.7) ? {} : drawMatch(from, accounts),
    builtIn: false,
    balance: null,
  };
  const balance = from.chance(0.7) ? 'sms' : 'voip';
  const amount = from.pick([5, 20, 50]) * unit;
  switch (type) {
    case 'below': {
      const hysteresis = from.pick([
        { kind: 'amount', micros: 0 },
        { kind: 'amount', micros: 20 * unit },
        { kind: 'share', share: 0.1 },
      ] as const);
      return {
        ...base,
        type,
        balance,
        thresholds: drawLadder(
          from,
          [300, 200, 100].map((it) => it * unit),
        ),
        hysteresis,
      };
    }
    case 'negative':
      return { ...base, type, balance, hysteresisMicros: from.pick([0, 10 * unit]) };
    case 'runway':
      return {
        ...base,
        type,
        balance,
        thresholds: drawLadder(from, [7 * dayMs, 3 * dayMs, dayMs]),
        floorMicros: from.pick([null, 50 * unit]),
        lookbackMs: from.pick([null, dayMs]),
        minimumHistoryMs: hourMs,
        minimumHistoryGiven: from.chance(0.3),
      };
    case 'drop':
      return {
        ...base,
        type,
        balance,
        by: from.chance(0.6) ? { kind: 'amount', micros: amount } : { kind: 'share', share: 0.1 },
        windowMs: from.pick([hourMs, 6 * hourMs, dayMs]),
      };
    case 'idle':
      return { ...base, type, balance, windowMs: from.pick([6 * hourMs, dayMs]) };
    case 'top-up':
      return { ...base, type, balance, atLeastMicros: from.pick([10_000, 100 * unit]) };
    case 'currency':
      return { ...base, type };
    case 'stale':
      return { ...base, type, afterMs: from.pick([null, 15 * minuteMs, 2 * hourMs]) };
    case 'auth-failed':
      return { ...base, type };
  }
}

/** One to three steps; values come mildest first. */
function drawLadder(from: Seeded, values: readonly number[]): Ladder<number> {
  const steps = from.atLeastOne(severities, 0.6);
  const ladder: Partial<Record<Severity, number>> = {};
  for (const [place, severity] of severities.entries()) {
    const value = values[place];
    if (steps.includes(severity) && value !== undefined) ladder[severity] = value;
  }
  return ladder;
}

function shiftThresholds(from: Seeded, it: Rule): Rule {
  const rule = asAnyRule(it);
  if (rule.type !== 'below') return { ...rule, forMs: from.pick([0, 10 * minuteMs]) };
  const by = from.pick([-30, 30, 60]) * unit;
  const moved = Object.entries(rule.thresholds).map(([severity, value]) => [severity, value + by]);
  return { ...rule, thresholds: Object.fromEntries(moved) };
}

function drawRoutes(
  from: Seeded,
  accounts: readonly AccountSettings[],
  rules: readonly Rule[],
  channels: readonly ChannelSettings[],
): Route[] {
  const names = channels.map((channel) => channel.name);
  return Array.from({ length: from.int(0, 3) }, () => ({
    match: from.chance(0.3) ? {} : drawMatch(from, accounts, rules),
    channels: from.atLeastOne(names, 0.6),
    repeatEveryMs: from.pick([1, 4, 4, 24]) * hourMs,
    groupWaitMs: from.pick([0, 5000, 5000, 60_000]),
    escalate: from.chance(0.4)
      ? { afterMs: from.pick([10, 30, 120]) * minuteMs, channels: from.atLeastOne(names, 0.5) }
      : null,
    continue: from.chance(0.3),
    mention: true,
  }));
}

export function drawMatch(
  from: Seeded,
  accounts: readonly AccountSettings[],
  rules: readonly Rule[] = [],
): Matcher {
  switch (from.int(0, rules.length > 0 ? 3 : 1)) {
    case 0:
      return {
        account: from.atLeastOne(
          accounts.map((it) => it.id),
          0.4,
        ),
      };
    case 1:
      return { labels: { team: [from.pick(['red', 'blue'])] } };
    case 2:
      return { severity: from.atLeastOne(severities, 0.5) };
    default:
      return { rule: from.atLeastOne([...rules.map((it) => it.id), 'stale'], 0.5) };
  }
}

function drawSilences(from: Seeded, accounts: readonly AccountSettings[]): RecurringSilence[] {
  if (!from.chance(0.4)) return [];
  const cron = from.pick(['0 2 * * 0', '30 2 * * *', '0 22 * * 1-5', '15 1 1 * *']);
  const match = from.chance(0.4) ? {} : drawMatch(from, accounts);
  return [
    { match, cron, timezone: from.pick(zones), durationMs: from.pick([1, 2, 6]) * hourMs, comment: '' },
  ];
}

function drawReports(from: Seeded, channels: readonly ChannelSettings[]): ReportSettings[] {
  if (!from.chance(0.5)) return [];
  const names = channels.map((channel) => channel.name);
  const crons = ['0 9 * * 1', '30 2 * * *', '0 0 1 * *', '0 3 * * *'];
  return Array.from({ length: from.int(1, 2) }, (_, place) => ({
    id: `report-${place}`,
    cron: from.pick(crons),
    timezone: from.pick(zones),
    channels: from.atLeastOne(names, 0.6),
  }));
}
