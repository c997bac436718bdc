import { hostOf } from '../channels/describe-address.ts';
import { kindOf } from '../channels/registry.ts';
import { formatMicros } from '../domain/money.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { ownOf } from '../domain/own.ts';
import { plural } from '../domain/plain-text.ts';
import { defaultEntry, entryOf, type ProviderEntry } from '../domain/provider-entry.ts';
import type { Route } from '../domain/route.ts';
import { type Matcher, matchesEverything, type Rule, wordMatcher } from '../domain/rule.ts';
import type { AccountSettings, Settings, StorageSettings } from '../domain/settings.ts';
import { formatDuration } from '../domain/time.ts';
import { describeRule, ruleKindOf } from '../rules/registry.ts';
import { rulesForAccount } from '../rules/rules-for-account.ts';
import { usualWeekend } from '../spending/local-week.ts';

/** The configuration as understood, with defaults and built-in rules, without secrets: what `validate` prints, as data. */
export function describeSettings(settings: Settings, warnings: readonly ConfigProblem[] = []) {
  const accounts = settings.accounts.map((account) => {
    return describeAccount(account, entryOf(settings, account), rulesForAccount(settings, account));
  });
  return {
    accounts,
    rules: settings.rules.map((rule) => ({
      id: rule.id,
      type: rule.type,
      severity:
        rule.thresholds === undefined
          ? rule.severity
          : Object.keys(rule.thresholds).join(', ') || 'by currency',
      builtIn: rule.builtIn,
      accounts: accounts.filter(({ rules }) => rules.includes(rule.id)).map(({ id }) => id),
      condition: describeRule(rule),
    })),
    channels: settings.channels.map((channel) => ({
      name: channel.name,
      type: channel.type,
      target: kindOf(channel).describe(channel),
      language: channel.language ?? settings.language,
    })),
    routes: settings.routes.map(describeRoute),
    silences: settings.silences.map((silence) => ({
      match: describeMatcher(silence.match),
      when: `${silence.cron} (${silence.timezone})`,
      duration: formatDuration(silence.durationMs),
      comment: silence.comment,
    })),
    reports: settings.reports.map(({ id, language, cron, timezone, channels }) => ({
      id,
      when: `${cron} (${timezone})`,
      channels,
      language: language ?? 'that of each channel',
    })),
    settings: describeRest(settings),
    warnings,
  };
}

function describeAccount(account: AccountSettings, entry: ProviderEntry, rules: readonly Rule[]) {
  const { id, name, provider, baseUrl, currency, labels, topUpUrl, runbookUrl, note, timezone, holidays } =
    account;
  const own = rules.filter(
    (rule) =>
      ruleKindOf(rule).accountThresholds && ownOf(account.thresholds, rule.balance ?? '') !== undefined,
  );
  return {
    id,
    name,
    ...(provider === defaultEntry ? {} : { provider }),
    baseUrl: baseUrl ?? entry.address ?? null,
    poll: describePoll(account),
    currency,
    labels,
    creditLimit:
      account.creditLimitMicros === null ? 'as the provider says' : formatMicros(account.creditLimitMicros),
    leadTime: account.leadTimeMs === null ? null : formatDuration(account.leadTimeMs),
    topUpUrl,
    runbookUrl,
    note,
    timezone,
    holidays,
    weekend: account.weekend ?? usualWeekend,
    rules: rules.map(({ id }) => id),
    ...(own.length === 0
      ? {}
      : { thresholds: Object.fromEntries(own.map((rule) => [rule.id, describeRule(rule)])) }),
  };
}

/** `every 5m`, `0 9 * * 1 (Asia/Shanghai)`, `every 5m, near empty every 30s`. */
function describePoll({ poll, nearEmptyMs }: AccountSettings): string {
  const usual =
    poll.kind === 'every' ? `every ${formatDuration(poll.everyMs)}` : `${poll.cron} (${poll.timezone})`;
  return nearEmptyMs === null ? usual : `${usual}, near empty every ${formatDuration(nearEmptyMs)}`;
}

function describeRoute(route: Route) {
  return {
    match: describeMatcher(route.match),
    channels: route.channels,
    repeatEvery:
      route.repeatEveryMs === null
        ? 'by severity: info never, warning 1d, critical 4h'
        : formatDuration(route.repeatEveryMs),
    groupWait: formatDuration(route.groupWaitMs),
    escalate:
      route.escalate === null
        ? null
        : { after: formatDuration(route.escalate.afterMs), channels: route.escalate.channels },
    continue: route.continue,
    mention: route.mention,
  };
}

function describeRest(settings: Settings): Record<string, string> {
  const { provider, providers, heartbeat, storage, log, timezone, money, payDays } = settings;
  return {
    'provider.timeout': formatDuration(provider.timeoutMs),
    'provider.maxRequestsPerSecond': String(provider.maxRequestsPerSecond),
    'provider.allowInsecureHttp': String(provider.allowInsecureHttp),
    'provider.backoff': `${formatDuration(provider.backoff.initialMs)} to ${formatDuration(provider.backoff.maxMs)}`,
    ...Object.fromEntries(
      Object.values(providers).map((entry) => [`providers.${entry.name}`, describeEntry(entry)]),
    ),
    ...describeServer(settings.server),
    heartbeat:
      heartbeat === null ? 'none' : `${hostOf(heartbeat.url)} every ${formatDuration(heartbeat.everyMs)}`,
    ...describeStorage(storage),
    'storage.retention': formatDuration(storage.retentionMs),
    'log.level': log.level,
    ...(money === null ? {} : { money: `sums in ${money.currency} at the rates of ${describeRates(money)}` }),
    ...(payDays === null ? {} : { payDays }),
    timezone,
  };
}

function describeServer(server: Settings['server']): Record<string, string> {
  if (server === null) return { server: 'off', 'server.publicUrl': 'none' };
  const { host, port, publicUrl, token, viewerToken, trustedProxy, openMetrics } = server;
  return {
    server: `${host} port ${port}, ${token === null ? 'no token' : 'with token'}`,
    'server.publicUrl': publicUrl ?? 'none',
    'server.viewerToken': viewerToken === null ? 'none' : '(hidden)',
    'server.trustedProxy':
      trustedProxy === null ? 'none' : `${trustedProxy.header} of ${trustedProxy.addresses.join(', ')}`,
    'server.openMetrics': String(openMetrics),
  };
}

function describeRates({ rates, source }: NonNullable<Settings['money']>): string {
  return source === null
    ? String(rates?.date)
    : `${source.entry.address}, read every ${formatDuration(source.everyMs)}`;
}

/** `twilio, at most 1 request a second, timeout 10s, balances balance`. */
function describeEntry({ type, maxRequestsPerSecond, timeoutMs, balances }: ProviderEntry): string {
  const ids = balances.map(({ id }) => id).join(' and ');
  return `${type}, at most ${plural(maxRequestsPerSecond, 'request')} a second, timeout ${formatDuration(timeoutMs)}, balances ${ids}`;
}

function describeStorage({ path, postgres }: StorageSettings): Record<string, string> {
  if (postgres === undefined) return { 'storage.path': path };
  const { node, advertise, leaseMs, aloneForMs, announceTakeovers } = postgres;
  return {
    'storage.postgres.url': 'PostgreSQL (hidden)',
    'cluster.node': node ?? 'the name of the machine',
    'cluster.advertise': advertise ?? 'none',
    'cluster.lease': formatDuration(leaseMs),
    'cluster.aloneFor': formatDuration(aloneForMs),
    'cluster.announceTakeovers': String(announceTakeovers),
  };
}

/** `account otp or marketing, label team identity`; `everything` without keys. */
function describeMatcher(matcher: Matcher): string {
  if (matchesEverything(matcher)) return 'everything';
  const labels = Object.entries(matcher.labels ?? {}).map(([name, values]) => [`label ${name}`, values]);
  return wordMatcher({ ...matcher, labels: Object.fromEntries(labels) });
}
