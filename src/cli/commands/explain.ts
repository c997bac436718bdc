import type { AlertView, Explanation } from '../../app/desk.ts';
import { explanationJson } from '../../app/desk-json.ts';
import type { Fact } from '../../core/evaluation.ts';
import { describeDistance, formatMomentAndAge, roughDuration } from '../../core/moment.ts';
import { cleanText } from '../../core/plain-text.ts';
import { type WordingFrame, wordFact, wordQuantity } from '../../core/quantity-wording.ts';
import { type Command, exitCodes, UsageError } from '../command.ts';
import { printJson } from '../print-json.ts';
import { requireAccount, suggest } from '../read-options.ts';
import { paintSeverity } from '../severity-style.ts';
import { displayWidth, padToWidth } from '../terminal/display-width.ts';
import type { Style } from '../terminal/style.ts';
import { withDesk } from '../with-desk.ts';

export const explainCommand: Command = {
  name: 'explain',
  summary: 'readings, numbers and thresholds behind a verdict',
  details: `Without RULE: every rule of the account.

--json prints {"account","rules":[{"rule","type","verdict","severity","why","value","threshold","facts":[{"name","value"}],
"wouldNotFire","alert"}]}; verdicts are ok, breached, unknown and event. Money as decimal strings, durations in seconds.`,
  positionals: [
    { name: 'ACCOUNT', summary: 'the account' },
    { name: 'RULE', summary: 'the rule; without it all that apply', optional: true },
  ],
  options: { json: { summary: 'print JSON' } },
  examples: ['lowwater explain otp sms-low'],
  run: (context, input) =>
    withDesk(context, input, async ({ desk, settings }) => {
      const account = requireAccount(settings, input.positional('ACCOUNT'));
      const all = desk.explain(account.id);
      const rule = input.optionalPositional('RULE');
      const chosen = rule === null ? all : all.filter((explanation) => explanation.rule.id === rule);
      if (rule !== null && chosen.length === 0) {
        const known = all.map((explanation) => explanation.rule.id);
        throw new UsageError(`no rule "${rule}" applies to ${account.id}`, suggest(rule, known));
      }
      if (input.flag('json')) {
        await printJson(context, { account: account.id, rules: chosen.map(explanationJson) });
        return exitCodes.ok;
      }
      const frame = {
        timezone: settings.timezone,
        now: context.clock.now(),
        currency: desk.account(account.id)?.currency ?? account.currency,
      };
      const { stdout } = context;
      await stdout.write(
        chosen.map((explanation) => formatExplanation(explanation, frame, stdout.style)).join('\n'),
      );
      return exitCodes.ok;
    }),
};

function formatExplanation(explanation: Explanation, frame: WordingFrame, style: Style): string {
  const { rule, evaluation, alert, wouldNotFire } = explanation;
  const facts: [string, string][] = [];
  if (evaluation.value !== null) facts.push(['value', wordQuantity(evaluation.value, frame)]);
  if (evaluation.threshold !== null) facts.push(['threshold', wordQuantity(evaluation.threshold, frame)]);
  for (const fact of evaluation.facts) facts.push([cleanText(fact.name, 60), describeFact(fact, frame)]);
  if (rule.forMs > 0) facts.push(['fires after', roughDuration(rule.forMs)]);
  if (rule.recoverForMs > 0) facts.push(['resolves after', roughDuration(rule.recoverForMs)]);
  if (alert !== null) facts.push(['alert', describeAlert(alert, rule, frame)]);
  if (wouldNotFire !== null) facts.push(['would not fire', cleanText(wouldNotFire, 300)]);
  const width = Math.max(0, ...facts.map(([name]) => displayWidth(name)));
  const heading = `${style.bold(rule.id)} (${rule.type}${rule.builtIn ? ', built in' : ''}): ${describeVerdict(explanation, style)}`;
  return `${[heading, ...facts.map(([name, text]) => `  ${padToWidth(name, width)}  ${text}`)].join('\n')}\n`;
}

function describeFact(fact: Fact, frame: WordingFrame): string {
  return fact.value.unit === 'duration' && fact.value.ms === 0 ? 'none' : wordFact(fact, frame);
}

/** What became of the verdict: since when it fires or waits to, and what keeps people from hearing of it. */
function describeAlert(alert: AlertView, rule: Explanation['rule'], frame: WordingFrame): string {
  const since = `${alert.state} since ${formatMomentAndAge(alert.since, frame)}`;
  if (alert.state === 'pending')
    return `${since}, fires ${describeDistance(alert.since + rule.forMs, frame.now)}`;
  const notes = [since];
  if (alert.acknowledged !== null) notes.push(`acknowledged by ${cleanText(alert.acknowledged.by, 60)}`);
  if (alert.silenced) notes.push('silenced');
  if (alert.inhibited) notes.push('covered by a worse alert');
  if (alert.flapping) notes.push('flapping');
  return notes.join(', ');
}

function describeVerdict({ evaluation }: Explanation, style: Style): string {
  switch (evaluation.kind) {
    case 'ok':
      return style.green('ok');
    case 'unknown':
      return `no verdict: ${cleanText(evaluation.why, 300)}`;
    case 'breached':
    case 'event':
      return paintSeverity(style, evaluation.severity, `${evaluation.kind}, ${evaluation.severity}`);
  }
}
