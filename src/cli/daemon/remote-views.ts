import type { AnnouncedRun, AuditEntry, ExpectedTopUp } from '../../domain/operator.ts';
import { StorageError } from '../../domain/operator-error.ts';
import { type OutcomeKind, outcomeKinds } from '../../domain/reading.ts';
import type { Clock } from '../../ports/clock.ts';
import { type AccountSummary, nothingAsked } from '../../views/account-summary.ts';
import type { CheckedAccount } from '../../views/check.ts';
import type { Views } from '../../views/create-views.ts';
import type { SilenceView } from '../../views/silences.ts';
import type { AccountView, BriefAccount } from '../../views/views.ts';
import { CommandError, UsageError } from '../command.ts';
import { askDaemon, type DaemonAddress, type DaemonRequest } from './daemon-connection.ts';

/** The wait for an answer. A poll waits for the guard, by default one request a second, and the provider; a report waits for its history. */
const patienceMs = 60_000;

/** The views of commands: those of a running daemon or of a database. */
export interface OperatorViews
  extends Pick<Views, 'summary' | 'account' | 'alerts' | 'readings' | 'explain'> {
  accounts(): Promise<readonly BriefAccount[]>;
  /** Orders of people since an instant, newest first; at most the newest thousand. */
  audit(since: number): Promise<readonly AuditEntry[]>;
  silences(): Promise<readonly SilenceView[]>;
  /** Top-ups that people announced and that have not come yet. */
  expected(): Promise<readonly ExpectedTopUp[]>;
  announced(): Promise<readonly AnnouncedRun[]>;
  /** Accounts of the database that a configuration with problems does not name. */
  readonly unnamed?: readonly string[];
}

/** The views of a daemon of this version, in the program's internal form: exactly what the database would show. */
export function openRemoteViews(daemon: DaemonAddress): OperatorViews {
  const look = async <Item>(view: string, query: Readonly<Record<string, string>> = {}) => {
    const path = `/api/v1/views/${view}?${new URLSearchParams(query)}`;
    return (await request<{ readonly items: readonly Item[] }>(daemon, 'GET', path)).items;
  };
  return {
    accounts: () => look('accounts'),
    async summary(limit) {
      const [summary] = await look<AccountSummary>('summary', { limit: String(limit) });
      if (summary === undefined) throw new CommandError(`the daemon at ${daemon.url} summed nothing up`);
      return summary;
    },
    account: async (account) => (await look<AccountView | null>('account', { account }))[0] ?? null,
    readings: (account, since, until) =>
      look('readings', {
        account,
        since: new Date(since).toISOString(),
        until: new Date(until).toISOString(),
      }),
    alerts: ({ all }) => look('alerts', { all: String(all) }),
    explain: (account) => look('explain', { account }),
    audit: (since) => look('audit', { since: new Date(since).toISOString() }),
    silences: () => look('silences'),
    expected: () => look('expected'),
    announced: () => look('announced'),
  };
}

/** The body of an answer, in the API's form. Throws `CommandError` for a refusal, `StorageError` if the daemon has not read the database. */
export async function request<Answer>(
  daemon: DaemonAddress,
  method: DaemonRequest['method'],
  path: string,
): Promise<Answer> {
  const answer = await askDaemon(daemon, { method, path, patienceMs });
  if (answer.kind === 'absent') throw new CommandError(`the daemon at ${daemon.url} went away`);
  if (answer.kind === 'answered') return answer.body as Answer;
  // The daemon has not read the database yet, or cannot.
  if (answer.status === 503) throw new StorageError('other', answer.message);
  throw answer.status === 404 ? new UsageError(answer.message) : new CommandError(answer.message);
}

/** Accounts asked for at once; the daemon's guard decides when each is polled. */
const concurrency = 10;

/** Polls through the daemon, within its guard and backoff. Throws `CommandError` if a poll that was ordered did not happen. */
export async function checkThroughDaemon(
  openViews: () => Promise<Pick<Views, 'account' | 'explain'>>,
  daemon: DaemonAddress,
  order: { readonly accounts: readonly string[]; readonly by: string; readonly clock: Clock },
): Promise<readonly CheckedAccount[]> {
  const { accounts, by, clock } = order;
  const before = await openViews();
  const polls = await forEach(accounts, async (id) =>
    (await before.account(id))?.polled === false ? null : poll(daemon, id, by),
  );
  for (const until = clock.monotonic() + storedWithinMs; ; ) {
    // The views of a database show it as it was when they were opened.
    const views = await openViews();
    const checked = await forEach(accounts, (id, place) => lookAt(views, id, polls[place] ?? null));
    if (clock.monotonic() >= until || checked.every(({ reason }) => reason !== notStored)) return checked;
    await new Promise<void>((resolve) => clock.setTimer(lookEveryMs, resolve));
  }
}

/** The longest wait for a reading: a daemon gathers readings for half a second before it stores them. */
const storedWithinMs = 3000;
const lookEveryMs = 500;

async function lookAt(
  views: Pick<Views, 'account' | 'explain'>,
  id: string,
  polled: Awaited<ReturnType<typeof poll>> | null,
): Promise<CheckedAccount> {
  const [found, explanations] = await Promise.all([views.account(id), views.explain(id)]);
  if (found === null) throw new CommandError(`the daemon has no account ${id} any more`);
  const isBehind = polled !== null && polled.readAt > (found.readAt ?? 0);
  const view = isBehind ? { ...found, isRead: false } : found;
  const outcome = outcomeOf(polled, view);
  const given = polled === null ? nothingAsked : isBehind ? notStored : polled.reason;
  const reason = given ?? (outcome === 'ok' ? null : view.failure);
  return { view, outcome, reason, explanations };
}

const notStored =
  'the daemon, which this command cannot read, did not store what it read now: this is the reading before';

/** Results in the order of the items; `concurrency` of them run at once. */
async function forEach<T, R>(
  items: readonly T[],
  act: (item: T, place: number) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const work = async (): Promise<void> => {
    for (const [place, item] of rest) results[place] = await act(item, place);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

function outcomeOf(polled: Pick<CheckedAccount, 'outcome'> | null, view: AccountView): OutcomeKind | null {
  if (polled === null) return view.outcome;
  // A standby does not poll, but what the owner has read counts as read now. An account waits after its provider refused.
  const isReadThere = view.isRead && view.backoffUntil === null;
  return polled.outcome ?? (isReadThere ? view.outcome : null);
}

/** The daemon's answer if the provider refused lately, or if the daemon stands by. */
const backingOff = 409;

async function poll(daemon: DaemonAddress, id: string, by: string) {
  const path = `/api/v1/accounts/${encodeURIComponent(id)}/poll?${new URLSearchParams({ by })}`;
  const answer = await askDaemon(daemon, { method: 'POST', path, patienceMs });
  if (answer.kind === 'absent') throw new CommandError('the daemon went away while it was asked');
  if (answer.kind === 'answered') return { ...readAnswer(answer.body), reason: null };
  if (answer.status !== backingOff) throw new CommandError(answer.message);
  return { outcome: null, readAt: 0, reason: `not asked: ${answer.message}` };
}

/** Reads `{"outcome":"ok","account":{"readAt":…}}`. */
function readAnswer(body: unknown): { readonly outcome: OutcomeKind; readonly readAt: number } {
  const { outcome, account } = body as {
    readonly outcome?: unknown;
    readonly account?: { readonly readAt?: string };
  };
  const kind = outcomeKinds.find((known) => known === outcome);
  if (kind === undefined) throw new CommandError('the daemon answered in words of another version');
  return { outcome: kind, readAt: Date.parse(account?.readAt ?? '') || 0 };
}
