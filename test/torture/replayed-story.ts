import { type Incident, selfAccountId } from '../../src/domain/alert.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { Calendar } from '../../src/ports/clock.ts';
import type { StoreReader } from '../../src/ports/store.ts';
import type { ReplayedIncident } from '../../src/replay/incident-book.ts';
import { storedPast } from '../../src/replay/past.ts';
import { createReplay } from '../../src/replay/replay.ts';
import { allOf, calmDays, dayMs, type Scenario } from './scenario.ts';
import { Violation } from './story.ts';

/** What a replay cannot know of: a clock that jumped or stood still, other rules, and what people said is to come. */
const disturbing: ReadonlySet<string> = new Set([
  'jump',
  'suspend',
  'pause',
  'restore',
  'damage',
  'reload',
  'ordered',
  'announced',
  'order at standby',
]);

/** That an account is watched shows with the answer to its first poll. */
const slackMs = 15_000;

/** Whether a replay of all that such a story stored must find what was. */
export function canBeReplayed({ events, days, settings, weather }: Scenario): boolean {
  const keptDays = settings.storage.retentionMs / dayMs;
  // How long a provider asked to be left alone is not stored, and where it answers others of the group nothing else tells.
  const asksSomeToWait = weather.some(
    ({ accounts, retryAfterMs }) => accounts !== null && retryAfterMs !== null,
  );
  return (
    allOf(events).every(({ kind }) => !disturbing.has(kind)) && !asksSomeToWait && days + calmDays < keptDays
  );
}

/**
 * Holds the incidents that a replay of the stored polls finds against those that were, up to the first end of a process: when that was is
 * stored to a poll interval only, and `for`, recovery and flapping remember it for long.
 */
export async function checkReplay(it: {
  readonly settings: Settings;
  readonly calendar: Calendar;
  readonly reader: StoreReader;
  readonly incidents: Iterable<Incident>;
  /** Infinity: one process lived through all of it. */
  readonly firstEndAt: number;
  readonly now: number;
}): Promise<void> {
  const { settings, calendar, reader, firstEndAt, now } = it;
  const pasts = settings.accounts.map((account) => storedPast(reader, account, { since: null, now }));
  const result = await createReplay({ settings, calendar, pasts }).advance(Number.POSITIVE_INFINITY);
  if (result === null) throw new Error('a replay without slices ends at once');
  const left = [...result.incidents];
  for (const incident of it.incidents) {
    if (incident.account === selfAccountId || incident.firedAt >= firstEndAt) continue;
    const place = left.findIndex((found) => isSame(found, incident, firstEndAt));
    if (place < 0) {
      const near = result.incidents.filter(
        (it) => it.account === incident.account && it.rule === incident.rule,
      );
      throw differs(`did not find ${describe(incident)} but ${near.map(describe).join(', ') || 'none'}`);
    }
    left.splice(place, 1);
  }
  const invented = left.find(({ firedAt }) => firedAt < firstEndAt - slackMs);
  if (invented !== undefined) throw differs(`made up ${describe(invented)}`);
}

/** Of one that was open when the process ended, its beginning. */
function isSame(found: ReplayedIncident, { worstSeverity, ...was }: Incident, firstEndAt: number): boolean {
  const alike = (replayed: number | null, lived: number | null): boolean =>
    replayed === null || lived === null ? replayed === lived : Math.abs(replayed - lived) <= slackMs;
  const wasOver =
    was.resolvedAt === null ? firstEndAt === Number.POSITIVE_INFINITY : was.resolvedAt < firstEndAt;
  return (
    found.account === was.account &&
    found.rule === was.rule &&
    found.event === was.event &&
    alike(found.firedAt, was.firedAt) &&
    (!wasOver || (found.severity === worstSeverity && alike(found.resolvedAt, was.resolvedAt)))
  );
}

function differs(message: string): Violation {
  return new Violation('a replay finds what was', message);
}

function describe(it: Pick<Incident, 'account' | 'rule' | 'firedAt' | 'resolvedAt'>): string {
  const stamp = (at: number | null) => (at === null ? 'now' : new Date(at).toISOString());
  return `${it.account}/${it.rule} from ${stamp(it.firedAt)} to ${stamp(it.resolvedAt)}`;
}
