import type { IncidentBand } from '../../chart/chart.ts';
import { dayMs } from '../../domain/duration.ts';
import { roughDuration } from '../../domain/moment.ts';
import type { Rule } from '../../domain/rule.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import type { NotTried, Trial } from '../../replay/trial.ts';
import { describeRule, ruleKindOf } from '../../rules/registry.ts';
import { type RuleField, readWrittenRule, ruleFields, writeRule } from '../../rules/rule-schema.ts';
import { ruleOn } from '../../rules/rules-for-account.ts';
import type { AccountView } from '../../views/views.ts';
import { Html, html } from '../../wording/html.ts';
import { balanceLabel, balanceName, sayQuantity } from '../../wording/quantity-wording.ts';
import { findAccount } from '../api/input.ts';
import { RequestError } from '../refusal.ts';
import type { WebApp, WebContext } from '../web-env.ts';
import { buildChart } from './chart-model.ts';
import { drawChart } from './chart-section.ts';
import { options, readForm } from './forms.ts';
import { wordLasted } from './incidents.ts';
import { show } from './show.ts';
import {
  accountLink,
  accountPath,
  badge,
  type Frame,
  moment,
  nameOf,
  severityWord,
  table,
  unknown,
  type Visit,
} from './words.ts';

/** A rule is tried with other values before the file is edited: a form, and the same page with what came of it. */
export function addTrialPage(app: WebApp): void {
  app.get('/accounts/:id/try/:rule', async (context) => {
    const { account, rule } = await findRule(context);
    const written = rule.written ?? { id: rule.id, type: rule.type };
    const [, time] = trialTimes;
    return showTrial(context, { account, rule, written, time });
  });
  app.post('/accounts/:id/try/:rule', async (context) => {
    const { account, rule } = await findRule(context);
    const form = await readForm(context);
    const written = readRule(rule, account, form);
    const time = trialTimes.find(({ name }) => name === form.get('over')) ?? trialTimes[1];
    const read = readWrittenRule(written);
    const shown = { account, rule, written, time };
    const refuse = (...problems: readonly Problem[]) => showTrial(context, { ...shown, problems });
    if (read.kind === 'invalid') return refuse(...read.problems);
    const tried = ruleOn(read.rule, account);
    if (tried === null) {
      const ids = account.balances.map(({ id }) => id).join(' or ');
      return refuse({ path: 'balance', message: `the account has no such balance; give ${ids}` });
    }
    const since = context.get('now') - time.ms;
    const trial = await context.var.site.trials.run({ account: account.id, tried, present: rule, since });
    if (trial === 'busy') {
      const why = 'Others are trying rules just now; try again in a moment.';
      throw new RequestError('unavailable', why, { 'retry-after': '10' });
    }
    if (trial === 'too-long')
      throw new RequestError('unavailable', 'That took too long: try a shorter time.');
    if (trial === 'not-watched' || trial === 'not-read')
      return refuse({ path: '', message: `${whyNotTried[trial]}: what it would have done is not known.` });
    return showTrial(context, { ...shown, tried: { rule: read.rule, trial } });
  });
}

const whyNotTried = {
  'not-watched': 'No poll of this account is stored of that time',
  'not-read': 'The account could not be read in that time, all of its polls failed',
} as const satisfies Record<NotTried, string>;

async function findRule(context: WebContext) {
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

async function showTrial(context: WebContext, shown: TrialShown): Promise<Response> {
  return show(context, {
    title: `Try ${shown.rule.id} of ${nameOf(shown.account.name)} · lowwater`,
    content: await renderTrial(context.var.visit, shown),
    status: shown.problems === undefined ? 200 : 400,
  });
}

const trialTimes = [
  { name: '30d', label: '30 days', ms: 30 * dayMs },
  { name: '90d', label: '90 days', ms: 90 * dayMs },
  { name: '365d', label: '1 year', ms: 365 * dayMs },
] as const;

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** What a form for other values shows: a rule of an account, what was filled in, and what came of it. */
interface TrialShown {
  readonly account: AccountView;
  readonly rule: Rule;
  readonly written: unknown;
  readonly time: (typeof trialTimes)[number];
  /** Why it was not tried. */
  readonly problems?: readonly Problem[];
  readonly tried?: Tried;
}

interface Tried {
  readonly rule: Rule;
  readonly trial: Trial;
}

/** The name of a field in the form. */
function fieldName({ path }: Pick<RuleField, 'path'>): string {
  return `rule.${path}`;
}

export function trialPath(account: string, rule: string): string {
  return `${accountPath(account)}/try/${encodeURIComponent(rule)}`;
}

/** One rule of an account with other values, tried on what is stored of the account. */
async function renderTrial(visit: Visit, shown: TrialShown): Promise<Html> {
  const { account, rule, tried } = shown;
  return html`<p class="crumb"><a href="/">Overview</a> · ${accountLink(account)}</p>
<h1>Try other values of <code>${rule.id}</code></h1>
<p>What is stored of <bdi>${nameOf(account.name)}</bdi> is judged again, as the daemon would have judged it. Nothing is changed and nothing is sent. Now: ${describeRule(rule)}.</p>
${trialForm(shown)}
${tried !== undefined && (await resultSection(visit, shown, tried))}`;
}

function trialForm({ account, rule, written, time, problems = [] }: TrialShown): Html {
  const fields = ruleFields(ruleKindOf(rule), written, account.balances);
  const own = new Set(fields.map(({ path }) => path));
  return html`<form class="panel trial" method="post" action="${trialPath(account.id, rule.id)}">
${problems.filter(({ path }) => !own.has(path)).map(({ path, message }) => html`<p class="problem" role="alert">${path !== '' && html`<code>${path}</code> `}${message}</p>`)}
<div class="fields">${fields.map((field) => fieldOf(field, problems))}
<label>Over the last <select name="over">${options(
    trialTimes.map(({ name, label }) => [name, label]),
    time.name,
  )}</select></label></div>
<button>Try</button></form>`;
}

function fieldOf(field: RuleField, problems: readonly Problem[]): Html {
  const { path, value, words, description } = field;
  const name = fieldName(field);
  const hint = `hint-${path}`;
  const own = problems.filter((problem) => problem.path === path);
  const input =
    words.length > 0
      ? html`<select name="${name}" aria-describedby="${hint}"><option value=""></option>${words.map((word) => html`<option${word === value && html` selected`}>${word}</option>`)}</select>`
      : html`<input name="${name}" value="${value}" maxlength="60" autocomplete="off" aria-describedby="${hint}">`;
  return html`<div><label><code>${path}</code> ${input}</label><span class="sub" id="${hint}">${description.replaceAll('`', '')}${own.map(({ message }) => html` <strong class="problem">${message}.</strong>`)}</span></div>`;
}

async function resultSection(
  visit: Visit,
  { account, written, rule: present }: TrialShown,
  tried: Tried,
): Promise<Html> {
  const { trial } = tried;
  const span = roughDuration(trial.until - trial.since);
  const now = trial.present === null ? '' : `; as it is now, ${timesOf(trial.present)}`;
  return html`<section aria-labelledby="result-heading"><h2 id="result-heading">What it would have sent</h2>
<p role="status">In ${span} it would have fired ${timesOf(trial.tried)}${now}.</p>
${await pictureOf(visit, account, tried)}
${notifiedTable(trial.tried, 'With these values', account, visit)}
${trial.present !== null && html`<h3>As it is now: ${describeRule(present)}</h3>${notifiedTable(trial.present, 'As it is now', account, visit)}`}
<h3>To paste into <code>rules</code> of the configuration, in place of <code>${present.id}</code></h3>
<pre class="paste" role="group" aria-label="The rule as JSON" tabindex="0"><code>${preformatted(JSON.stringify(written, null, 2))}</code></pre></section>`;
}

function timesOf(notified: readonly ReplayedIncident[]): string {
  if (notified.length === 0) return 'nothing';
  return notified.length === 1 ? 'once' : `${notified.length} times`;
}

/** The balance of that time with its incidents as bands, and the levels of the rule that was tried. */
async function pictureOf(
  { views, now, timezone }: Visit,
  account: AccountView,
  { rule, trial }: Tried,
): Promise<Html | null> {
  const { balance } = rule;
  if (balance === null) return null;
  const levels = ruleKindOf(rule).levels?.(rule) ?? {};
  const chart = await buildChart(views, {
    account: { ...account, thresholds: { ...account.thresholds, [balance]: levels } },
    span: { since: trial.since, until: now + 1, preset: null },
    balance,
    now,
  });
  const incidents: readonly IncidentBand[] = trial.tried.map(
    ({ firedAt, event, resolvedAt, severity, rule: id }) => {
      return { from: firedAt, to: event ? firedAt : (resolvedAt ?? now), severity, rule: id };
    },
  );
  const words = `${balanceName(balanceLabel(balance, account.balances))}, and when it would have fired`;
  return html`<figure class="chart"><div class="chart-box">${drawChart({ ...chart, incidents, predicted: [] }, words, timezone)}</div><figcaption>${words}.</figcaption></figure>`;
}

function notifiedTable(
  notified: readonly ReplayedIncident[],
  label: string,
  account: AccountView,
  frame: Frame,
): Html | null {
  if (notified.length === 0) return null;
  const head = html`<th scope="col">Worst</th><th scope="col">Fired</th><th scope="col">Lasted</th><th scope="col" class="number">Value</th><th scope="col">Before empty</th>`;
  const rows = notified.toReversed().map((it) => notifiedRow(it, account, frame));
  return table(label, 'cards compact', head, rows);
}

function notifiedRow(it: ReplayedIncident, account: AccountView, frame: Frame): Html {
  const { severity, firedAt, value, empty } = it;
  return html`<tr><td data-label="Worst">${badge(severity, severityWord(severity))}</td><th scope="row">${moment(firedAt, frame)}</th><td data-label="Lasted">${wordLasted(it, frame)}</td>
<td class="number" data-label="Value">${value === null ? unknown() : sayQuantity(value, { ...frame, currency: it.currency ?? account.currency })}</td>
<td data-label="Before empty">${empty === null ? unknown() : wordEmptying(empty.at - firedAt, empty.how)}</td></tr>`;
}

/** How long people would have had until nothing was left. */
function wordEmptying(leftMs: number, how: 'reached' | 'spent' | 'projected'): string {
  if (leftMs <= 0) return 'empty already';
  return how === 'projected' ? `${roughDuration(leftMs)} (predicted)` : roughDuration(leftMs);
}

/** Text whose lines stay lines: `html` makes one of all. */
function preformatted(text: string): Html {
  return new Html(
    text
      .split('\n')
      .map((line) => line.slice(0, line.search(/\S|$/)) + html`${line.trim()}`.markup)
      .join('\n'),
  );
}
