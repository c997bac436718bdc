import { type OutcomeKind, outcomeKinds } from '../../domain/reading.ts';
import type { CheckedAccount } from '../../views/check.ts';
import type { Views } from '../../views/create-views.ts';
import { CommandError } from '../command.ts';
import { askDaemon, type DaemonAddress } from './daemon-connection.ts';

/** So many accounts are asked for at once; the daemon's guard decides when each is polled. */
const concurrency = 10;

/** A poll waits for the guard, which lets one request a second pass by default, and for the provider. */
const patienceMs = 60_000;

/**
 * Lets the running daemon poll the accounts, within its guard and its backoff, and asks it what the rules say then. Throws
 * `CommandError` where a poll that was asked for did not come.
 */
export async function checkThroughDaemon(
  views: Pick<Views, 'account' | 'explain'>,
  daemon: DaemonAddress,
  accounts: readonly string[],
): Promise<readonly CheckedAccount[]> {
  const checked = new Map<string, CheckedAccount>();
  const rest = [...accounts];
  const work = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      const polled = await poll(daemon, id);
      const [view, explanations] = await Promise.all([views.account(id), views.explain(id)]);
      if (view === null) throw new CommandError(`the daemon has no account ${id} any more`);
      const reason = polled.reason ?? (polled.outcome === 'ok' ? null : view.failure);
      checked.set(id, { view, ...polled, reason, explanations });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return accounts.flatMap((id) => checked.get(id) ?? []);
}

/** The daemon's answer where the provider asked to wait. */
const backingOff = 409;

async function poll(daemon: DaemonAddress, id: string): Promise<Pick<CheckedAccount, 'outcome' | 'reason'>> {
  const path = `/api/v1/accounts/${encodeURIComponent(id)}/poll`;
  const answer = await askDaemon(daemon, { method: 'POST', path, patienceMs });
  if (answer.kind === 'absent') throw new CommandError('the daemon went away while it was asked');
  if (answer.kind === 'answered') return { outcome: readOutcome(answer.body), reason: null };
  if (answer.status !== backingOff) throw new CommandError(answer.message);
  return { outcome: null, reason: `not asked: ${answer.message}` };
}

/** `{"outcome":"ok","account":{…}}` */
function readOutcome(body: unknown): OutcomeKind {
  const { outcome } = body as { readonly outcome?: unknown };
  const kind = outcomeKinds.find((known) => known === outcome);
  if (kind === undefined) throw new CommandError('the daemon answered in words of another version');
  return kind;
}
