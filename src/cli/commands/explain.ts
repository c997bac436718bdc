import { describeDistance, formatMomentAndAge, roughDuration } from '../../domain/moment.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Fact, Quantity } from '../../domain/quantity.ts';
import type { AlertView, Explanation } from '../../views/views.ts';
import { type WordingFrame, wordFact, wordQuantity } from '../../wording/quantity-wording.ts';
import { exitCodes, jsonOption, UsageError } from '../command.ts';
import { operatorCommand } from '../desk.ts';
import { requireAccount, requireRule, suggest } from '../read-options.ts';
import { displayWidth, padToWidth, wrapToWidth } from '../terminal/display-width.ts';
import { layoutWidth, type Output, paintSeverity, printJson, type Style } from '../terminal/output.ts';
import { wordSuppression } from './alerts.ts';

export const explainCommand = operatorCommand({
  name: 'explain',
  summary: 'readings, numbers and thresholds behind a verdict',
  details: `Without RULE: every rule of the account.

--json prints {"account","rules":[{"rule","type","verdict","severity","why","value","threshold","facts":[{"name","value"}],
"wouldNotFire","alert"}]}; verdicts are ok, breached, unknown and event. Money as decimal strings, durations in seconds.`,
  positionals: [
    { name: 'ACCOUNT', summary: 'the account', completes: 'accounts' },
    { name: 'RULE', summary: 'the rule; without it all that apply', optional: true, completes: 'rules' },
  ],
  options: { json: jsonOption },
  examples: ['lowwater explain otp sms-low'],
  async run(context, input, desk) {
    const account = requireAccount(desk.names.accounts, input.positional('ACCOUNT'));
    const rule = input.optionalPositional('RULE');
    // A rule that does not exist is wrong usage, even where the database cannot be read.
    if (rule !== null) await requireRule(desk.names, rule);
    const views = await desk.views();
    const all = await views.explain(account);
    const chosen = rule === null ? all : all.filter((explanation) => explanation.rule.id === rule);
    if (rule !== null && chosen.length === 0) {
      const known = all.map((explanation) => explanation.rule.id);
      throw new UsageError(`no rule "${rule}" applies to ${account}`, suggest(rule, known));
    }
    if (input.flag('json')) {
      const { explanationJson } = await import('../../views/public-json.ts');
      await printJson(context, { account, rules: chosen.map(explanationJson) });
      return exitCodes.ok;
    }
    const frame = {
      timezone: desk.timezone,
      now: context.clock.now(),
      currency: (await views.account(account))?.currency ?? null,
    };
    const { stdout } = context;
    await stdout.write(chosen.map((explanation) => formatExplanation(explanation, frame, stdout)).join('\n'));
    return exitCodes.ok;
  },
});

function formatExplanation(explanation: Explanation, frame: WordingFrame, stdout: Output): string {
  const { rule, evaluation, alert, wouldNotFire, next } = explanation;
  const facts: [string, string][] = [];
  if (evaluation.value !== null) facts.push(['value', wordLength(evaluation.value, frame)]);
  if (evaluation.threshold !== null) facts.push(['threshold', wordQuantity(evaluation.threshold, frame)]);
  for (const fact of evaluation.facts) facts.push([cleanText(fact.name, 60), describeFact(fact, frame)]);
  if (next !== null) facts.push([`${next.severity} next`, formatMomentAndAge(next.at, frame)]);
  if (rule.forMs > 0) facts.push(['fires after', roughDuration(rule.forMs)]);
  if (rule.recoverForMs > 0) facts.push(['resolves after', roughDuration(rule.recoverForMs)]);
  if (alert !== null) facts.push(['alert', describeAlert(alert, rule, frame)]);
  if (wouldNotFire !== null) facts.push(['would not fire', cleanText(wouldNotFire, 300)]);
  const heading = layOutHeading(explanation, stdout);
  return `${[...heading, ...layOutFacts(facts, layoutWidth(stdout))].join('\n')}\n`;
}

/** Rule and verdict on one line where both fit, else the verdict below. */
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

/** With less room than this next to the names, what they say stands below them. */
const leastRoom = 24;

function layOutFacts(facts: readonly (readonly [string, string])[], width: number | null): string[] {
  const names = Math.max(0, ...facts.map(([name]) => displayWidth(name)));
  const room = width === null ? null : width - names - 4;
  if (width !== null && room !== null && room < leastRoom) {
    return facts.flatMap(([name, text]) => [
      `  ${name}`,
      ...wrapToWidth(text, Math.max(leastRoom, width - 4)).map((line) => `    ${line}`),
    ]);
  }
  return facts.flatMap(([name, text]) =>
    wrapToWidth(text, room).map((line, index) => `  ${padToWidth(index === 0 ? name : '', names)}  ${line}`),
  );
}

function describeFact(fact: Fact, frame: WordingFrame): string {
  return fact.value.unit === 'duration' ? wordLength(fact.value, frame) : wordFact(fact, frame);
}

/** A runway of nothing is none, not less than a second. */
function wordLength(quantity: Quantity, frame: WordingFrame): string {
  return quantity.unit === 'duration' && quantity.ms === 0 ? 'none' : wordQuantity(quantity, frame);
}

/** What became of the verdict: since when it fires or waits to, and what keeps people from hearing of it. */
function describeAlert(alert: AlertView, rule: Explanation['rule'], frame: WordingFrame): string {
  const since = `${alert.state} since ${formatMomentAndAge(alert.since, frame)}`;
  if (alert.state === 'pending')
    return `${since}, fires ${describeDistance(alert.since + rule.forMs, frame.now)}`;
  const notes = [since];
  if (alert.acknowledged !== null) notes.push(`acknowledged by ${cleanText(alert.acknowledged.by, 60)}`);
  return [...notes, ...wordSuppression(alert)].join(', ');
}

function describeVerdict(
  { evaluation }: Explanation,
  style: Style,
): { readonly text: string; readonly paint: (text: string) => string } {
  switch (evaluation.kind) {
    case 'ok':
      return { text: 'ok', paint: style.green };
    case 'unknown':
      return { text: cleanText(evaluation.why, 300), paint: (text) => text };
    case 'breached':
    case 'event': {
      const { kind, severity } = evaluation;
      return { text: `${kind}, ${severity}`, paint: (text) => paintSeverity(style, severity, text) };
    }
  }
}
