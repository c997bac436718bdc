import type { Resolution } from '../../domain/alert.ts';
import type { ForecastRecord } from '../../domain/forecast.ts';
import { stateOf } from '../../domain/item-state.ts';
import type {
  IncidentMessage,
  Message,
  Notice,
  Outlook,
  ReportAccount,
  ReportMessage,
} from '../../domain/message.ts';
import { isoText } from '../../domain/moment.ts';
import { formatMicros } from '../../domain/money.ts';
import type { Quantity } from '../../domain/quantity.ts';
import { linkTo, wordNotice } from '../../messages/item-wording.ts';
import { testHeadline, wordIncidents } from '../../messages/message-wording.ts';
import { wordReport } from '../../messages/report-wording.ts';
import { forecastJson, perBalance, readingJson } from '../../views/public-json.ts';

/** The most alerts or accounts in one body; `truncated` tells how many more there are. */
const listLimit = 200;

/**
 * A message as the documented JSON of the webhook channel (docs/webhook.md): money as decimal strings, times
 * in ISO 8601 UTC, durations in seconds, null where unknown. Fields are only ever added.
 */
export function renderWebhookPayload(message: Message): object {
  const base = { timestamp: isoText(message.at), id: message.id };
  switch (message.kind) {
    case 'incidents':
      return { type: 'lowwater.alerts', ...base, data: incidentsData(message) };
    case 'report':
      return { type: 'lowwater.report', ...base, data: reportData(message) };
    case 'test':
      return {
        type: 'lowwater.test',
        ...base,
        data: { channel: message.channel, headline: testHeadline(message) },
      };
  }
}

function incidentsData(message: IncidentMessage): object {
  return {
    headline: wordIncidents(message, 1).headline,
    alerts: message.notices.slice(0, listLimit).map((notice) => alertData(notice, message)),
    truncated: Math.max(0, message.notices.length - listLimit),
  };
}

function alertData(notice: Notice, message: IncidentMessage): object {
  const words = wordNotice(notice, message);
  const { account, incident } = notice;
  return {
    incident: incident.id,
    state: stateOf(notice),
    reasons: notice.kinds,
    account: incident.account,
    accountName: notice.accountName.toWellFormed(),
    labels: account?.labels ?? incident.labels,
    rule: notice.rule,
    type: notice.type,
    severity: notice.severity,
    balance: notice.balance,
    value: quantityText(notice.value),
    threshold: quantityText(notice.threshold),
    firedAt: isoText(notice.firedAt),
    resolvedAt: isoOrNull(notice.resolvedAt),
    resolution: notice.resolution === null ? null : resolutionData(notice.resolution),
    acknowledged: acknowledgedData(notice),
    reading: account?.reading ? readingJson(account.reading) : null,
    previousReading: account?.previous ? readingJson(account.previous) : null,
    outcome: account?.outcome ?? null,
    failure: account?.failure ?? null,
    consecutiveFailures: account?.consecutiveFailures ?? 0,
    outlook: outlookData(account?.outlook ?? null),
    headline: words.headline,
    details: words.story,
    advice: words.advice,
    note: words.note,
    topUpUrl: linkTo(words, 'top-up'),
    acknowledgeUrl: linkTo(words, 'acknowledge'),
    runbookUrl: linkTo(words, 'runbook'),
    url: linkTo(words, 'page'),
  };
}

function acknowledgedData(notice: Notice): object | null {
  const acknowledgement = notice.incident.acknowledgement;
  return acknowledgement === null
    ? null
    : { at: isoText(acknowledgement.at), by: acknowledgement.by, comment: acknowledgement.comment };
}

function reportData(message: ReportMessage): object {
  return {
    report: message.reportId,
    headline: wordReport(message, 1).headline,
    since: isoText(message.since),
    until: isoText(message.until),
    accounts: message.accounts.slice(0, listLimit).map(reportAccountData),
    truncated: Math.max(0, message.accounts.length - listLimit),
  };
}

function reportAccountData(account: ReportAccount): object {
  return {
    account: account.id,
    accountName: account.name.toWellFormed(),
    reading: account.reading && readingJson(account.reading),
    outlooks: perBalance((balance) => outlookData(account.outlooks[balance])),
    forecastRecords: perBalance((balance) => recordData(account.records[balance])),
    spent: perBalance((balance) => formatMicros(account.spent[balance])),
    toppedUp: perBalance((balance) => formatMicros(account.toppedUp[balance])),
    topUps: account.topUps.map(({ at, balance, micros }) => ({
      at: isoText(at),
      balance,
      amount: formatMicros(micros),
    })),
    incidents: account.incidents.map((incident) => ({
      incident: incident.id,
      rule: incident.rule,
      type: incident.type,
      severity: incident.worstSeverity,
      firedAt: isoText(incident.firedAt),
      resolvedAt: isoOrNull(incident.resolvedAt),
    })),
  };
}

function recordData(record: ForecastRecord | null): object | null {
  if (record === null) return null;
  const { aheadMs, count, medianError, tooLow } = record;
  return { aheadSeconds: aheadMs / 1000, count, medianError, tooLow };
}

function outlookData(outlook: Outlook | null): object | null {
  if (outlook === null) return null;
  return {
    balance: outlook.balance,
    burnPerDay: outlook.burnPerDay === null ? null : formatMicros(outlook.burnPerDay),
    runwaySeconds: outlook.runwayMs === null ? null : Math.round(outlook.runwayMs / 1000),
    emptyAt: isoOrNull(outlook.emptyAt),
    forecast: outlook.forecast && forecastJson(outlook.forecast),
    payBy: isoOrNull(outlook.payBy === null ? null : Math.round(outlook.payBy)),
    confidence: outlook.confidence,
    topUpFor30Days: outlook.restoreMicros === null ? null : formatMicros(outlook.restoreMicros),
  };
}

/** Money as decimals, durations in seconds, both as strings: the type of the alert tells which. */
export function quantityText(quantity: Quantity | null): string | null {
  if (quantity === null) return null;
  switch (quantity.unit) {
    case 'money':
      return formatMicros(quantity.micros);
    case 'duration':
      return String(Math.round(quantity.ms / 1000));
    case 'text':
      return quantity.text;
  }
}

function resolutionData(resolution: Resolution): object {
  return resolution.kind === 'topped-up'
    ? { kind: resolution.kind, amount: formatMicros(resolution.micros) }
    : { kind: resolution.kind };
}

/**
 * Years beyond 9999, which a runway of a balance that hardly falls can reach, have no four-digit form: they
 * count as unknown.
 */
function isoOrNull(at: number | null): string | null {
  return at === null || Math.abs(at) > 253_402_300_799_000 ? null : isoText(at);
}
