import type { Quantity } from '../../domain/quantity.ts';
import { describeRule } from '../../rules/about-rules.ts';
import type { AccountView, Explanation } from '../../views/views.ts';
import { type WordingFrame, wordFact, wordQuantity } from '../../wording/quantity-wording.ts';
import { type Html, html } from '../html.ts';
import { trialPath } from './trial.ts';
import { badge, type Frame, moment, severityWord, unknown } from './words.ts';

/** What each rule says of the account now, with the numbers behind it. */
export function ruleList(explanations: readonly Explanation[], account: AccountView, frame: Frame): Html {
  if (explanations.length === 0) return html`<p class="empty">No rule applies to this account.</p>`;
  return html`<div class="scroll" role="group" aria-label="Rules" tabindex="0"><table class="cards">
<thead><tr><th scope="col">Verdict</th><th scope="col">Rule</th><th scope="col" class="number">Value</th><th scope="col" class="number">Threshold</th><th scope="col" class="number">How far</th><th scope="col">Behind it</th></tr></thead>
<tbody>${explanations.map((explanation) => ruleRow(explanation, account, frame))}</tbody></table></div>`;
}

function ruleRow(explanation: Explanation, account: AccountView, frame: Frame): Html {
  const { rule, evaluation, wouldNotFire } = explanation;
  const words = { ...frame, currency: account.currency };
  return html`<tr><td data-label="Verdict">${verdict(explanation)}</td>
<th scope="row"><code>${rule.id}</code><span class="sub">${describeRule(rule)}${rule.builtIn && html` · built in`}</span><a class="sub" href="${trialPath(account.id, rule.id)}">Try other values<span class="hidden"> of ${rule.id}</span></a></th>
<td class="number" data-label="Value">${evaluation.value === null ? unknown() : wordQuantity(evaluation.value, words)}</td>
<td class="number" data-label="Threshold">${evaluation.threshold === null ? unknown() : wordQuantity(evaluation.threshold, words)}</td>
<td class="number far" data-label="How far">${howFar(explanation, words)}</td>
<td data-label="Behind it" class="facts">${evaluation.kind === 'unknown' && html`<p>${evaluation.why}</p>`}${wouldNotFire !== null && html`<p>${wouldNotFire}</p>`}${
    evaluation.facts.length > 0 &&
    html`<details><summary>Numbers<span class="hidden"> of ${rule.id}</span></summary><dl>${evaluation.facts.map(
      (fact) => html`<dt>${fact.name}</dt><dd>${wordFact(fact, words)}</dd>`,
    )}</dl></details>`
  }</td></tr>`;
}

/** How much is between what was judged and what it was held against, and when it will be nothing. */
function howFar({ evaluation: { kind, value, threshold }, next }: Explanation, words: WordingFrame): Html {
  const distance = differenceOf(value, threshold);
  if (distance === null || kind === 'unknown' || kind === 'event') return unknown();
  const reached =
    next !== null &&
    html`<span class="sub">${severityWord(next.severity).toLowerCase()} about ${moment(next.at, words)}</span>`;
  return html`${wordQuantity(distance, words)}${kind === 'breached' && html` past it`}${reached}`;
}

function differenceOf(left: Quantity | null, right: Quantity | null): Quantity | null {
  if (left?.unit === 'money' && right?.unit === 'money')
    return { unit: 'money', micros: Math.abs(left.micros - right.micros) };
  if (left?.unit === 'duration' && right?.unit === 'duration')
    return { unit: 'duration', ms: Math.abs(left.ms - right.ms) };
  return null;
}

function verdict({ evaluation, alert }: Explanation): Html {
  if (alert?.state === 'firing') return badge(alert.severity, severityWord(alert.severity));
  if (alert?.state === 'pending') return badge('pending', 'Pending');
  switch (evaluation.kind) {
    case 'ok':
      return badge('good', 'Fine');
    case 'unknown':
      return badge('neutral', 'No verdict');
    case 'breached':
      return badge(evaluation.severity, 'Breached');
    case 'event':
      return badge(evaluation.severity, 'Happened');
  }
}
