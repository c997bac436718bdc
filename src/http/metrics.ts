import { inSlices } from '../daemon/slices.ts';
import type { Runway } from '../domain/message.ts';
import { ownOf } from '../domain/own.ts';
import { amountOf } from '../domain/reading.ts';
import { metricLabelOf, renameLabels } from '../domain/rule.ts';
import { actsForAccounts, type ClusterStatus } from '../ports/cluster.ts';
import { everyAccount } from '../views/every-account.ts';
import type { LiveViews } from '../views/live-views.ts';
import type { AccountView, FiringView } from '../views/views.ts';
import { histogramSamples, type Metric, renderExposition, type Sample } from './exposition.ts';

const sliceOfSamples = 1_000;
const microsPerUnit = 1_000_000;

const helps = {
  lowwater_account_info: '1 for each account, with its name, currency and labels.',
  lowwater_balance: 'Balance in its currency; absent while it cannot be read.',
  lowwater_runway_seconds: 'How long the balance lasts, by the forecast.',
  lowwater_empty_timestamp_seconds:
    'When the balance is empty, by the forecast: the median, and the bounds of the 80 % range.',
  lowwater_burn_per_day: 'Spending per day, from falls of the balance only.',
  lowwater_last_success_timestamp_seconds: 'When the account was last read.',
  lowwater_next_poll_timestamp_seconds: 'When this daemon polls the account next.',
  lowwater_backoff_seconds: 'How long polls of the account still wait after failures.',
  lowwater_polls_total: 'Polls by how they ended.',
  lowwater_poll_duration_seconds: 'How long polls take, from request to outcome.',
  lowwater_alert_firing: '1 for each alert that fires.',
  lowwater_alert_acknowledged: '1 for each firing alert that a person has.',
  lowwater_alert_silenced: '1 for each firing alert that a silence mutes.',
  lowwater_alert_inhibited: '1 for each firing alert that another one says already.',
  lowwater_alert_info: '1 for each alert that fires, with its type and the balance that it is about.',
  lowwater_page_info: '1, with the address of the page as a label; absent without server.publicUrl.',
  lowwater_notifications_total: 'Attempts to deliver messages by how they ended.',
  lowwater_outbox_pending: 'Messages that wait for their delivery.',
  lowwater_owner: '1 when this daemon owns the accounts, 0 when it stands by.',
  lowwater_fleet_polling:
    '1 where this daemon knows that it or another of those that share the database polls the accounts, 0 where nobody does or it cannot know.',
  lowwater_takeovers_total: 'How often this daemon took the accounts since it started.',
  lowwater_same_configuration:
    "1 when the configuration of this daemon is that of the accounts' owner; absent while no owner is known.",
  lowwater_config_last_reload_successful: '1 when the file as it is now is in force.',
  lowwater_config_last_reload_success_timestamp_seconds: 'When the configuration in force was loaded.',
  lowwater_chat_connected: '1 where the channel hears what people press and write in its chat.',
  lowwater_problems: 'Things that are wrong with lowwater itself; /readyz names them.',
  lowwater_log_lines_dropped_total:
    'Lines of the log that could not be written: standard output was full, closed, or not read.',
  lowwater_start_timestamp_seconds: 'When the daemon started.',
  lowwater_build_info: '1, with the version as a label.',
  lowwater_refused_tokens_total: 'Wrong tokens that were refused since the start.',
} as const;

type Samples = Readonly<Partial<Record<keyof typeof helps, readonly Sample[]>>>;

/** A value that was not read is absent, never frozen: an account's series vanish while its last poll failed, or no readings are pushed. */
export function renderMetrics(views: LiveViews, given: Given): AsyncGenerator<string> {
  return renderExposition(measure(views, given));
}

interface Given {
  readonly now: number;
  readonly refusedTokens: number;
  readonly publicUrl?: string | null;
}

async function* measure(views: LiveViews, { now, refusedTokens, publicUrl = null }: Given) {
  for await (const accounts of everyAccount(views))
    yield metricsOf(sampleAccounts(accounts, now, views.isKnown()));
  const known = new Set(views.accountIds());
  for await (const polls of inSlices(views.counters.polls(), sliceOfSamples)) {
    const counted = polls.filter(({ account }) => known.has(account));
    yield metricsOf({
      lowwater_polls_total: counted.map(({ account, outcome, count }) => sample(count, { account, outcome })),
    });
  }
  for await (const firing of inSlices(views.firing(), sliceOfSamples)) yield metricsOf(sampleAlerts(firing));
  yield metricsOf({
    lowwater_poll_duration_seconds: histogramSamples(views.counters.pollDurations()),
    ...sampleMessages(views),
    ...sampleDaemon(views),
    lowwater_refused_tokens_total: one(refusedTokens),
    lowwater_page_info: publicUrl === null ? [] : [sample(1, { url: publicUrl })],
  });
}

function metricsOf(all: Samples): readonly Metric[] {
  const known: Readonly<Record<string, string>> = helps;
  return Object.entries(all).map(([name, samples]) => {
    const isHistogram = samples.some(({ series = '' }) => series !== '');
    const type = isHistogram ? 'histogram' : name.endsWith('_total') ? 'counter' : 'gauge';
    return { type, name, help: ownOf(known, name) ?? '', samples };
  });
}

function sampleAccounts(accounts: readonly AccountView[], now: number, isKnown: boolean): Samples {
  const read = accounts.filter(({ isRead }) => isRead);
  return {
    lowwater_account_info: accounts.map((account) => sample(1, infoLabels(account))),
    lowwater_balance: read.flatMap(balanceSamples),
    lowwater_runway_seconds: perRunway(read, 1000, ({ runwayMs }) => runwayMs),
    lowwater_empty_timestamp_seconds: read.flatMap(emptySamples),
    lowwater_burn_per_day: perRunway(read, microsPerUnit, ({ burnPerDay }) => burnPerDay),
    lowwater_last_success_timestamp_seconds: accounts.flatMap(({ id: account, readAt }) =>
      readAt === null ? [] : sample(readAt / 1000, { account }),
    ),
    lowwater_next_poll_timestamp_seconds: accounts.flatMap(({ id: account, nextPollAt }) =>
      nextPollAt === null ? [] : sample(nextPollAt / 1000, { account }),
    ),
    lowwater_backoff_seconds: (isKnown ? accounts : []).map(({ id: account, backoffUntil }) =>
      sample(Math.max(0, ((backoffUntil ?? now) - now) / 1000), { account }),
    ),
  };
}

function emptySamples({ id: account, runways, balances }: AccountView): Sample[] {
  return balances.flatMap(({ id: balance }) => {
    const { emptyAt = null, earliest = null, latest = null } = ownOf(runways, balance)?.forecast ?? {};
    return Object.entries({ median: emptyAt, earliest, latest }).flatMap(([bound, at]) =>
      at === null ? [] : [sample(Math.round(at / 1000), { account, balance, bound })],
    );
  });
}

function infoLabels({ id, name, currency, labels }: AccountView): Sample['labels'] {
  return { account: id, name, currency: currency ?? '', ...renameLabels(labels, metricLabelOf) };
}

/** Each amount as the nearest double: exact up to 15 digits, and the best that Prometheus can hold. */
function balanceSamples({ id, reading, balances }: AccountView): readonly Sample[] {
  if (reading === null) return [];
  return balances.map(({ id: balance, unit: currency = reading.currency }) =>
    sample(amountOf(reading, balance) / microsPerUnit, { account: id, balance, currency }),
  );
}

function perRunway(
  accounts: readonly AccountView[],
  divisor: number,
  measure: (runway: Runway) => number | null,
): readonly Sample[] {
  return accounts.flatMap(({ id: account, balances, runways }) =>
    balances.flatMap(({ id: balance }) => {
      const runway = ownOf(runways, balance) ?? null;
      const value = runway && measure(runway);
      return value === null ? [] : [sample(value / divisor, { account, balance })];
    }),
  );
}

function sampleAlerts(firing: readonly FiringView[]): Samples {
  const named = (alerts: readonly FiringView[]) =>
    alerts.map(({ account, rule }) => sample(1, { account, rule }));
  return {
    lowwater_alert_firing: firing.map(({ account, rule, severity }) =>
      sample(1, { account, rule, severity }),
    ),
    lowwater_alert_acknowledged: named(firing.filter(({ acknowledged }) => acknowledged)),
    lowwater_alert_silenced: named(firing.filter(({ silenced }) => silenced)),
    lowwater_alert_inhibited: named(firing.filter(({ inhibited }) => inhibited)),
    lowwater_alert_info: firing.map(({ account, rule, type, balance }) =>
      sample(1, { account, rule, type, balance: balance ?? '' }),
    ),
  };
}

/** Counters for each channel and result, from zero on: Prometheus does not see an increase in a counter that begins at 1. */
function sampleMessages(views: LiveViews): Samples {
  const counted = [...views.counters.notifications()];
  const channels = views.channels();
  const endings = channels.flatMap(({ name: channel }) =>
    (['delivered', 'dead', 'retried'] as const).map((state) => {
      const found = counted.find((entry) => entry.channel === channel && entry.state === state);
      return sample(found?.count ?? 0, { channel, state });
    }),
  );
  return {
    lowwater_notifications_total: endings,
    lowwater_outbox_pending: (views.isKnown() ? channels : []).map(({ name, pending }) =>
      sample(pending, { channel: name }),
    ),
  };
}

function sampleDaemon(views: LiveViews): Samples {
  const { version, startedAt, configReloadOk, configLoadedAt, problems, cluster } = views.status();
  return {
    ...(cluster && sampleCluster(cluster)),
    lowwater_config_last_reload_successful: one(configReloadOk ? 1 : 0),
    lowwater_config_last_reload_success_timestamp_seconds: one(configLoadedAt / 1000),
    lowwater_chat_connected: views
      .listening()
      .map(({ name, hears }) => sample(hears ? 1 : 0, { channel: name })),
    lowwater_problems: one(problems.length),
    lowwater_log_lines_dropped_total: one(views.counters.droppedLogLines()),
    lowwater_start_timestamp_seconds: one(startedAt / 1000),
    lowwater_build_info: [sample(1, { version })],
  };
}

function sampleCluster({ role, takeovers, sameConfiguration, polling }: ClusterStatus): Samples {
  return {
    lowwater_owner: one(actsForAccounts(role) ? 1 : 0),
    lowwater_fleet_polling: one(polling.who === 'this' || polling.who === 'other' ? 1 : 0),
    lowwater_takeovers_total: one(takeovers),
    lowwater_same_configuration: sameConfiguration === null ? [] : one(sameConfiguration ? 1 : 0),
  };
}

function one(value: number): readonly Sample[] {
  return [sample(value)];
}

function sample(value: number, labels: Sample['labels'] = {}): Sample {
  return { labels, value };
}
