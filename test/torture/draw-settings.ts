import { defaultEntry, type ProviderEntry } from '../../src/domain/provider-entry.ts';
import { mapEach } from '../../src/domain/reading.ts';
import type { RecurringSilence, Route } from '../../src/domain/route.ts';
import type { Matcher, Rule } from '../../src/domain/rule.ts';
import { Secret } from '../../src/domain/secret.ts';
import type {
  AccountSettings,
  ChannelSettings,
  ReportSettings,
  Settings,
} from '../../src/domain/settings.ts';
import { severities } from '../../src/domain/severity.ts';
import { buildBuiltInRules } from '../../src/rules/rules-for-account.ts';
import { asAnyRule } from '../support/any-rule.ts';
import { makeAccount, makeProvider, makeSettings } from '../support/settings.ts';
import { accessOf, drawChannel, drawEntries, drawRuleKind, drawRuleOf } from './draw-kinds.ts';
import { dayMs, hourMs, minuteMs } from './scenario.ts';
import type { Seeded } from './seeded.ts';

const unit = 1_000_000;
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Shanghai', 'Australia/Lord_Howe'];
const hosts = ['https://one.example', 'https://two.example'];

/** A valid configuration of any shape that the product allows. `long`: for a story of months. */
export function drawSettings(from: Seeded, { long }: { readonly long: boolean }): Settings {
  const provider = makeProvider({
    maxRequestsPerSecond: from.pick([1, 1, 2, 20]),
    backoff: {
      initialMs: from.pick([30_000, 30_000, 5000]),
      maxMs: from.pick([hourMs, hourMs, 10 * minuteMs]),
    },
  });
  const providers = drawEntries(from);
  const everyMinutes = long ? [30, 60, 60, 120, 240, 360] : [5, 5, 10, 15, 30, 60];
  const accounts = drawAccounts(from, everyMinutes, [provider, provider, ...Object.values(providers)]);
  const channels = drawChannels(from, from.int(1, 3));
  const configured = drawRules(from, accounts);
  return {
    ...makeSettings({ provider, providers, accounts, rules: configured }),
    channels,
    routes: drawRoutes(from, accounts, configured, channels),
    silences: drawSilences(from, accounts),
    reports: drawReports(from, channels),
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
  switch (from.int(0, 9)) {
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
          index === place ? { ...it, credentials: mapEach(it.credentials, () => secret) } : it,
        ),
      };
    }
    case 8: {
      // An address that was edited may be another access.
      const place = from.int(0, before.accounts.length - 1);
      const moved = (it: AccountSettings): AccountSettings =>
        it.baseUrl === null
          ? it
          : { ...it, baseUrl: hosts.find((host) => host !== it.baseUrl) ?? it.baseUrl };
      return {
        ...before,
        accounts: before.accounts.map((it, index) => (index === place ? moved(it) : it)),
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
      return moveChannels(from, before);
  }
}

/** A channel is left out, or one comes to a receiver that nobody had. */
function moveChannels(from: Seeded, before: Settings): Settings {
  const { channels } = before;
  const gone = channels.length > 1 && from.chance(0.6) ? from.pick(channels) : null;
  const moved =
    gone === null
      ? [...channels, drawChannel(from, from.int(100, 999))]
      : channels.filter((it) => it !== gone);
  const configured = before.rules.filter((rule) => !rule.builtIn);
  return {
    ...before,
    channels: moved,
    routes: drawRoutes(from, before.accounts, configured, moved),
    reports: drawReports(from, moved),
  };
}

function drawAccounts(
  from: Seeded,
  everyMinutes: readonly number[],
  entries: readonly ProviderEntry[],
): AccountSettings[] {
  const count = from.pick([1, 1, 2, 2, 3, 4, 5, 6]);
  const shared = from.chance(0.3);
  return Array.from({ length: count }, (_, place) => {
    const id = `acc-${place}`;
    const key = `secret-key-${shared ? place % 2 : place}`;
    const entry = from.pick(entries);
    return makeAccount(id, {
      ...accessOf(entry, key),
      ...(entry.name === defaultEntry
        ? { baseUrl: from.chance(0.8) ? (hosts[0] ?? '') : from.pick(hosts) }
        : {}),
      name: from.chance(0.5) ? id : `Account ${place} <!channel> & co`,
      currency: from.chance(0.7) ? 'EUR' : null,
      labels: { team: from.pick(['red', 'blue']) },
      poll: from.chance(0.9)
        ? { kind: 'every', everyMs: from.pick(everyMinutes) * minuteMs }
        : {
            kind: 'cron',
            cron: from.pick(['*/15 8-20 * * 1-5', '0 * * * *', '*/20 * * * *']),
            timezone: from.pick(zones),
          },
      timezone: zones[place % zones.length] ?? 'UTC',
    });
  });
}

function drawChannels(from: Seeded, count: number): ChannelSettings[] {
  return Array.from({ length: count }, (_, place) => drawChannel(from, place));
}

function drawRules(from: Seeded, accounts: readonly AccountSettings[]): Rule[] {
  return Array.from({ length: from.int(0, 5) }, (_, place) => drawRule(from, `rule-${place}`, accounts));
}

function drawRule(from: Seeded, id: string, accounts: readonly AccountSettings[]): Rule {
  const balances = [...new Set(accounts.flatMap((account) => account.balances.map((balance) => balance.id)))];
  const match = from.chance(0.7) ? {} : drawMatch(from, accounts);
  return drawRuleOf(drawRuleKind(from), from, { id, match, balances });
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
