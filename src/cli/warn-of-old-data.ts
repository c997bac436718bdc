import { roughDuration } from '../domain/moment.ts';
import type { AccountView } from '../views/views.ts';
import type { Views } from '../views/create-views.ts';
import type { CommandContext } from './context.ts';
import type { Desk } from './desk.ts';

/** As the built-in `stale` rule: this many polls, and at least this long. */
const missedPolls = 3;
const leastMs = 120_000;

/**
 * Says on standard error that the database has fallen behind: what is read from it then describes the past, and "nothing
 * fires" says nothing about now. True where it has. Accounts that are polled by cron, or that the provider asked to wait, may rest for good
 * reason.
 */
export async function warnOfOldData(
  context: CommandContext,
  { daemon, settings }: Pick<Desk, 'daemon' | 'settings'>,
  views: Pick<Views, 'accounts'>,
): Promise<boolean> {
  if (daemon !== null || settings === null) return false;
  const now = context.clock.now();
  const accounts = await views.accounts();
  const byCron = new Set(settings.accounts.flatMap(({ id, poll }) => (poll.kind === 'cron' ? [id] : [])));
  const expected = accounts.filter(
    ({ id, polledAt, backoffUntil }) => !byCron.has(id) && polledAt !== null && backoffUntil === null,
  );
  if (expected.length === 0 || !expected.every((account) => isBehind(account, now))) return false;
  const newest = Math.max(...expected.map(({ polledAt }) => polledAt ?? 0));
  await context.stderr.write(
    `warning: the newest poll in the database is ${roughDuration(now - newest)} old: no daemon is running, or it cannot store what it sees\n`,
  );
  return true;
}

function isBehind({ polledAt, pollIntervalMs }: AccountView, now: number): boolean {
  return now - (polledAt ?? now) > Math.max(leastMs, missedPolls * pollIntervalMs);
}
