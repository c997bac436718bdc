import type { NotTried } from '../../replay/trial.ts';
import { describeRule, ruleKindOf } from '../../rules/registry.ts';
import {
  declareKeyMeanings,
  type RuleField,
  readWrittenRule,
  ruleFields,
  type WrittenRule,
  writeRule,
} from '../../rules/rule-schema.ts';
import { ruleOn } from '../../rules/rules-for-account.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { findAccount } from '../api/input.ts';
import { RequestError, refusals } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { chartRanges } from './chart-model.ts';
import { options, readForm } from './forms.ts';
import { accountLink } from './markup.ts';
import { show } from './show.ts';
import { type RuleOnTrial, resultSection, type Tried } from './trial-result.ts';
import { accountPath, nameOf, pages, type Scope } from './words.ts';

const says = phrases('trial', {
  title: 'Try {rule} of {name} · lowwater',
  heading: 'Try other values of {rule}',
  lead: 'What is stored of {name} is judged again, as the daemon would have judged it. Nothing is changed and nothing is sent. Now: {description}.',
  busy: 'Others are trying rules just now; try again in a moment.',
  tooLong: 'That took too long: try a shorter time.',
  notWatched: 'No poll of this account is stored of that time: what it would have done is not known.',
  notRead:
    'The account could not be read in that time, all of its polls failed: what it would have done is not known.',
  noBalance: 'the account has no such balance; give {balances}',
  or: '{one} or {other}',
  over: 'Over the last',
  try: 'Try',
  problem: '{problem}.',
});

/** The page on which a rule is tried with other values before the file is edited: a form, and below it the result. */
export function addTrialPage(app: WebApp): void {
  app.get('/accounts/:id/try/:rule', async (context) => {
    return showTrial(context, { ...(await findRule(context)), time: usualTime });
  });
  app.post('/accounts/:id/try/:rule', async (context) => {
    const { account, rule, written: before } = await findRule(context);
    const form = await readForm(context);
    const { scope } = context.var;
    const kind = ruleKindOf(rule);
    const fields = ruleFields(kind, before, account.balances);
    const values = new Map(fields.map((field) => [field.path, form.get(fieldName(field)) ?? '']));
    const written = writeRule(kind, before, values);
    const time = trialTimes.find(({ name }) => name === form.get('over')) ?? usualTime;
    const read = readWrittenRule(written);
    const shown = { account, rule, written, time };
    const refuse = (...problems: readonly Problem[]) => showTrial(context, { ...shown, problems });
    if (read.kind === 'invalid') return refuse(...read.problems);
    const tried = ruleOn({ ...read.rule, match: {} }, { ...account, thresholds: {} });
    if (tried === null) {
      const ids: readonly string[] = account.balances.map(({ id }) => id);
      const balances = ids.reduce((one, other) => say(says.or, { one, other }, scope));
      return refuse({ path: 'balance', message: say(says.noBalance, { balances }, scope) });
    }
    const since = context.get('now') - time.ms;
    const { id, facts } = account;
    const trial = await context.var.site.trials.run({ account: id, facts, tried, present: rule, since });
    if (trial === 'busy') {
      const why = say(says.busy, scope);
      throw new RequestError('unavailable', why, { 'retry-after': '10' });
    }
    if (trial === 'too-long') throw new RequestError('unavailable', say(says.tooLong, scope));
    if (trial === 'not-watched' || trial === 'not-read')
      return refuse({ path: '', message: say(whyNotTried[trial], scope) });
    return showTrial(context, { ...shown, tried: { rule: tried, trial } });
  });
}

const whyNotTried = {
  'not-watched': says.notWatched,
  'not-read': says.notRead,
} as const satisfies Record<NotTried, unknown>;

async function findRule(context: WebContext) {
  const { views } = context.var;
  const account = await findAccount(views, context.req.param('id') ?? '');
  const wanted = context.req.param('rule');
  const found = (await views.explain(account.id)).find(({ rule }) => rule.id === wanted);
  if (found === undefined) throw new RequestError('not_found', refusals.noRule());
  const { rule } = found;
  return { account, rule, written: rule.written ?? { id: rule.id, type: rule.type } };
}

async function showTrial(context: WebContext, shown: TrialShown): Promise<Response> {
  declareKeyMeanings();
  const { scope } = context.var;
  return show(context, {
    title: say(says.title, { rule: shown.rule.id, name: nameOf(shown.account.name) }, scope),
    content: await renderTrial(scope, shown),
    scripts: ['live.js'],
    isStill: true,
    status: shown.problems === undefined ? 200 : 400,
  });
}

const [, , month, quarter, year] = chartRanges;
const trialTimes = [month, quarter, { ...year, name: '365d' }] as const;
const [, usualTime] = trialTimes;

type Problem = Extract<WrittenRule, { readonly kind: 'invalid' }>['problems'][number];

/** The input of the page: a rule of an account, what was filled in, and the result. */
interface TrialShown extends RuleOnTrial {
  readonly time: (typeof trialTimes)[number];
  /** Why the values were not tried. */
  readonly problems?: readonly Problem[];
  readonly tried?: Tried;
}

function fieldName({ path }: Pick<RuleField, 'path'>): string {
  return `rule.${path}`;
}

export function trialPath(account: string, rule: string): string {
  return `${accountPath(account)}/try/${encodeURIComponent(rule)}`;
}

/** One rule of an account with other values, tried on the account's stored history. */
async function renderTrial(scope: Scope, shown: TrialShown): Promise<Html> {
  const { account, rule, tried } = shown;
  return html`<p class="crumb"><a href="/">${say(pages.overview, scope)}</a> · ${accountLink(account)}</p>
<h1>${sayHtml(says.heading, { rule: html`<code>${rule.id}</code>` }, scope)}</h1>
<p>${sayHtml(says.lead, { name: html`<bdi>${nameOf(account.name)}</bdi>`, description: sayAgain(describeRule(rule), scope) }, scope)}</p>
${trialForm(scope, shown)}
${tried !== undefined && (await resultSection(scope, shown, tried))}`;
}

function trialForm(scope: Scope, { account, rule, written, time, problems = [] }: TrialShown): Html {
  const fields = ruleFields(ruleKindOf(rule), written, account.balances);
  const own = new Set(fields.map(({ path }) => path));
  return html`<form class="panel trial" method="post" action="${trialPath(account.id, rule.id)}">
${problems.filter(({ path }) => !own.has(path)).map(({ path, message }) => html`<p class="problem" role="alert">${path !== '' && html`<code>${path}</code> `}${sayAgain(message, scope)}</p>`)}
<div class="fields">${fields.map((field) => fieldOf(field, problems, scope))}
<label>${say(says.over, scope)} <select name="over">${options(
    trialTimes.map(({ name, label }) => [name, say(label, scope)]),
    time.name,
  )}</select></label></div>
<button>${say(says.try, scope)}</button></form>`;
}

function fieldOf(field: RuleField, problems: readonly Problem[], scope: Scope): Html {
  const { path, value, words, description } = field;
  const name = fieldName(field);
  const hint = `hint-${path}`;
  const own = problems.filter((problem) => problem.path === path);
  const input =
    words.length > 0
      ? html`<select name="${name}" aria-describedby="${hint}"><option value=""></option>${words.map((word) => html`<option${word === value && html` selected`}>${word}</option>`)}</select>`
      : html`<input name="${name}" value="${value}" maxlength="60" autocomplete="off" aria-describedby="${hint}">`;
  return html`<div><label><code>${path}</code> ${input}</label><span class="sub" id="${hint}">${sayAgain(description, scope).replaceAll('`', '')}${own.map(({ message }) => html` <strong class="problem">${sayHtml(says.problem, { problem: sayAgain(message, scope) }, scope)}</strong>`)}</span></div>`;
}
