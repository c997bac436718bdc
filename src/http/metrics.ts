import { inSlices } from '../daemon/slices.ts';
import type { Micros } from '../domain/money.ts';
import { amountOf, type Balance } from '../domain/reading.ts';
import type { ClusterStatus } from '../ports/cluster.ts';
import type { LiveViews } from '../views/live-views.ts';
import type { AccountView, FiringView } from '../views/views.ts';
import {
  type Labels,
  type Metric,
  renderExposition,
  renderHead,
  renderSamples,
  type Sample,
} from './exposition.ts';

const sliceOfAccounts = 100;
const sliceOfSamples = 1_000;

/**
 * All metrics of ours. What was not read is absent, never frozen: balances, runway and burn rate vanish
 * while the last poll is not `ok`, and every series of an account vanishes with it.
 */
export async function* renderMetrics(
  views: LiveViews,
  { now, refusedTokens }: { readonly now: number; readonly refusedTokens: number },
): AsyncGenerator<string> {
  yield* inFamilies(views.accountIds(), sliceOfAccounts, async (ids) =>
    accountMetrics(await views.accounts(ids), now),
  );
  const known = new Set(views.accountIds());
  yield* inFamilies(views.counters.polls(), sliceOfSamples, (polls) => [
    pollCounts(polls.filter(({ account }) => known.has(account))),
  ]);
  yield* inFamilies(views.firing(), sliceOfSamples, alertMetrics);
  yield renderExposition([pollDurations(views), ...messageMetrics(views), ...daemonMetrics(views)]);
  yield renderExposition([
    counter('lowwater_refused_tokens_total', 'Wrong tokens that were refused since the start.', [
      { labels: {}, value: refusedTokens },
    ]),
  ]);
}

/** The samples of a metric stand together, whatever the slices that they were made in. */
async function* inFamilies<T>(
  items: Iterable<T>,
  size: number,
  measure: (slice: readonly T[]) => readonly Metric[] | Promise<readonly Metric[]>,
): AsyncGenerator<string> {
  const families = new Map<string, { readonly head: string; readonly samples: string[] }>();
  for await (const slice of inSlices(items, size)) {
    for (const metric of await measure(slice)) {
      const family = families.get(metric.name) ?? { head: renderHead(metric), samples: [] };
      families.set(metric.name, family);
      const samples = renderSamples(metric);
      if (samples !== '') family.samples.push(samples);
    }
  }
  for (const { head, samples } of families.values()) {
    if (samples.length === 0) continue;
    yield head;
    yield* samples;
  }
}

function accountMetrics(accounts: readonly AccountView[], now: number): readonly Metric[] {
  const read = accounts.filter(({ outcome }) => outcome === 'ok');
  return [
    gauge(
      'lowwater_account_info',
      '1 for each account, with its name, currency and labels.',
      accounts.map((account) => ({ labels: infoLabels(account), value: 1 })),
    ),
    gauge(
      'lowwater_balance',
      'Balance in its currency; absent while it cannot be read.',
      read.flatMap(balanceSamples),
    ),
    gauge(
      'lowwater_runway_seconds',
      'How long the balance lasts, by the forecast.',
      perBalance(read, ({ runways }, balance) => divide(runways[balance]?.runwayMs, 1000)),
    ),
    gauge(
      'lowwater_empty_timestamp_seconds',
      'When the balance is empty, by the forecast: the median, and the bounds that hold four times in five.',
      read.flatMap(emptySamples),
    ),
    gauge(
      'lowwater_burn_per_day',
      'Spending per day, from falls of the balance only.',
      perBalance(read, ({ runways }, balance) => divide(runways[balance]?.burnPerDay, microsPerUnit)),
    ),
    gauge(
      'lowwater_last_success_timestamp_seconds',
      'When the account was last read.',
      accounts.flatMap(({ id, readAt }) =>
        readAt === null ? [] : [{ labels: { account: id }, value: readAt / 1000 }],
      ),
    ),
    gauge(
      'lowwater_backoff_seconds',
      'How long polls of the account still wait after failures.',
      accounts.map(({ id, backoffUntil }) => ({
        labels: { account: id },
        value: Math.max(0, ((backoffUntil ?? now) - now) / 1000),
      })),
    ),
  ];
}

function emptySamples({ id, runways, balances }: AccountView): Sample[] {
  return balances.flatMap(({ id: balance }) => {
    const forecast = runways[balance]?.forecast;
    if (forecast == null) return [];
    const bounds = { median: forecast.emptyAt, earliest: forecast.earliest, latest: forecast.latest };
    return Object.entries(bounds).flatMap(([bound, at]) =>
      at === null ? [] : [{ labels: { account: id, balance, bound }, value: Math.round(at / 1000) }],
    );
  });
}

/** Labels of an account under names that Prometheus allows; those that stand for something else there or here get `label_` in front. */
function infoLabels({ id, name, currency, labels }: AccountView): Labels {
  const own = { account: id, name, currency: currency ?? '' };
  const given: Record<string, string> = {};
  for (const [key, value] of Object.entries(labels)) {
    const plain = key.replaceAll(/[^a-zA-Z0-9_]/g, '_');
    const label =
      /^(?![0-9]|__|(?:le|quantile)$)/.test(plain) && !Object.hasOwn(own, plain) ? plain : `label_${plain}`;
    given[label] = value;
  }
  return { ...own, ...given };
}

const microsPerUnit = 1_000_000;

function balanceSamples({ id, reading, balances }: AccountView): readonly Sample[] {
  if (reading === null) return [];
  return balances.map(({ id: balance }) => ({
    labels: { account: id, balance, currency: reading.currency },
    value: toUnits(amountOf(reading, balance)),
  }));
}

function perBalance(
  accounts: readonly AccountView[],
  measure: (account: AccountView, balance: Balance) => number | null,
): readonly Sample[] {
  return accounts.flatMap((account) =>
    account.balances.flatMap(({ id: balance }) => {
      const value = measure(account, balance);
      return value === null ? [] : [{ labels: { account: account.id, balance }, value }];
    }),
  );
}

function pollCounts(
  polls: readonly { readonly account: string; readonly outcome: string; readonly count: number }[],
): Metric {
  return counter(
    'lowwater_polls_total',
    'Polls by how they ended.',
    polls.map(({ account, outcome, count }) => ({ labels: { account, outcome }, value: count })),
  );
}

function pollDurations({ counters }: LiveViews): Metric {
  return {
    type: 'histogram',
    name: 'lowwater_poll_duration_seconds',
    help: 'How long polls take, from request to outcome.',
    ...counters.pollDurations(),
  };
}

function alertMetrics(firing: readonly FiringView[]): readonly Metric[] {
  const only = (of: 'acknowledged' | 'silenced'): readonly Sample[] =>
    firing.filter((alert) => alert[of]).map(({ account, rule }) => ({ labels: { account, rule }, value: 1 }));
  return [
    gauge(
      'lowwater_alert_firing',
      '1 for each alert that fires.',
      firing.map(({ account, rule, severity }) => ({ labels: { account, rule, severity }, value: 1 })),
    ),
    gauge('lowwater_alert_acknowledged', '1 for each firing alert that a person has.', only('acknowledged')),
    gauge('lowwater_alert_silenced', '1 for each firing alert that a silence mutes.', only('silenced')),
  ];
}

function messageMetrics(views: LiveViews): readonly Metric[] {
  return [
    counter(
      'lowwater_notifications_total',
      'Attempts to deliver messages by how they ended.',
      countNotifications(views),
    ),
    gauge(
      'lowwater_outbox_pending',
      'Messages that wait for their delivery.',
      views.channels().map(({ name, pending }) => ({ labels: { channel: name }, value: pending })),
    ),
  ];
}

/** From zero on, for each channel and ending: a counter that begins at 1 has not increased for Prometheus. */
function countNotifications(views: LiveViews): readonly Sample[] {
  const counted = [...views.counters.notifications()];
  return views.channels().flatMap(({ name }) =>
    (['delivered', 'dead', 'retried'] as const).map((state) => ({
      labels: { channel: name, state },
      value: counted.find((entry) => entry.channel === name && entry.state === state)?.count ?? 0,
    })),
  );
}

function daemonMetrics(views: LiveViews): readonly Metric[] {
  const { version, startedAt, configReloadOk, configLoadedAt, problems, cluster } = views.status();
  return [
    ...(cluster === undefined ? [] : clusterMetrics(cluster)),
    gauge('lowwater_config_last_reload_successful', '1 when the file as it is now is in force.', [
      only(configReloadOk ? 1 : 0),
    ]),
    gauge(
      'lowwater_config_last_reload_success_timestamp_seconds',
      'When the configuration in force was loaded.',
      [only(configLoadedAt / 1000)],
    ),
    gauge('lowwater_problems', 'Things that are wrong with lowwater itself; /readyz names them.', [
      only(problems.length),
    ]),
    counter(
      'lowwater_log_lines_dropped_total',
      'Lines of the log that could not be written: standard output was full, closed, or not read.',
      [only(views.counters.droppedLogLines())],
    ),
    gauge('lowwater_start_timestamp_seconds', 'When the daemon started.', [only(startedAt / 1000)]),
    gauge('lowwater_build_info', '1, with the version as a label.', [{ labels: { version }, value: 1 }]),
  ];
}

function clusterMetrics({ role, takeovers, sameConfiguration, polling }: ClusterStatus): readonly Metric[] {
  const owns = role === 'owner' || role === 'alone';
  return [
    gauge('lowwater_owner', '1 when this daemon owns the accounts, 0 when it stands by.', [
      only(owns ? 1 : 0),
    ]),
    gauge(
      'lowwater_fleet_polling',
      '1 where this daemon knows that it or another of those that share the database polls the accounts, 0 where nobody does or it cannot know.',
      [only(polling.who === 'this' || polling.who === 'other' ? 1 : 0)],
    ),
    counter('lowwater_takeovers_total', 'How often this daemon took the accounts since it started.', [
      only(takeovers),
    ]),
    gauge(
      'lowwater_same_configuration',
      "1 when the configuration of this daemon is that of the accounts' owner; absent while no owner is known.",
      sameConfiguration === null ? [] : [only(sameConfiguration ? 1 : 0)],
    ),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { type: 'gauge', name, help, samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Metric {
  return { type: 'counter', name, help, samples };
}

function only(value: number): Sample {
  return { labels: {}, value };
}

function divide(value: number | null | undefined, by: number): number | null {
  return value === null || value === undefined ? null : value / by;
}

/** The nearest double: exact up to 15 digits, which is what Prometheus can hold. */
function toUnits(micros: Micros): number {
  return micros / microsPerUnit;
}
