import type { AccountView, AlertView, Views } from '../../views/views.ts';
import { RequestError } from '../refusal.ts';

export function findAccount(views: Pick<Views, 'account'>, id: string): AccountView {
  const account = views.account(id);
  if (account === null) throw new RequestError('not_found', 'There is no account of that id.');
  return account;
}

/** The alert of an account and a rule while it is pending or firing. */
export function findAlert(views: Pick<Views, 'alerts'>, account: string, rule: string): AlertView | null {
  return (
    views.alerts({ all: false }).find((alert) => alert.account === account && alert.rule === rule) ?? null
  );
}
