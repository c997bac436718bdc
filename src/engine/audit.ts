import { parseJsonObject } from '../domain/json.ts';
import type { AuditEntry } from '../domain/operator.ts';
import type { MonitorState } from './state.ts';

const prefix = 'audit:';

/** Enough for years of what a team does by hand; more comes from a script, of which the oldest entries are removed first. */
const maxEntries = 5_000;

/** `orderId`: that of the order. Returns the name of its note. */
export function recordAudit(state: MonitorState, entry: AuditEntry, orderId: string): string {
  const name = `${prefix}${entry.at}:${orderId}`;
  state.notes.write(name, JSON.stringify(entry));
  return name;
}

/** Removes entries older than the retention, and the oldest ones if there are too many. */
export function pruneAudit({ notes, settings }: MonitorState, now: number): void {
  const names = notes
    .under(prefix)
    .map(({ name }) => name)
    .toSorted(byAge);
  const keptSince = now - settings.storage.retentionMs;
  for (const [index, name] of names.entries())
    if (index < names.length - maxEntries || atOf(name) < keptSince) notes.delete(name);
}

export function auditedOrders({ notes }: MonitorState): Set<string> {
  return new Set(notes.under(prefix).map(({ name }) => orderOf(name)));
}

/** The entries of orders whose ids begin with `begin`. */
export function auditOfOrders({ notes }: MonitorState, begin: string): readonly AuditEntry[] {
  const found = notes.under(prefix).filter(({ name }) => orderOf(name).startsWith(begin));
  return found.flatMap(({ value }) => readEntry(value) ?? []);
}

function orderOf(name: string): string {
  return name.split(':').slice(2).join(':');
}

function readEntry(value: string): AuditEntry | null {
  const entry = parseJsonObject(value);
  return entry !== null && isEntry(entry) ? entry : null;
}

/** The entries in [since, before), newest first; all of them if no limit is given. */
export function auditOf(
  { notes }: MonitorState,
  { since, before, limit }: { readonly since: number; readonly before: number; readonly limit?: number },
): readonly AuditEntry[] {
  return notes
    .under(prefix)
    .filter(({ name }) => atOf(name) >= since && atOf(name) < before)
    .toReversed()
    .toSorted((left, right) => byAge(right.name, left.name))
    .slice(0, limit)
    .flatMap(({ value }) => readEntry(value) ?? []);
}

function byAge(left: string, right: string): number {
  return atOf(left) - atOf(right);
}

function atOf(name: string): number {
  return Number(name.split(':')[1]);
}

/** Only `recordAudit` writes these notes. */
function isEntry(stored: object): stored is AuditEntry {
  return 'at' in stored && 'by' in stored && 'action' in stored;
}
