import { html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import { phrases } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { findAccount } from '../api/input.ts';
import { RequestError } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { readForm, readOwnPath, readPerson, sendBack } from './forms.ts';
import { orderedFields, readTopUp } from './ordered.ts';
import { show } from './show.ts';
import { nameOf } from './words.ts';

const says = phrases('orderTopUp', { question: 'Ordered for {name}?', back: 'Back' });

/** Orders what the form says. A refused form is shown again with what was typed; sent once more it says that its sender saw why. */
export async function orderTopUp(context: WebContext): Promise<Response> {
  const form = await readForm(context);
  const back = readOwnPath(form.get('back') ?? '/pay');
  form.set('back', back);
  const { visit, door } = context.var;
  const account = await findAccount(visit.views, form.get('account') ?? '');
  try {
    await door.give(readTopUp(account.id, form, visit), readPerson(form).by);
    return sendBack(context, form, 'ordered');
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const content = html`<section class="panel question"><h1>${say(says.question, { name: nameOf(account.name) }, visit)}</h1>
<p class="problem" role="alert">${sayAgain(error.message, visit)}</p>${orderedFields(account, form, visit)}<p><a href="${back}">${say(says.back, visit)}</a></p></section>`;
    return show(context, { title: 'Ordered? · lowwater', content, current: 'pay', status: error.status });
  }
}
