import type { Rule } from '../../domain/rule.ts';
import type { Unnotified } from '../../replay/trial.ts';
import { ruleKindOf } from '../../rules/registry.ts';
import { readWrittenRule, ruleFields, writeRule } from '../../rules/rule-schema.ts';
import { ruleOn } from '../../rules/rules-for-account.ts';
import type { AccountView } from '../../views/views.ts';
import { findAccount } from '../api/input.ts';
import { RequestError } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { readForm } from './form-input.ts';
import { frameOf, type PageOptions, show } from './show.ts';
import { fieldName, renderTrial, type TrialShown, trialTimes } from './trial.ts';
import { nameOf } from './words.ts';

/** A rule is tried with other values before the file is edited: a form, and the same page with what came of it. */
export function addTrialPage(app: WebApp, options: PageOptions): void {
  app.get('/accounts/:id/try/:rule', async (context) => {
    const { account, rule } = await findRule(context);
    const written = rule.written ?? { id: rule.id, type: rule.type };
    const [, time] = trialTimes;
    return showTrial(options, context, { account, rule, written, time, outcome: { kind: 'asked' } });
  });
  app.post('/accounts/:id/try/:rule', async (context) => {
    const { account, rule } = await findRule(context);
    const form = await readForm(context);
    const written = readRule(rule, account, form);
    const time = trialTimes.find(({ name }) => name === form.get('over')) ?? trialTimes[1];
    const read = readWrittenRule(written);
    const shown = { account, rule, written, time };
    if (read.kind === 'invalid') {
      return showTrial(options, context, {
        ...shown,
        outcome: { kind: 'refused', problems: read.problems },
      });
    }
    const tried = ruleOn(read.rule, account);
    if (tried === null) {
      const ids = account.balances.map(({ id }) => id).join(' or ');
      const problems = [{ path: 'balance', message: `the account has no such balance; give ${ids}` }];
      return showTrial(options, context, { ...shown, outcome: { kind: 'refused', problems } });
    }
    const since = context.get('now') - time.ms;
    const trial = await options.trials.run({ account: account.id, tried, present: rule, since });
    if (trial === 'busy') {
      throw new RequestError('unavailable', 'Others are trying rules just now; try again in a moment.', {
        'retry-after': '10',
      });
    }
    if (trial === 'too-long') {
      throw new RequestError('unavailable', 'That took too long: try a shorter time.', {});
    }
    if (trial === 'not-watched' || trial === 'not-read') {
      const message = `${whyUnnotified[trial]}: what it would have done is not known.`;
      return showTrial(options, context, {
        ...shown,
        outcome: { kind: 'refused', problems: [{ path: '', message }] },
      });
    }
    return showTrial(options, context, { ...shown, outcome: { kind: 'tried', rule: read.rule, trial } });
  });
}

const whyUnnotified = {
  'not-watched': 'No poll of this account is stored of that time',
  'not-read': 'The account could not be read in that time, all of its polls failed',
} as const satisfies Record<Unnotified, string>;

async function findRule(
  context: WebContext,
): Promise<{ readonly account: AccountView; readonly rule: Rule }> {
  const { views } = context.var;
  const account = await findAccount(views, context.req.param('id') ?? '');
  const wanted = context.req.param('rule');
  const found = (await views.explain(account.id)).find(({ rule }) => rule.id === wanted);
  if (found === undefined) throw new RequestError('not_found', 'No such rule applies to this account.');
  return { account, rule: found.rule };
}

function readRule(rule: Rule, { balances }: AccountView, form: URLSearchParams): Record<string, unknown> {
  const kind = ruleKindOf(rule);
  const before = rule.written ?? { id: rule.id, type: rule.type };
  const values = ruleFields(kind, before, balances).map(
    (field) => [field.path, form.get(fieldName(field)) ?? ''] as const,
  );
  return writeRule(kind, before, new Map(values));
}

async function showTrial(options: PageOptions, context: WebContext, shown: TrialShown): Promise<Response> {
  return show(options, context, {
    title: `Try ${shown.rule.id} of ${nameOf(shown.account.name)} · lowwater`,
    content: await renderTrial(context.var.views, shown, frameOf(options, context)),
    current: null,
    scripts: [],
    status: shown.outcome.kind === 'refused' ? 400 : 200,
  });
}
