import type { StoreReader } from '../../src/daemon/ports.ts';
import type { Incident } from '../../src/domain/alert.ts';
import { ownAccountId } from '../../src/domain/alert.ts';
import type { Calendar } from '../../src/domain/ports.ts';
import { pollInterval } from '../../src/engine/poll-gaps.ts';
import type { ReplayedIncident } from '../../src/replay/incident-book.ts';
import { Replay } from '../../src/replay/replay.ts';
import { storedPast } from '../../src/replay/stored-past.ts';
import type { Downtime } from './recording-observer.ts';
import { calmDays, dayMs, type Scenario } from './scenario.ts';
import { Violation } from './story.ts';

/** What a replay cannot know of: a clock that jumped or stood still, and other rules. */
const disturbing: ReadonlySet<string> = new Set(['jump', 'suspend', 'pause', 'restore', 'reload']);

/** That an account is watched shows with the answer to its first poll. */
const slackMs = 15_000;
/** When a process died, what is stored tells to a poll interval. */
const deaths: ReadonlySet<string> = new Set(['kill', 'kill at call', 'kill in commit', 'stop']);

/** Whether a replay of all that such a story stored must find what was. */
export function canBeReplayed({ events, days, settings, weather }: Scenario): boolean {
  const keptDays = settings.storage.retentionMs / dayMs;
  // How long a provider asked to be left alone is not stored, and where it answers others of the group nothing else tells.
  const asksSomeToWait = weather.some(
    ({ accounts, retryAfterMs }) => accounts !== null && retryAfterMs !== null,
  );
  return events.every(({ kind }) => !disturbing.has(kind)) && !asksSomeToWait && days + calmDays < keptDays;
}

/** Holds the incidents that a replay of the stored polls finds against those that were. */
export async function checkReplay(it: {
  readonly scenario: Scenario;
  readonly calendar: Calendar;
  readonly reader: StoreReader;
  readonly incidents: Iterable<Incident>;
  readonly downtimes: readonly Downtime[];
  readonly now: number;
}): Promise<void> {
  const { calendar, reader, now } = it;
  const { settings, events } = it.scenario;
  const died = events.some(({ kind }) => deaths.has(kind));
  const intervalOf = (id: string): number => {
    const account = settings.accounts.find((each) => each.id === id);
    const longestMs = Math.max(...settings.accounts.map(({ poll }) => pollInterval(calendar, poll, now)));
    return account === undefined ? longestMs : pollInterval(calendar, account.poll, now);
  };
  const isAlike = (id: string, replayed: number, was: number): boolean => {
    const intervalMs = intervalOf(id);
    return Math.abs(replayed - was) <= slackMs + (died ? intervalMs : 0);
  };
  const pasts = settings.accounts.map((account) => storedPast(reader, account, { since: null, now }));
  const result = await new Replay({ settings, calendar, pasts }).advance(Number.POSITIVE_INFINITY);
  if (result === null) throw new Error('a replay without slices ends at once');
  const left = [...result.incidents];
  for (const incident of it.incidents) {
    if (incident.account === ownAccountId) continue;
    const place = left.findIndex((found) => isSame(found, incident, isAlike));
    if (place < 0) {
      if (isOfAStart(incident, it.downtimes, intervalOf(incident.account))) continue;
      const near = result.incidents.filter(
        (it) => it.account === incident.account && it.rule === incident.rule,
      );
      throw differs(`did not find ${describe(incident)} but ${near.map(describe).join(', ') || 'none'}`);
    }
    left.splice(place, 1);
  }
  const invented = left.find((found) => !livedThrough(found, it.downtimes));
  if (invented !== undefined) throw differs(`made up ${describe(invented)}`);
}

/**
 * When a process died is stored to a poll interval only. What a start found due by that, and what its first answers ended, a
 * replay sees at another time or not at all.
 */
function isOfAStart(
  { firedAt, resolvedAt }: Incident,
  downtimes: readonly Downtime[],
  intervalMs: number,
): boolean {
  return downtimes.some(({ from, until }) =>
    [firedAt, resolvedAt].some((at) => at !== null && from <= at && at <= until + intervalMs + slackMs),
  );
}

/** Whether a replay sees it through a time in which no process was there to see it. */
function livedThrough({ firedAt, resolvedAt }: ReplayedIncident, downtimes: readonly Downtime[]): boolean {
  return downtimes.some(
    ({ from, until }) => firedAt <= until + slackMs && (resolvedAt === null || resolvedAt >= from),
  );
}

function isSame(
  found: ReplayedIncident,
  { worstSeverity, ...was }: Incident,
  isAlike: (account: string, replayed: number, was: number) => boolean,
): boolean {
  const alike = (replayed: number | null, lived: number | null): boolean =>
    replayed === null || lived === null ? replayed === lived : isAlike(was.account, replayed, lived);
  return (
    found.account === was.account &&
    found.rule === was.rule &&
    found.event === was.event &&
    found.severity === worstSeverity &&
    alike(found.firedAt, was.firedAt) &&
    alike(found.resolvedAt, was.resolvedAt)
  );
}

function differs(message: string): Violation {
  return new Violation('a replay finds what was', message);
}

function describe(it: Pick<Incident, 'account' | 'rule' | 'firedAt' | 'resolvedAt'>): string {
  const stamp = (at: number | null) => (at === null ? 'now' : new Date(at).toISOString());
  return `${it.account}/${it.rule} from ${stamp(it.firedAt)} to ${stamp(it.resolvedAt)}`;
}
