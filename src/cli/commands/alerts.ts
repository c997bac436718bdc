import { cleanText } from '../../domain/plain-text.ts';
import { balanceOf, type Quantity } from '../../domain/quantity.ts';
import { unitOf } from '../../domain/reading.ts';
import { sortAlerts } from '../../views/sort-alerts.ts';
import type { AlertView, Explanation } from '../../views/views.ts';
import { english } from '../../wording/language.ts';
import { sayAge, sayDuration, sayMomentAndAge } from '../../wording/moments.ts';
import {
  sayAmount,
  sayBareAmount,
  sayBeside,
  sayFact,
  sayLimit,
  sayQuantity,
  sayValue,
  type WordingFrame,
} from '../../wording/quantity-wording.ts';
import { operatorCommand, warnOfOldData } from '../backend.ts';
import { exitCodes, jsonOption, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { requireKnown, requireRule, suggest } from '../read-options.ts';
import {
  describeFine,
  layoutWidth,
  type Output,
  paintSeverity,
  printJson,
  type Style,
} from '../terminal/output.ts';
import { type Column, printRows } from '../terminal/table.ts';
import {
  displayWidth,
  formatInstant,
  formatShortDuration,
  padToWidth,
  wrapToWidth,
} from '../terminal/text.ts';

export const alertsCommand = operatorCommand({
  name: 'alerts',
  summary: 'alerts that are pending or firing',
  details: `The most urgent first.

--json prints {"alerts":[{"account","rule","type","balance","severity","state","since","resolvedAt","value","threshold",
"forecast","summary","acknowledged","silenced","inhibited","flapping","incident"}]}, the same as GET /api/v1/alerts.`,
  options: { all: { summary: 'also the resolved ones that are still stored' }, json: jsonOption },
  async run(context, input, { views: open, timezone, ...backend }) {
    const views = await open();
    await warnOfOldData(context, backend, views);
    const alerts = await views.alerts({ all: input.flag('all') });
    const rows = sortAlerts(alerts);
    const json = async () => ({ alerts: alerts.map((await import('../../views/public-json.ts')).alertJson) });
    const none = 'No alert is pending or firing.';
    return printRows(context, input, { rows, none, json, columns: alertColumns(context, timezone) });
  },
});

function alertColumns({ stdout, clock }: CommandContext, timezone: string): readonly Column<AlertView>[] {
  const { style } = stdout;
  const now = clock.now();
  return [
    {
      header: 'STATE',
      value: ({ state }) => state,
      paint: ({ state }, cell) => (state === 'firing' ? style.bold(cell) : cell),
    },
    {
      header: 'SEVERITY',
      value: ({ severity }) => severity,
      paint: ({ severity }, cell) => paintSeverity(style, severity, cell),
    },
    { header: 'ACCOUNT', value: ({ account }) => account, minWidth: 10 },
    { header: 'RULE', value: ({ rule }) => rule, minWidth: 10 },
    { header: 'VALUE', align: 'right', rank: 1, value: (alert) => cellText(alert, alert.value) },
    { header: 'THRESHOLD', align: 'right', rank: 3, value: (alert) => cellText(alert, alert.threshold) },
    { header: `SINCE (${timezone})`, rank: 4, value: ({ since }) => formatInstant(since, timezone) },
    { header: 'FOR', align: 'right', rank: 2, value: (alert) => lengthOf(alert, now) },
    { header: 'NOTE', rank: 5, minWidth: 12, value: describeNote },
  ];
}

/** An event, such as a top-up, has no length. */
function lengthOf({ state, since, resolvedAt }: AlertView, now: number): string {
  if (state === 'resolved' && resolvedAt === null) return '-';
  return formatShortDuration((resolvedAt ?? now) - since);
}

function describeNote(alert: AlertView): string {
  const { acknowledged } = alert;
  const comment = acknowledged?.comment ? `: ${acknowledged.comment}` : '';
  const taken = acknowledged === null ? [] : [`acknowledged by ${acknowledged.by}${comment}`];
  return [...taken, ...wordSuppression(alert)].join(', ');
}

/** The reasons why people are not notified of it. */
function wordSuppression({ silenced, inhibited, flapping }: AlertView): readonly string[] {
  return [
    ...(silenced ? ['silenced'] : []),
    ...(inhibited ? ['another alert already says it'] : []),
    ...(flapping ? ['flapping'] : []),
  ];
}

/** Money without its currency, which `status` shows: columns are easier to compare. */
function cellText({ value, threshold, currency }: AlertView, quantity: Quantity | null): string {
  if (quantity === null) return '';
  const frame = { language: english, timezone: 'UTC', now: 0, currency };
  return sayBeside(quantity, quantity === value ? threshold : value, frame, sayBareAmount);
}

export const explainCommand = operatorCommand({
  name: 'explain',
  summary: 'readings, numbers and thresholds behind a verdict',
  details: `Without RULE: every rule of the account.

--json prints {"account","rules":[{"rule","type","verdict","severity","why","value","threshold","facts":[{"name","value"}],
"wouldNotFire","next":{"severity","at"},"alert"}]}; verdicts are ok, breached, unknown and event. Money as decimal strings,
durations in seconds. next is what it says by the forecast that is worse, and when.`,
  positionals: [
    { name: 'ACCOUNT', summary: 'the account', completes: 'accounts' },
    { name: 'RULE', summary: 'the rule; without it all that apply', optional: true, completes: 'rules' },
  ],
  options: { json: jsonOption },
  examples: ['lowwater explain otp sms-low'],
  async run(context, input, backend) {
    const account = requireKnown('account', backend.names.accounts, input.positional('ACCOUNT'));
    const rule = input.optionalPositional('RULE');
    // An unknown rule is wrong usage, even if the database cannot be read.
    if (rule !== null) await requireRule(backend.names, rule);
    const views = await backend.views();
    const all = await views.explain(account);
    const chosen = rule === null ? all : all.filter((explanation) => explanation.rule.id === rule);
    if (rule !== null && chosen.length === 0) {
      const known = all.map((explanation) => explanation.rule.id);
      throw new UsageError(`no rule "${rule}" applies to ${account}`, suggest(rule, known));
    }
    const { stdout, clock } = context;
    const { balances = [], currency = null } = (await views.account(account)) ?? {};
    const frameOf = ({ rule, evaluation }: (typeof chosen)[number]) => ({
      language: english,
      timezone: backend.timezone,
      now: clock.now(),
      currency: unitOf({ balances, currency }, balanceOf(rule.balance, evaluation.facts)),
    });
    if (input.flag('json')) {
      const { explanationJson } = await import('../../views/public-json.ts');
      await printJson(context, { account, rules: chosen.map(explanationJson) });
    } else
      await stdout.write(chosen.map((each) => formatExplanation(each, frameOf(each), stdout)).join('\n'));
    return exitCodes.ok;
  },
});

function formatExplanation(explanation: Explanation, frame: WordingFrame, stdout: Output): string {
  const { rule, evaluation, alert, wouldNotFire, next } = explanation;
  const { value } = evaluation;
  const facts: [string, string][] = [];
  const said = value?.unit === 'duration' ? wordLength(value, frame) : sayValue(evaluation, frame);
  const limit = sayLimit(evaluation, frame, sayAmount);
  if (said !== null) facts.push(['value', said]);
  if (limit !== null) facts.push(['threshold', limit]);
  for (const fact of evaluation.facts)
    facts.push([
      cleanText(fact.name, 60),
      fact.value.unit === 'duration' ? wordLength(fact.value, frame) : sayFact(fact, frame),
    ]);
  if (next !== null) facts.push([`${next.severity} next`, sayMomentAndAge(next.at, frame)]);
  if (rule.forMs > 0) facts.push(['fires after', sayDuration(rule.forMs)]);
  if (rule.recoverForMs > 0) facts.push(['resolves after', sayDuration(rule.recoverForMs)]);
  if (alert !== null) facts.push(['alert', describeAlert(alert, rule, frame)]);
  if (wouldNotFire !== null) facts.push(['would not fire', cleanText(wouldNotFire, 300)]);
  const heading = layOutHeading(explanation, stdout);
  return `${[...heading, ...layOutFacts(facts, layoutWidth(stdout))].join('\n')}\n`;
}

function layOutHeading(explanation: Explanation, stdout: Output): string[] {
  const { rule } = explanation;
  const { text, paint } = describeVerdict(explanation, stdout.style);
  const name = `${rule.id} (${rule.type}${rule.builtIn ? ', built in' : ''}):`;
  const painted = stdout.style.bold(rule.id) + name.slice(rule.id.length);
  const width = layoutWidth(stdout);
  if (width === null || displayWidth(name) + 1 + displayWidth(text) <= width)
    return [`${painted} ${paint(text)}`];
  return [painted, ...wrapToWidth(text, width - 2).map((line) => `  ${paint(line)}`)];
}

/** If there is less room than this next to the names, the descriptions go below them. */
const leastRoom = 24;

function layOutFacts(facts: readonly (readonly [string, string])[], width: number | null): string[] {
  const names = Math.max(0, ...facts.map(([name]) => displayWidth(name)));
  const room = width === null ? null : width - names - 4;
  if (width === null || room === null || room >= leastRoom)
    return facts.flatMap(([name, text]) => {
      const [first = '', ...more] = wrapToWidth(text, room);
      return [
        `  ${padToWidth(name, names)}  ${first}`,
        ...more.map((line) => `${' '.repeat(names + 4)}${line}`),
      ];
    });
  const wrap = (text: string) => wrapToWidth(text, Math.max(leastRoom, width - 4));
  return facts.flatMap(([name, text]) => [`  ${name}`, ...wrap(text).map((line) => `    ${line}`)]);
}

/** A runway of zero is "none", not "less than a second". */
function wordLength(quantity: Quantity, frame: WordingFrame): string {
  return quantity.unit === 'duration' && quantity.ms === 0 ? 'none' : sayQuantity(quantity, frame);
}

/** The consequences of the verdict: since when the alert fires or is pending, and what keeps people from being notified. */
function describeAlert(alert: AlertView, rule: Explanation['rule'], frame: WordingFrame): string {
  const since = `${alert.state} since ${sayMomentAndAge(alert.since, frame)}`;
  if (alert.state === 'pending') return `${since}, fires ${sayAge(alert.since + rule.forMs, frame)}`;
  const notes = [since];
  if (alert.acknowledged !== null) notes.push(`acknowledged by ${cleanText(alert.acknowledged.by, 60)}`);
  return [...notes, ...wordSuppression(alert)].join(', ');
}

function describeVerdict({ evaluation, isOld }: Explanation, style: Style) {
  switch (evaluation.kind) {
    case 'ok':
      return describeFine(isOld, style);
    case 'unknown':
      return { text: cleanText(evaluation.why, 300), paint: (text: string) => text };
    case 'breached':
    case 'event': {
      const { kind, severity } = evaluation;
      return { text: `${kind}, ${severity}`, paint: (text: string) => paintSeverity(style, severity, text) };
    }
  }
}
