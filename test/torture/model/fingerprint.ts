import { type Incident, oneKey } from '../../../src/domain/alert.ts';
import type { AccountSettings } from '../../../src/domain/settings.ts';
import { groupOf, type MonitorState } from '../../../src/engine/state.ts';
import type { ReadingLog } from '../../../src/spending/reading-log.ts';
import { dayMs } from '../scenario.ts';
import { Violation } from '../story.ts';
import { sharedBy } from './pacing.ts';

/** The state that must be the same after a restart as before it, part by part. Clocks are checked by their bounds elsewhere. */
export function fingerprint(state: MonitorState, now: number, asOf: number = now): Map<string, string> {
  const parts = new Map(announcedBy(state));
  for (const alert of state.alerts.values()) {
    const { account, rule, severity, incident } = alert;
    if (alert.state !== 'inactive')
      parts.set(`alert ${account}/${rule}`, JSON.stringify([alert.state, severity, incident]));
  }
  for (const incident of state.incidents.values()) {
    const owed = Object.values(incident.notified).some((notified) => !notified.resolved);
    if (incident.event || (incident.resolvedAt !== null && !owed)) continue;
    const { notified, rises, severity, worstSeverity, resolvedAt, acknowledgement } = incident;
    parts.set(
      `incident ${incident.id}`,
      JSON.stringify([asBefore(notified), rises, severity, worstSeverity, resolvedAt, acknowledgement]),
    );
  }
  for (const message of state.messages.values()) {
    if (message.state !== 'pending') continue;
    const { items, revision, attempts, report, dueAt } = message;
    parts.set(`message ${message.id}`, JSON.stringify([items, revision, attempts, report, dueAt]));
  }
  for (const silence of state.silences.values()) {
    if (silence.endsAt > now)
      parts.set(`silence ${silence.id}`, JSON.stringify([silence.match, silence.endsAt]));
  }
  for (const [name, words] of waitsOf(state, now)) parts.set(name, words);
  for (const [id, { poll, log, settings }] of state.accounts) {
    const { reading, previous, outcome, consecutiveFailures, retryAt } = poll;
    parts.set(`account ${id}`, JSON.stringify([reading, previous, outcome, consecutiveFailures, retryAt]));
    // Memory that reaches further back than this has begun to forget, and history that was not needed yet was not loaded.
    if (remembers(state, id, now - asOf)) {
      parts.set(
        `log ${id}`,
        describeLog(log, { asOf, keptSince: asOf - state.settings.storage.retentionMs + dayMs, settings }),
      );
    }
  }
  return parts;
}

/** The waits of groups, named by what their accounts share: a group has another name if another account is its first. */
function waitsOf(state: MonitorState, now: number): [string, string][] {
  return [...state.backoffs.values()].flatMap(({ group, strikes, until }): [string, string][] => {
    const first = state.accounts.get(group)?.settings;
    if (until <= now || first === undefined || groupOf(state, group) !== group) return [];
    return [[`backoff ${sharedBy(first)}`, JSON.stringify([strikes, until])]];
  });
}

/** The top-ups and runs that people announced. */
function announcedBy({ expected, announced }: MonitorState): [string, string][] {
  return [expected, announced].flatMap((known, place) =>
    [...known].map(([id, list]): [string, string] => [`to come ${place} ${id}`, JSON.stringify(list)]),
  );
}

/** Without what a restart adds: reminders are put off by the time nobody ran, and a process that died may have used keys that it did not store. */
function asBefore(notified: Incident['notified']): Incident['notified'] {
  const entries = Object.entries(notified).map(([channel, { pausedMs: _, keys, ...last }]) => {
    const { first, newest, taken } = keys ?? oneKey;
    return [channel, { ...last, keys: { first, newest, taken } }];
  });
  return Object.fromEntries(entries);
}

function remembers(state: MonitorState, account: string, passedMs: number): boolean {
  return !state.unloaded.has(account) && passedMs < (state.accounts.get(account)?.log.windowMs ?? 0) / 2;
}

/** The newest quarter of the time that rules look back on, and the spending in it; without readings that retention may have deleted. */
function describeLog(
  log: ReadingLog,
  {
    asOf,
    keptSince,
    settings,
  }: { readonly asOf: number; readonly keptSince: number; readonly settings: AccountSettings },
): string {
  const from = Math.max(0, log.indexAt(asOf - log.windowMs / 4), log.indexAt(keptSince) + 1);
  const to = log.length - 1;
  if (from > to) return 'empty';
  const spent = settings.balances.map(({ id }) => log.spentBetween(id, from, to));
  return JSON.stringify([log.readings(asOf - log.windowMs / 4), spent]);
}

/** Whether a restart only added history: the process before could not read it, and this one can. */
function knowsMore(words: string, now = 'empty'): boolean {
  if (words === 'empty' || now === 'empty') return false;
  const readingsOf = (text: string) => (JSON.parse(text) as readonly [readonly object[]])[0];
  const [before, after] = [readingsOf(words), readingsOf(now)];
  return JSON.stringify(after.slice(-before.length)) === JSON.stringify(before);
}

/** Silences and backoffs that ended meanwhile, and readings that nothing looks back on any more, may be missing. */
export function expectSame(before: Map<string, string>, after: Map<string, string>): void {
  for (const [part, words] of before) {
    if (/^(silence|backoff) /.test(part) && !after.has(part)) continue;
    if (part.startsWith('log ') && !after.has(part)) continue;
    if (after.get(part) === words) continue;
    if (part.startsWith('log ') && knowsMore(words, after.get(part))) continue;
    throw new Violation(
      'a restart changes no state',
      `${part}: ${words} became ${after.get(part) ?? 'nothing'}`,
    );
  }
  for (const part of after.keys()) {
    if (!before.has(part) && !part.startsWith('log '))
      throw new Violation('a restart changes no state', `${part} came out of nothing`);
  }
}
