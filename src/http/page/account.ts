import { ownOf } from '../../domain/own.ts';
import { capital, cleanText } from '../../domain/plain-text.ts';
import { balanceOf, type Quantity } from '../../domain/quantity.ts';
import { type Balance, type BalanceDefinition, type PollRecord, unitOf } from '../../domain/reading.ts';
import { severities, severityRank } from '../../domain/severity.ts';
import { dayMs } from '../../domain/time.ts';
import { figureOf } from '../../rules/fact-figures.ts';
import { describeRule } from '../../rules/registry.ts';
import { nameBasis } from '../../rules/spending-facts.ts';
import { stateOf } from '../../views/account-summary.ts';
import { sortAlerts } from '../../views/sort-alerts.ts';
import type { AccountView, AlertView, Explanation } from '../../views/views.ts';
import { type Html, html, htmlSentences, sayHtml } from '../../wording/html.ts';
import { withoutStop } from '../../wording/lists.ts';
import { sayExactDuration } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import {
  sayAmount,
  sayBalance,
  sayLimit,
  sayQuantity,
  sayValue,
  type WordingFrame,
} from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { labelList } from './account-table.ts';
import { alertCard, groupByCause } from './alerts.ts';
import { chartSection } from './chart-section.ts';
import { silenceForm } from './forms.ts';
import { incidentTable } from './incidents.ts';
import { live } from './live.ts';
import {
  age,
  badge,
  balanceCell,
  burnOf,
  ifReadable,
  moment,
  momentAndAge,
  runwayCell,
  table,
  unknown,
} from './markup.ts';
import { accountSilences } from './silences.ts';
import { actLine } from './to-pay.ts';
import { trialPath } from './trial.ts';
import {
  accountPath,
  common,
  type Frame,
  pages,
  type Scope,
  sayOutcome,
  stateTones,
  stateWord,
} from './words.ts';

const shownIncidents = 20;
const shownRules = 20;

const says = phrases('account', {
  poll: 'Poll now',
  rules: 'Rules',
  allIncidents: 'All past incidents of this account',
  polls: 'Polls',
  failed: 'The last poll failed.',
  because: '{reason}.',
  failedInARow: 'Failed {count} times in a row.',
  waits: 'Waits until {moment}.',
  lastReading: 'The balances below are from the last reading.',
  basis: 'Forecast from',
  reading: 'Reading',
  read: 'Read',
  lastPoll: 'Last poll',
  polled: '{age}, {outcome}',
  nextPoll: 'Next poll',
  every: 'Polled every',
  calm: 'No alert is open',
  alerts: 'Open alerts',
  noPoll: 'No poll lately.',
  outcome: 'Outcome',
  noRule: 'No rule applies to this account.',
  verdict: 'Verdict',
  threshold: 'Threshold',
  far: 'How far',
  behind: 'Behind it',
  fine: '{count, plural, one {# rule is fine} other {# rules are fine}}',
  fineRules: 'Rules that are fine',
  otherRules: '{count, plural, one {# more rule} other {# more rules}}',
  builtIn: 'built in',
  tryOthers: 'Try other values',
  numbers: 'Numbers',
  ofRule: 'of {rule}',
  below: '{amount} below threshold',
  above: '{amount} above threshold',
  next: '{severity} about {moment}',
});
const verdicts = phrases('verdict', {
  pending: 'Pending',
  fine: 'Fine',
  wasFine: 'Fine when last read',
  none: 'No verdict',
  happened: 'Happened',
  breached: 'Breached',
});

/** Everything about one account. `query` chooses range and balance of the chart. */
export async function renderAccount(scope: Scope, account: AccountView): Promise<Html> {
  const { views } = scope;
  const back = accountPath(account.id);
  const state = stateOf(account);
  const [word, tone] = [stateWord(state, scope), stateTones[state]];
  const open = await views.alerts({ all: false });
  const alerts = sortAlerts(open.filter((alert) => alert.account === account.id));
  const rules = await views.explain(account.id);
  const chart = await chartSection(scope, account);
  const incidents = await ifReadable(
    async () => incidentTable(await views.incidents({ account: account.id, limit: shownIncidents }), scope),
    scope,
  );
  const polls = await ifReadable(() => pollTable(scope, account), scope);
  return html`<p class="crumb"><a href="/">${say(pages.overview, scope)}</a></p>
<div class="section-head">${live('heading', html`<bdi>${cleanText(account.name, 200)}</bdi>`, { tag: 'h1' })}<div class="acts">
${account.polled && html`<form method="post" action="${back}/poll"><input type="hidden" name="back" value="${back}"><button class="quiet">${say(says.poll, scope)}</button></form>`}
${silenceForm([{ account: account.id, accountName: account.name, rule: null }], { back }, scope)}</div></div>
${live(
  'account-state',
  html`${actLine(account, scope, back)}<p class="state-line">${badge(tone, word)}${labelList(account)}</p>
${failureNote(account, scope)}
<div class="tiles">${account.balances.map((balance) => balanceTile(account, balance, scope))}${readingTile(account, scope)}</div>`,
)}
${live('account-alerts', alertSection(alerts, account, scope))}
${chart}
<section aria-labelledby="rules-heading"><h2 id="rules-heading">${say(says.rules, scope)}</h2>${live('rules', ruleList(rules, account, scope))}</section>
<section aria-labelledby="incidents-heading"><h2 id="incidents-heading">${say(common.incidents, scope)}</h2>${live('incidents', incidents)}
<p class="download"><a href="/alerts?${new URLSearchParams({ state: 'past', account: account.id }).toString()}">${say(says.allIncidents, scope)}</a></p></section>
${live('silences', accountSilences(account, scope))}
<section aria-labelledby="polls-heading"><h2 id="polls-heading">${say(says.polls, scope)}</h2>${live('polls', polls)}</section>`;
}

function failureNote(account: AccountView, frame: Frame): Html | null {
  if (account.outcome === null || account.outcome === 'ok') return null;
  const { failure, consecutiveFailures, backoffUntil, reading } = account;
  const waits = backoffUntil !== null && backoffUntil > frame.now;
  const said = htmlSentences(
    failure === null
      ? say(says.failed, frame)
      : say(says.because, { reason: sayAgain(withoutStop(failure), frame) }, frame),
    consecutiveFailures > 1 && say(says.failedInARow, { count: consecutiveFailures }, frame),
    waits && sayHtml(says.waits, { moment: momentAndAge(backoffUntil, frame) }, frame),
    reading !== null && say(says.lastReading, frame),
  );
  return html`<p class="note unread">${badge('unread', sayOutcome(account.outcome, frame))} ${said}</p>`;
}

function balanceTile(account: AccountView, { id: balance, label }: BalanceDefinition, frame: Frame): Html {
  const runway = ownOf(account.runways, balance);
  const burn = burnOf(account, balance, frame);
  return html`<section class="tile"><h2>${capital(sayBalance(label, frame))}</h2>
<p class="big">${balanceCell(account, balance, frame)}</p>
<dl><dt>${say(common.burn, frame)}</dt><dd>${burn === null ? unknown(frame) : burn}</dd>
<dt>${say(common.runway, frame)}</dt><dd>${runwayCell(account, balance, frame)}</dd>
${runway?.forecast != null && runway.runwayMs !== 0 && html`<dt>${say(says.basis, frame)}</dt><dd>${sayAgain(nameBasis(runway.forecast.basis), frame)}</dd>`}
</dl></section>`;
}

function readingTile(account: AccountView, frame: Frame): Html {
  const usage = Object.entries(account.usage);
  return html`<section class="tile"><h2>${say(says.reading, frame)}</h2>
<p class="big">${account.readAt === null ? say(common.never, frame) : age(account.readAt, frame)}</p>
<dl>${account.readAt !== null && html`<dt>${say(says.read, frame)}</dt><dd>${moment(account.readAt, frame)}</dd>`}
<dt>${say(says.lastPoll, frame)}</dt><dd>${account.polledAt === null ? html`<span class="soft">${say(common.never, frame)}</span>` : sayHtml(says.polled, { age: age(account.polledAt, frame), outcome: account.outcome && sayOutcome(account.outcome, frame) }, frame)}</dd>
<dt>${say(says.nextPoll, frame)}</dt><dd>${account.nextPollAt === null ? unknown(frame) : age(account.nextPollAt, frame)}</dd>
<dt>${say(says.every, frame)}</dt><dd>${sayExactDuration(account.pollIntervalMs, frame)}</dd>
${usage.map(([name, value]) => html`<dt><code>${name}</code></dt><dd><bdi>${value}</bdi></dd>`)}</dl></section>`;
}

function alertSection(alerts: readonly AlertView[], account: AccountView, frame: Scope): Html {
  const back = accountPath(account.id);
  if (alerts.length === 0) {
    return html`<section class="calm" aria-labelledby="alerts-heading"><h2 id="alerts-heading">${say(says.calm, frame)}</h2></section>`;
  }
  return html`<section aria-labelledby="alerts-heading"><h2 id="alerts-heading">${say(says.alerts, frame)}</h2>
<ul class="alerts">${groupByCause(alerts).map((card) => alertCard(card, new Map([[account.id, account]]), frame, { back, isOnAccount: true }))}</ul></section>`;
}

const shownPolls = 12;

async function pollTable(scope: Scope, account: AccountView): Promise<Html> {
  // Far enough back for the polls shown, but far less than a day for an account that is polled each second.
  const span = Math.min(dayMs * 7, Math.max(account.pollIntervalMs * shownPolls * 3, 600_000));
  const found = await scope.views.polls(account.id, scope.now - span, scope.now + 1);
  const polls = found.slice(-shownPolls);
  if (polls.length === 0) return html`<p class="empty">${say(says.noPoll, scope)}</p>`;
  const head = html`<th scope="col">${say(says.outcome, scope)}</th><th scope="col">${say(common.time, scope)}</th>${account.balances.map(({ label }) => html`<th scope="col" class="number">${capital(sayBalance(label, scope))}</th>`)}`;
  const rows = polls.toReversed().map((poll) => pollRow(poll, account, scope));
  return table(say(says.polls, scope), 'cards compact', head, rows);
}

function pollRow({ at, outcome, reading }: PollRecord, { balances }: AccountView, frame: Frame): Html {
  const amount = (balance: Balance): Html | string => {
    const micros = ownOf(reading?.balances, balance);
    return micros === undefined
      ? unknown(frame)
      : sayAmount(micros, {
          ...frame,
          currency: unitOf({ balances, currency: reading?.currency ?? null }, balance),
        });
  };
  return html`<tr><td data-label="${say(says.outcome, frame)}">${badge(outcome === 'ok' ? 'good' : 'unread', sayOutcome(outcome, frame))}</td><td data-label="${say(common.time, frame)}">${momentAndAge(at, frame)}</td>
${balances.map(({ id, label }) => html`<td class="number" data-label="${capital(sayBalance(label, frame))}">${amount(id)}</td>`)}</tr>`;
}

/** The table of rules. Breached ones and those without a verdict come first; the others are folded. Of a great many, all but the worst are folded too. */
function ruleList(explanations: readonly Explanation[], account: AccountView, frame: Frame): Html {
  if (explanations.length === 0) return html`<p class="empty">${say(says.noRule, frame)}</p>`;
  const isFine = ({ evaluation, alert, isOld }: Explanation): boolean =>
    alert === null && evaluation.kind === 'ok' && !isOld;
  const head = html`<th scope="col">${say(says.verdict, frame)}</th><th scope="col">${say(common.rule, frame)}</th><th scope="col" class="number">${say(common.value, frame)}</th><th scope="col" class="number">${say(says.threshold, frame)}</th><th scope="col" class="number">${say(says.far, frame)}</th><th scope="col">${say(says.behind, frame)}</th>`;
  const rows = (some: readonly Explanation[]) => some.map((each) => ruleRow(each, account, frame));
  const fine = explanations.filter(isFine);
  const others = explanations.filter((explanation) => !isFine(explanation));
  const worstFirst = others.length > shownRules ? others.toSorted(byAlert) : others;
  const [shown, rest] = [worstFirst.slice(0, shownRules), worstFirst.slice(shownRules)];
  const more = say(says.otherRules, { count: rest.length }, frame);
  return html`${shown.length > 0 && table(say(says.rules, frame), 'cards', head, rows(shown))}${
    rest.length > 0 &&
    html`<details class="fold"><summary>${more}</summary>${table(more, 'cards', head, rows(rest))}</details>`
  }${
    fine.length > 0 &&
    html`<details class="fold"${others.length === 0 && html` open`}><summary>${say(says.fine, { count: fine.length }, frame)}</summary>${table(say(says.fineRules, frame), 'cards', head, rows(fine))}</details>`
  }`;
}

/** Firing alerts first, and of those the worst first. */
function byAlert({ alert: one }: Explanation, { alert: other }: Explanation): number {
  const rank = (alert: Explanation['alert']): number =>
    alert === null
      ? 0
      : 1 + severityRank(alert.severity) + (alert.state === 'firing' ? severities.length : 0);
  return rank(other) - rank(one);
}

function ruleRow(explanation: Explanation, account: AccountView, frame: Frame): Html {
  const { rule, evaluation, wouldNotFire } = explanation;
  const words = { ...frame, currency: unitOf(account, balanceOf(rule.balance, evaluation.facts)) };
  return html`<tr><td data-label="${say(says.verdict, frame)}">${verdict(explanation, frame)}</td>
<th scope="row"><code>${rule.id}</code><span class="sub">${sayAgain(describeRule(rule), frame)}${rule.builtIn && html` · ${say(says.builtIn, frame)}`}</span><a class="sub" href="${trialPath(account.id, rule.id)}">${say(says.tryOthers, frame)}<span class="hidden"> ${say(says.ofRule, { rule: rule.id }, frame)}</span></a></th>
<td class="number" data-label="${say(common.value, frame)}">${sayValue(evaluation, words) ?? unknown(frame)}</td>
<td class="number" data-label="${say(says.threshold, frame)}">${sayLimit(evaluation, words, sayAmount) ?? unknown(frame)}</td>
<td class="number far" data-label="${say(says.far, frame)}">${howFar(explanation, words)}</td>
<td data-label="${say(says.behind, frame)}" class="facts">${evaluation.kind === 'unknown' && html`<p>${sayAgain(evaluation.why, frame)}</p>`}${wouldNotFire !== null && html`<p>${sayAgain(wouldNotFire, frame)}</p>`}${
    evaluation.facts.length > 0 &&
    html`<details><summary>${say(says.numbers, frame)}<span class="hidden"> ${say(says.ofRule, { rule: rule.id }, frame)}</span></summary><dl>${evaluation.facts.map(
      (fact) => {
        const { label, value } = figureOf(fact, words);
        return html`<dt>${label}</dt><dd>${value}</dd>`;
      },
    )}</dl></details>`
  }</td></tr>`;
}

function howFar({ evaluation: { kind, value, threshold }, next }: Explanation, words: WordingFrame): Html {
  const distance = differenceOf(value, threshold);
  if (distance === null || kind === 'unknown' || kind === 'event') return unknown(words);
  const reached =
    next !== null &&
    html`<span class="sub">${sayHtml(says.next, { severity: saySeverity(next.severity, words), moment: moment(next.at, words) }, words)}</span>`;
  const side = distance.isBelow ? says.below : says.above;
  return html`${say(side, { amount: sayQuantity(distance.by, words) }, words)}${reached}`;
}

function differenceOf(left: Quantity | null, right: Quantity | null) {
  if (left?.unit === 'money' && right?.unit === 'money') {
    const micros = left.micros - right.micros;
    return { by: { unit: 'money', micros: Math.abs(micros) } as const, isBelow: micros < 0 };
  }
  if (left?.unit !== 'duration' || right?.unit !== 'duration') return null;
  const ms = left.ms - right.ms;
  return { by: { unit: 'duration', ms: Math.abs(ms) } as const, isBelow: ms < 0 };
}

function verdict({ evaluation, alert, isOld }: Explanation, frame: Frame): Html {
  if (alert?.state === 'firing') return badge(alert.severity, stateWord(alert.severity, frame));
  if (alert?.state === 'pending') return badge('pending', say(verdicts.pending, frame));
  if (evaluation.kind === 'ok')
    return isOld ? badge('neutral', say(verdicts.wasFine, frame)) : badge('good', say(verdicts.fine, frame));
  if (evaluation.kind === 'unknown') return badge('neutral', say(verdicts.none, frame));
  return badge(
    evaluation.severity,
    say(evaluation.kind === 'event' ? verdicts.happened : verdicts.breached, frame),
  );
}
