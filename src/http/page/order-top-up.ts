import type { AccountView } from '../../views/views.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { findAccount } from '../api/input.ts';
import type { ErrorCode } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { readForm, readOwnPath, sendBack } from './forms.ts';
import { type OrderedPlace, orderedFields, readTopUp } from './ordered.ts';
import { giveOrAskAgain } from './show.ts';
import { nameOf } from './words.ts';

const says = phrases('orderTopUp', { question: 'Ordered for {name}?' });

/** The place of the form: its target, its hidden fields, and whether its page has a navigation. */
interface TopUpPlace extends Pick<OrderedPlace, 'action' | 'extra'> {
  readonly back: string;
  readonly chrome?: null;
}

/** Executes the order in the form of a page. */
export async function orderTopUp(context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const back = readOwnPath(form.get('back') ?? '/pay');
  form.set('back', back);
  const account = await findAccount(context.var.scope.views, form.get('account') ?? '');
  return (await refuseTopUp(context, account, form, { back })) ?? sendBack(context, form, 'ordered');
}

/**
 * Executes the form's order and returns null. A refused form is shown again with the reason and what was typed. Sent again, it says that its
 * sender has seen the reason.
 */
export function refuseTopUp(
  context: WebContext,
  account: AccountView,
  form: URLSearchParams,
  { action, extra, ...place }: TopUpPlace,
): Promise<Response | null> {
  const { scope } = context.var;
  const heading = say(says.question, { name: nameOf(account.name) }, scope);
  const fields = (refusal: ErrorCode) => orderedFields(account, form, scope, { action, extra, refusal });
  return giveOrAskAgain(context, form, (given) => readTopUp(account.id, given, scope), {
    heading,
    fields,
    ...place,
  });
}
