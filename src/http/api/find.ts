import type { AccountView, Views } from '../../views/views.ts';
import { RequestError } from '../refusal.ts';

export function findAccount(views: Pick<Views, 'account'>, id: string): AccountView {
  const account = views.account(id);
  if (account === null) throw new RequestError('not_found', 'There is no account of that id.');
  return account;
}
