import { isoText } from '../domain/moment.ts';
import { formatMicros } from '../domain/money.ts';
import type { AuditEntry, DatabaseOrder } from '../domain/operator.ts';
import { type MonitorState, writeNote } from './state.ts';

const prefix = 'audit:';

/** Years of what a team does by hand; more is a script, whose oldest entries go first. */
const maxEntries = 5_000;

/** Stores what a person did. Entries older than the retention are removed. */
export function recordAudit(state: MonitorState, entry: AuditEntry): void {
  writeNote(state, `${prefix}${entry.at}:${state.random.id()}`, JSON.stringify(entry));
  const names = [...state.notes.keys()].filter((name) => name.startsWith(prefix)).toSorted(byAge);
  const keptSince = entry.at - state.settings.storage.retentionMs;
  for (const [index, name] of names.entries())
    if (index < names.length - maxEntries || atOf(name) < keptSince) state.notes.delete(name);
}

/** What people did in [since, before), newest first. */
export function auditOf(
  { notes }: MonitorState,
  { since, before, limit }: { readonly since: number; readonly before: number; readonly limit: number },
): readonly AuditEntry[] {
  return [...notes.values()]
    .filter(({ name }) => name.startsWith(prefix) && atOf(name) >= since && atOf(name) < before)
    .toReversed()
    .toSorted((left, right) => byAge(right.name, left.name))
    .slice(0, limit)
    .map(({ value }) => JSON.parse(value) as AuditEntry);
}

function byAge(left: string, right: string): number {
  return atOf(left) - atOf(right);
}

function atOf(name: string): number {
  return Number(name.split(':')[1]);
}

/** What an order says that the command line left in the database. */
export function describeOrder(order: DatabaseOrder, at: number): AuditEntry {
  const common = {
    at,
    by: 'command line',
    from: null,
    account: null,
    rule: null,
    detail: '',
    action: order.kind,
  };
  const join = (...details: (string | undefined)[]): string => details.filter(Boolean).join(', ');
  switch (order.kind) {
    case 'acknowledge': {
      const { by, account, rule, comment: detail } = order;
      return { ...common, by, account, rule, detail };
    }
    case 'unacknowledge':
      return { ...common, account: order.account, rule: order.rule };
    case 'silence': {
      const { createdBy: by, comment, match, endsAt } = order.silence;
      return { ...common, by, detail: join(JSON.stringify(match), `until ${isoText(endsAt)}`, comment) };
    }
    case 'expect-top-up': {
      const { account, orderedBy, amountMicros, by, comment } = order;
      const until = by === undefined ? '' : `by ${isoText(by)}`;
      return { ...common, by: orderedBy, account, detail: join(formatMicros(amountMicros), until, comment) };
    }
    case 'cancel-expected':
      return { ...common, account: order.account, detail: order.id };
    case 'expire':
      return { ...common, action: 'expire-silence', detail: order.id };
  }
}
