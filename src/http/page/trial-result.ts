import type { IncidentBand } from '../../chart/chart.ts';
import { keyOf } from '../../domain/json.ts';
import { capital } from '../../domain/plain-text.ts';
import type { Rule } from '../../domain/rule.ts';
import { type ChangeKind, compareIncidents } from '../../replay/compare.ts';
import type { ReplayedIncident } from '../../replay/incident-book.ts';
import type { Trial } from '../../replay/trial.ts';
import { describeRule, ruleKindOf } from '../../rules/registry.ts';
import type { AccountView } from '../../views/views.ts';
import { Html, html, sayHtml } from '../../wording/html.ts';
import { sayDuration } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { balanceLabel, sayBalance, sayQuantity } from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { buildChart } from './chart-model.ts';
import { drawChart } from './chart-picture.ts';
import { wordLasted } from './incidents.ts';
import { badge, moment, table, unknown } from './markup.ts';
import { common, type Frame, type Scope, stateWord } from './words.ts';

const says = phrases('trial', {
  result: 'What it would have sent',
  fired: 'In {span} it would have fired {times}.',
  firedBoth: 'In {span} it would have fired {times}; as it is now, {present}.',
  compared:
    'Compared with now: {added} new, {gone} gone, {earlier} earlier, {later} later, {other} of another severity, {same} as before.',
  never: 'nothing',
  once: 'once',
  times: '{count} times',
  picture: '{balance}, and when it would have fired',
  withThese: 'With these values',
  asItIs: 'As it is now',
  asItIsNow: 'As it is now: {description}',
  paste: 'To paste into {rules} of the configuration, in place of {rule}',
  pasteOwn: 'To paste into the account {account} of the configuration: these thresholds are its own',
  json: 'The rule as JSON',
  worst: 'Worst',
  firedAt: 'Fired',
  lasted: 'Lasted',
  beforeEmpty: 'Before empty',
  emptyAlready: 'empty already',
  predicted: '{duration} (predicted)',
});

/** A rule of an account, and its JSON with the values that are tried. */
export interface RuleOnTrial {
  readonly account: AccountView;
  readonly rule: Rule;
  readonly written: unknown;
}

export interface Tried {
  readonly rule: Rule;
  readonly trial: Trial;
}

/** The result of the rule with other values, next to the rule as it is, and what to write to keep them. */
export async function resultSection(
  scope: Scope,
  { account, written, rule: present }: RuleOnTrial,
  tried: Tried,
): Promise<Html> {
  const { trial } = tried;
  const span = sayDuration(trial.until - trial.since, scope);
  const times = timesOf(trial.tried, scope);
  const fired =
    trial.present === null
      ? say(says.fired, { span, times }, scope)
      : say(says.firedBoth, { span, times, present: timesOf(trial.present, scope) }, scope);
  return html`<section aria-labelledby="result-heading"><h2 id="result-heading">${say(says.result, scope)}</h2>
<p role="status">${fired}${trial.present !== null && html` ${compared(trial.present, trial.tried, scope)}`}</p>
${await pictureOf(scope, account, tried)}
${notifiedTable(trial.tried, say(says.withThese, scope), account, scope)}
${trial.present !== null && html`<h3>${say(says.asItIsNow, { description: sayAgain(describeRule(present), scope) }, scope)}</h3>${notifiedTable(trial.present, say(says.asItIs, scope), account, scope)}`}
${pasteOf({ account, written, rule: present }, scope)}</section>`;
}

function compared(
  present: readonly ReplayedIncident[],
  tried: readonly ReplayedIncident[],
  scope: Scope,
): string {
  const { changes, same } = compareIncidents(present, tried);
  const count = (kind: ChangeKind): number => changes.filter((change) => change.kind === kind).length;
  const [added, gone, earlier] = [count('new'), count('gone'), count('earlier')];
  const [later, other] = [count('later'), count('severity')];
  return say(says.compared, { added, gone, earlier, later, other, same }, scope);
}

/** The text to paste. If the rule's thresholds are the account's own, it belongs to the account. */
function pasteOf({ account, rule, written }: RuleOnTrial, scope: Scope): Html {
  const isOwn = rule.thresholdsOf === 'account';
  if (isOwn && !ruleKindOf(rule).accountThresholds) return html``;
  const steps = { thresholds: { [rule.balance ?? '']: keyOf(written, 'thresholds') } };
  const heading = isOwn
    ? sayHtml(says.pasteOwn, { account: html`<code>${account.id}</code>` }, scope)
    : sayHtml(says.paste, { rules: html`<code>rules</code>`, rule: html`<code>${rule.id}</code>` }, scope);
  return html`<h3>${heading}</h3>
<pre class="paste" role="group" aria-label="${say(says.json, scope)}" tabindex="0"><code>${preformatted(JSON.stringify(isOwn ? steps : written, null, 2))}</code></pre>`;
}

function timesOf({ length }: readonly ReplayedIncident[], scope: Scope): string {
  if (length === 0) return say(says.never, scope);
  return length === 1 ? say(says.once, scope) : say(says.times, { count: length }, scope);
}

/** The balance of that time, with the incidents as bands and the thresholds of the tried rule. */
async function pictureOf(scope: Scope, account: AccountView, { rule, trial }: Tried): Promise<Html | null> {
  const { views, now } = scope;
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
  const name = sayBalance(balanceLabel(balance, account.balances), scope);
  const words = capital(say(says.picture, { balance: name }, scope));
  return html`<figure class="chart"><div class="chart-box">${drawChart({ ...chart, incidents, predicted: [] }, words, scope)}</div><figcaption>${words}</figcaption></figure>`;
}

function notifiedTable(
  notified: readonly ReplayedIncident[],
  label: string,
  account: AccountView,
  frame: Frame,
): Html | null {
  if (notified.length === 0) return null;
  const head = html`<th scope="col">${say(says.worst, frame)}</th><th scope="col">${say(says.firedAt, frame)}</th><th scope="col">${say(says.lasted, frame)}</th><th scope="col" class="number">${say(common.value, frame)}</th><th scope="col">${say(says.beforeEmpty, frame)}</th>`;
  const rows = notified.toReversed().map((it) => notifiedRow(it, account, frame));
  return table(label, 'cards compact', head, rows);
}

function notifiedRow(it: ReplayedIncident, account: AccountView, frame: Frame): Html {
  const { severity, firedAt, value, empty } = it;
  return html`<tr><td data-label="${say(says.worst, frame)}">${badge(severity, stateWord(severity, frame))}</td><th scope="row">${moment(firedAt, frame)}</th><td data-label="${say(says.lasted, frame)}">${wordLasted(it, frame)}</td>
<td class="number" data-label="${say(common.value, frame)}">${value === null ? unknown(frame) : sayQuantity(value, { ...frame, currency: it.currency ?? account.currency })}</td>
<td data-label="${say(says.beforeEmpty, frame)}">${empty === null ? unknown(frame) : sayEmptying(empty.at - firedAt, empty.how, frame)}</td></tr>`;
}

/** The time between the message and the empty balance. */
function sayEmptying(leftMs: number, how: 'reached' | 'spent' | 'projected', frame: Frame): string {
  if (leftMs <= 0) return say(says.emptyAlready, frame);
  const duration = sayDuration(leftMs, frame);
  return how === 'projected' ? say(says.predicted, { duration }, frame) : duration;
}

/** Text with its line breaks kept: `html` would join the lines. */
function preformatted(text: string): Html {
  return new Html(
    text
      .split('\n')
      .map((line) => line.slice(0, line.search(/\S|$/)) + html`${line.trim()}`.markup)
      .join('\n'),
  );
}
