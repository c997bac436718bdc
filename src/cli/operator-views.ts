import type { ExplainedRule, SilenceView, Views } from '../views/views.ts';

/** What commands look at, of a running daemon or of a database. */
export interface OperatorViews extends Pick<Views, 'accounts' | 'account' | 'alerts' | 'readings'> {
  explain(account: string): Promise<readonly ExplainedRule[]>;
  silences(): Promise<readonly SilenceView[]>;
}
