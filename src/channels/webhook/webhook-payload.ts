import type { Resolution } from '../../domain/alert.ts';
import {
  type IncidentMessage,
  type Message,
  type MessageItem,
  type ReportAccount,
  type ReportMessage,
  type Runway,
  stateOf,
} from '../../domain/message.ts';
import { formatMicros } from '../../domain/money.ts';
import type { ForecastRecord, Quantity } from '../../domain/quantity.ts';
import { mapEach } from '../../domain/reading.ts';
import { isoText } from '../../domain/time.ts';
import { linkTo, wordItem } from '../../messages/item-wording.ts';
import { testHeadline, wordIncidents } from '../../messages/message-wording.ts';
import { wordReport } from '../../messages/report-wording.ts';
import { forecastJson, readingJson } from '../../views/account-json.ts';
import { acknowledgementJson } from '../../views/public-json.ts';

/** The most alerts or accounts in one body; `truncated` says how many more there are. */
const listLimit = 200;

/** The most bytes of alerts in one body: receivers limit theirs to 64 KB or more. */
const maxAlertBytes = 60_000;

/** docs/webhook.md: decimal strings, ISO 8601 UTC, seconds, null where unknown. Fields are only ever added. */
export function renderWebhookPayload(message: Message): object {
  const base = { timestamp: isoText(message.at), id: message.id };
  if (message.kind === 'incidents') return { type: 'lowwater.alerts', ...base, data: incidentsData(message) };
  if (message.kind === 'report') return { type: 'lowwater.report', ...base, data: reportData(message) };
  const { channel } = message;
  return { type: 'lowwater.test', ...base, data: { channel, headline: testHeadline(message) } };
}

function incidentsData(message: IncidentMessage): object {
  const alerts = fitting(message);
  const truncated = message.items.length - alerts.length;
  return {
    headline: wordIncidents(message, 1).headline,
    alerts,
    truncated,
    // The address of the rest.
    ...(truncated > 0 && message.publicUrl !== null ? { url: `${message.publicUrl}/alerts` } : {}),
  };
}

/** The worst alerts, as many as a body of this size takes, and at least one. */
function fitting(message: IncidentMessage): object[] {
  const alerts: object[] = [];
  let bytes = 0;
  for (const item of message.items.slice(0, listLimit)) {
    const alert = alertData(item, message);
    bytes += Buffer.byteLength(JSON.stringify(alert)) + 1;
    if (bytes > maxAlertBytes && alerts.length > 0) break;
    alerts.push(alert);
  }
  return alerts;
}

export function alertData(item: MessageItem, message: IncidentMessage) {
  const words = wordItem(item, message);
  const { account, incident } = item;
  return {
    incident: incident.id,
    ...(incident.test === undefined ? {} : { test: true }),
    state: stateOf(item),
    reasons: item.kinds,
    account: incident.account,
    accountName: item.accountName.toWellFormed(),
    labels: account?.labels ?? incident.labels,
    rule: item.rule,
    type: item.type,
    severity: item.severity,
    balance: item.balance,
    value: quantityText(item.value),
    threshold: quantityText(item.threshold),
    firedAt: isoText(item.firedAt),
    resolvedAt: isoOrNull(item.resolvedAt),
    resolution: item.resolution === null ? null : resolutionData(item.resolution),
    acknowledged: acknowledgementJson(incident.acknowledgement),
    reading: account?.reading ? readingJson(account.reading) : null,
    previousReading: account?.previous ? readingJson(account.previous) : null,
    outcome: account?.outcome ?? null,
    failure: account?.failure ?? null,
    consecutiveFailures: account?.consecutiveFailures ?? 0,
    outlook: runwayData(account?.runway ?? null),
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

function reportData(message: ReportMessage): object {
  return {
    report: message.reportId,
    headline: wordReport(message, 1).headline,
    since: isoText(message.since),
    until: isoText(message.until),
    accounts: message.accounts.slice(0, listLimit).map((account) => reportAccountData(account, message)),
    truncated: Math.max(0, message.accounts.length - listLimit),
  };
}

function reportAccountData(account: ReportAccount, { since, until }: ReportMessage): object {
  return {
    account: account.id,
    accountName: account.name.toWellFormed(),
    reading: account.reading && readingJson(account.reading),
    outlooks: mapEach(account.runways, runwayData),
    forecastRecords: mapEach(account.records, recordData),
    knownSince: account.reading && isoText(account.spentSince ?? since),
    knownUntil: account.reading && isoText(account.spentUntil ?? until),
    spent: mapEach(account.spent, formatMicros),
    toppedUp: mapEach(account.toppedUp, formatMicros),
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

function runwayData(runway: Runway | null): object | null {
  if (runway === null) return null;
  return {
    balance: runway.balance,
    burnPerDay: runway.burnPerDay === null ? null : formatMicros(runway.burnPerDay),
    runwaySeconds: runway.runwayMs === null ? null : Math.round(runway.runwayMs / 1000),
    emptyAt: isoOrNull(runway.emptyAt),
    forecast: runway.forecast && forecastJson(runway.forecast),
    payBy: isoOrNull(runway.payBy === null ? null : Math.round(runway.payBy)),
    confidence: runway.confidence,
    topUpFor30Days: runway.restoreMicros === null ? null : formatMicros(runway.restoreMicros),
  };
}

/** Money as decimals, durations in seconds, both as strings: the type of the alert says which. */
function quantityText(quantity: Quantity | null): string | null {
  if (quantity === null) return null;
  if (quantity.unit === 'money') return formatMicros(quantity.micros);
  return quantity.unit === 'duration' ? String(Math.round(quantity.ms / 1000)) : quantity.text;
}

function resolutionData(resolution: Resolution): object {
  const { kind } = resolution;
  return kind === 'topped-up' ? { kind, amount: formatMicros(resolution.micros) } : { kind };
}

/** Null for years beyond 9999, which the runway of a slow balance can reach: they have no four-digit form. */
function isoOrNull(at: number | null): string | null {
  return at === null || Math.abs(at) > 253_402_300_799_000 ? null : isoText(at);
}
