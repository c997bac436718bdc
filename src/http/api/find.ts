import type { AccountView, Views } from '../../views/views.ts';
import { RequestError } from '../refusal.ts';

export async function findAccount(views: Pick<Views, 'account'>, id: string): Promise<AccountView> {
  const account = await views.account(id);
  if (account === null) throw new RequestError('not_found', 'There is no account of that id.');
  return account;
}
