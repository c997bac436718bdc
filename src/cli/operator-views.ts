import type { AuditEntry } from '../domain/audit.ts';
import type { ExplainedRule, SilenceView, Views } from '../views/views.ts';

/** What commands look at, of a running daemon or of a database. */
export interface OperatorViews extends Pick<Views, 'accounts' | 'account' | 'alerts' | 'readings'> {
  explain(account: string): Promise<readonly ExplainedRule[]>;
  /** What people did since an instant, newest first; the newest thousand. */
  audit(since: number): Promise<readonly AuditEntry[]>;
  silences(): Promise<readonly SilenceView[]>;
}
