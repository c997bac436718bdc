import { createHash } from 'node:crypto';
import { type Severity, severities } from '../../domain/severity.ts';
import type { AlertView } from '../../views/views.ts';
import { pageOfList } from '../api/paging.ts';
import { sortAlerts } from './alerts.ts';
import { alertName, pickedName } from './forms.ts';
import { mentionsAll } from './words.ts';

const states = ['open', 'firing', 'pending', 'past'] as const;
const cares = ['nobody', 'acknowledged', 'silenced', 'covered'] as const;

/** What the address of the alerts page asks for. Null and empty texts ask for everything. */
export interface AlertQuery {
  readonly state: (typeof states)[number];
  readonly severity: Severity | null;
  /** Who has it: nobody yet, a person, a silence, or a worse alert. */
  readonly care: (typeof cares)[number] | null;
  /** Words that all must stand in account, name, rule or labels. */
  readonly q: string;
  readonly account: string;
  readonly rule: string;
  /** As `team=identity`. */
  readonly label: string;
  readonly cursor: string | null;
}

export interface AlertPage {
  readonly alerts: readonly AlertView[];
  readonly matching: number;
  readonly digest: string;
  readonly nextCursor: string | null;
}

const pageSize = 100;
const maxTextLength = 200;

/** Reads the query of the page's address. What it does not know it takes for absent: a link never breaks. */
export function readAlertQuery(query: URLSearchParams): AlertQuery {
  const text = (name: string): string => (query.get(name) ?? '').slice(0, maxTextLength).trim();
  return {
    state: states.find((state) => state === query.get('state')) ?? 'open',
    severity: severities.find((severity) => severity === query.get('severity')) ?? null,
    care: cares.find((care) => care === query.get('care')) ?? null,
    q: text('q'),
    account: text('account'),
    rule: text('rule'),
    label: text('label'),
    cursor: query.get('cursor') || null,
  };
}

/** The query as an address again; what is as usual is left out. */
export function writeAlertQuery({ state, ...rest }: AlertQuery): string {
  const parameters = new URLSearchParams();
  if (state !== 'open') parameters.set('state', state);
  for (const [name, value] of Object.entries(rest)) {
    if (value !== null && value !== '') parameters.set(name, value);
  }
  const text = parameters.toString();
  return text === '' ? '/alerts' : `/alerts?${text}`;
}

/** What the query selects of the open alerts, worst first. */
export function selectAlerts(alerts: readonly AlertView[], query: AlertQuery): readonly AlertView[] {
  return sortAlerts(
    alerts.filter(
      (alert) =>
        (query.state === 'open' || alert.state === query.state) &&
        (query.care === null || careOf(alert) === query.care) &&
        selects(query, alert),
    ),
  );
}

export function pageOfAlerts(alerts: readonly AlertView[], query: AlertQuery): AlertPage {
  const selected = selectAlerts(alerts, query);
  const { items, nextCursor } = pageOfList(
    selected,
    { limit: pageSize, cursor: query.cursor ?? undefined },
    alertName,
  );
  return { alerts: items, matching: selected.length, digest: digestOf(selected), nextCursor };
}

/** Changes when another alert matches, or one of them is another incident or of another severity. */
export function digestOf(alerts: readonly AlertView[]): string {
  return createHash('sha256').update(alerts.map(pickedName).join(' ')).digest('base64url').slice(0, 16);
}

/** Whether account, rule, severity and label are those asked for, of an alert or of a past incident. */
export function selects(
  query: AlertQuery,
  it: Pick<AlertView, 'account' | 'accountName' | 'rule' | 'severity' | 'labels'>,
): boolean {
  const [key = '', ...value] = query.label.split('=');
  return (
    (query.severity === null || it.severity === query.severity) &&
    mentionsAll(query.q, [it.account, it.accountName, it.rule], it.labels) &&
    (query.account === '' || it.account === query.account) &&
    (query.rule === '' || it.rule === query.rule) &&
    (query.label === '' || (Object.hasOwn(it.labels, key) && it.labels[key] === value.join('=')))
  );
}

function careOf({ acknowledged, silenced, inhibited }: AlertView): AlertQuery['care'] {
  if (acknowledged !== null) return 'acknowledged';
  if (silenced) return 'silenced';
  return inhibited ? 'covered' : 'nobody';
}
