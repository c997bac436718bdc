import type { AuditEntry, ExpectedTopUp } from '../../domain/operator.ts';
import type { Views } from '../../views/create-views.ts';
import type { AccountView, SilenceView } from '../../views/views.ts';
import { CommandError, UsageError } from '../command.ts';
import { askDaemon, type DaemonAddress, type DaemonRequest } from './daemon-connection.ts';

/** What commands look at, of a running daemon or of a database. */
export interface OperatorViews
  extends Pick<Views, 'accounts' | 'account' | 'alerts' | 'readings' | 'explain'> {
  /** What people did since an instant, newest first; the newest thousand. */
  audit(since: number): Promise<readonly AuditEntry[]>;
  silences(): Promise<readonly SilenceView[]>;
  /** Top-ups that people announced and that have not come yet. */
  expected(): Promise<readonly ExpectedTopUp[]>;
}

/** What a daemon of this version shows, as the program itself holds it: exactly what the database would show. */
export function openRemoteViews(daemon: DaemonAddress): OperatorViews {
  const look = async <Item>(view: string, query: Readonly<Record<string, string>> = {}) => {
    const path = `/api/v1/views/${view}?${new URLSearchParams(query)}`;
    return (await request<{ readonly items: readonly Item[] }>(daemon, 'GET', path)).items;
  };
  return {
    accounts: () => look('accounts'),
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
  };
}

/** The body of an answer, which is what the API describes: only a lowwater answers there. Throws `CommandError` for a refusal. */
export async function request<Answer>(
  daemon: DaemonAddress,
  method: DaemonRequest['method'],
  path: string,
): Promise<Answer> {
  const answer = await askDaemon(daemon, { method, path, patienceMs: 60_000 });
  if (answer.kind === 'absent') throw new CommandError(`the daemon at ${daemon.url} went away`);
  if (answer.kind === 'answered') return answer.body as Answer;
  throw answer.status === 404 ? new UsageError(answer.message) : new CommandError(answer.message);
}
