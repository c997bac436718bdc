import { dayMs, describeDuration } from '../../domain/duration.ts';
import { formatAmount } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import type { Quantity } from '../../domain/quantity.ts';
import { type Balance, type BalanceDefinition, type PollRecord, unitOf } from '../../domain/reading.ts';
import { describeRule } from '../../rules/registry.ts';
import { basisWords } from '../../rules/spending-facts.ts';
import type { AccountView, AlertView, Explanation, SilenceView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { balanceName, sayFact, sayQuantity, type WordingFrame } from '../../wording/quantity-wording.ts';
import { actLine, alertCard, sortAlerts } from './alerts.ts';
import { chartSection } from './chart-section.ts';
import { silenceForm } from './forms.ts';
import { incidentTable } from './incidents.ts';
import { live } from './live.ts';
import { labelList } from './overview.ts';
import { silenceTable } from './silences.ts';
import { trialPath } from './trial.ts';
import {
  accountPath,
  age,
  badge,
  balanceCell,
  burnOf,
  type Frame,
  ifReadable,
  moment,
  momentAndAge,
  runwayCell,
  severityWord,
  stateOf,
  stateTones,
  stateWord,
  table,
  unknown,
  type Visit,
} from './words.ts';

const shownIncidents = 20;

/** Everything about one account. `query` chooses range and balance of the chart. */
export async function renderAccount(visit: Visit, account: AccountView): Promise<Html> {
  const { views } = visit;
  const back = accountPath(account.id);
  const state = stateOf(account);
  const [word, tone] = [stateWord(state, visit), stateTones[state]];
  const open = await views.alerts({ all: false });
  const alerts = sortAlerts(open.filter((alert) => alert.account === account.id));
  const rules = await views.explain(account.id);
  const chart = await ifReadable(() => chartSection(visit, account));
  const incidents = await ifReadable(async () =>
    incidentTable(await views.incidents({ account: account.id, limit: shownIncidents }), account, visit),
  );
  const polls = await ifReadable(() => pollTable(visit, account));
  const silences = views.silences().filter((silence) => concerns(silence, account));
  return html`<p class="crumb"><a href="/">Overview</a></p>
<div class="section-head"><h1><bdi>${cleanText(account.name, 200)}</bdi></h1><div class="acts">
<form method="post" action="${back}/poll"><input type="hidden" name="back" value="${back}"><button class="quiet">Poll now</button></form>
${silenceForm({ account: account.id, accountName: account.name, rule: null }, { back }, visit)}</div></div>
${live(
  'account-state',
  html`${actLine(account, visit, back)}<p class="state-line">${badge(tone, word)}${labelList(account)}</p>
${failureNote(account, visit)}
<div class="tiles">${account.balances.map((balance) => balanceTile(account, balance, visit))}${readingTile(account, visit)}</div>`,
)}
${live('account-alerts', alertSection(alerts, account, visit))}
${chart}
<section aria-labelledby="rules-heading"><h2 id="rules-heading">Rules</h2>${live('rules', ruleList(rules, account, visit))}</section>
<section aria-labelledby="incidents-heading"><h2 id="incidents-heading">Incidents</h2>${live('incidents', incidents)}
<p class="download"><a href="/alerts?${new URLSearchParams({ state: 'past', account: account.id }).toString()}">All past incidents of this account</a></p></section>
${silences.length > 0 && html`<section aria-labelledby="silences-heading"><h2 id="silences-heading">Silences</h2>${live('silences', silenceTable(silences, visit, back))}</section>`}
<section aria-labelledby="polls-heading"><h2 id="polls-heading">Polls</h2>${live('polls', polls)}</section>`;
}

function concerns({ match }: SilenceView, account: AccountView): boolean {
  if (match.account !== undefined && !match.account.includes(account.id)) return false;
  return Object.entries(match.labels ?? {}).every(([key, values]) =>
    values.includes(ownOf(account.labels, key) ?? ''),
  );
}

function failureNote(account: AccountView, frame: Frame): Html | null {
  if (account.outcome === null || account.outcome === 'ok') return null;
  const { consecutiveFailures, backoffUntil } = account;
  const waits = backoffUntil !== null && backoffUntil > frame.now;
  return html`<p class="note unread">${badge('unread', account.outcome.replaceAll('_', ' '))} ${(account.failure ?? 'The last poll failed').replace(/\.$/, '')}. ${
    consecutiveFailures > 1 && html`Failed ${consecutiveFailures} times in a row. `
  }${waits && html`Waits until ${momentAndAge(backoffUntil, frame)}. `}The balances below are from the last reading.</p>`;
}

function balanceTile(account: AccountView, { id: balance, label }: BalanceDefinition, frame: Frame): Html {
  const runway = ownOf(account.runways, balance);
  const burn = burnOf(account, balance);
  return html`<section class="tile"><h2>${balanceName(label)}</h2>
<p class="big">${balanceCell(account, balance, frame)}</p>
<dl><dt>Burn per day</dt><dd>${burn === null ? unknown() : burn}</dd>
<dt>Runway</dt><dd>${runwayCell(account, balance, frame)}</dd>
${runway?.forecast != null && html`<dt>Forecast from</dt><dd>${basisWords[runway.forecast.basis]}</dd>`}
</dl></section>`;
}

function readingTile(account: AccountView, frame: Frame): Html {
  const usage = Object.entries(account.usage);
  return html`<section class="tile"><h2>Reading</h2>
<p class="big">${account.readAt === null ? 'never' : age(account.readAt, frame)}</p>
<dl>${account.readAt !== null && html`<dt>Read</dt><dd>${moment(account.readAt, frame)}</dd>`}
<dt>Last poll</dt><dd>${account.polledAt === null ? html`<span class="soft">never</span>` : html`${age(account.polledAt, frame)}, ${account.outcome ?? ''}`}</dd>
<dt>Next poll</dt><dd>${account.nextPollAt === null ? unknown() : age(account.nextPollAt, frame)}</dd>
<dt>Polled every</dt><dd>${describeDuration(account.pollIntervalMs)}</dd>
${usage.map(([name, value]) => html`<dt><code>${name}</code></dt><dd><bdi>${value}</bdi></dd>`)}</dl></section>`;
}

function alertSection(alerts: readonly AlertView[], account: AccountView, frame: Visit): Html {
  const back = accountPath(account.id);
  if (alerts.length === 0) {
    return html`<section class="calm" aria-labelledby="alerts-heading"><h2 id="alerts-heading">No alert is open</h2></section>`;
  }
  return html`<section aria-labelledby="alerts-heading"><h2 id="alerts-heading">Open alerts</h2>
<ul class="alerts">${alerts.map((alert) => alertCard(alert, account, frame, { back, isOnAccount: true }))}</ul></section>`;
}

const shownPolls = 12;

async function pollTable(visit: Visit, account: AccountView): Promise<Html> {
  // Far enough back for the polls shown, and never a day of an account that is polled each second.
  const span = Math.min(dayMs * 7, Math.max(account.pollIntervalMs * shownPolls * 3, 600_000));
  const found = await visit.views.polls(account.id, visit.now - span, visit.now + 1);
  const polls = found.slice(-shownPolls);
  if (polls.length === 0) return html`<p class="empty">No poll lately.</p>`;
  const head = html`<th scope="col">Outcome</th><th scope="col">Time</th>${account.balances.map(({ label }) => html`<th scope="col" class="number">${balanceName(label)}</th>`)}`;
  const rows = polls.toReversed().map((poll) => pollRow(poll, account, visit));
  return table('Polls', 'cards compact', head, rows);
}

function pollRow({ at, outcome, reading }: PollRecord, { balances }: AccountView, frame: Frame): Html {
  const amount = (balance: Balance): Html | string => {
    const micros = ownOf(reading?.balances, balance);
    return micros === undefined
      ? unknown()
      : formatAmount(micros, unitOf({ balances, currency: reading?.currency ?? null }, balance));
  };
  return html`<tr><td data-label="Outcome">${badge(outcome === 'ok' ? 'good' : 'unread', outcome.replaceAll('_', ' '))}</td><td data-label="Time">${momentAndAge(at, frame)}</td>
${balances.map(({ id, label }) => html`<td class="number" data-label="${balanceName(label)}">${amount(id)}</td>`)}</tr>`;
}

/** What breaches a rule, or has no verdict, first; what is fine is folded. */
function ruleList(explanations: readonly Explanation[], account: AccountView, frame: Frame): Html {
  if (explanations.length === 0) return html`<p class="empty">No rule applies to this account.</p>`;
  const isFine = ({ evaluation, alert }: Explanation): boolean => alert === null && evaluation.kind === 'ok';
  const head = html`<th scope="col">Verdict</th><th scope="col">Rule</th><th scope="col" class="number">Value</th><th scope="col" class="number">Threshold</th><th scope="col" class="number">How far</th><th scope="col">Behind it</th>`;
  const rows = (some: readonly Explanation[]) => some.map((each) => ruleRow(each, account, frame));
  const fine = explanations.filter(isFine);
  const others = explanations.filter((explanation) => !isFine(explanation));
  return html`${others.length > 0 && table('Rules', 'cards', head, rows(others))}${
    fine.length > 0 &&
    html`<details class="fold"${others.length === 0 && html` open`}><summary>${plural(fine.length, 'rule')} ${fine.length === 1 ? 'is' : 'are'} fine</summary>${table('Rules that are fine', 'cards', head, rows(fine))}</details>`
  }`;
}

function ruleRow(explanation: Explanation, account: AccountView, frame: Frame): Html {
  const { rule, evaluation, wouldNotFire } = explanation;
  const words = { ...frame, currency: unitOf(account, rule.balance) };
  return html`<tr><td data-label="Verdict">${verdict(explanation)}</td>
<th scope="row"><code>${rule.id}</code><span class="sub">${describeRule(rule)}${rule.builtIn && html` · built in`}</span><a class="sub" href="${trialPath(account.id, rule.id)}">Try other values<span class="hidden"> of ${rule.id}</span></a></th>
<td class="number" data-label="Value">${evaluation.value === null ? unknown() : sayQuantity(evaluation.value, words)}</td>
<td class="number" data-label="Threshold">${evaluation.threshold === null ? unknown() : sayQuantity(evaluation.threshold, words)}</td>
<td class="number far" data-label="How far">${howFar(explanation, words)}</td>
<td data-label="Behind it" class="facts">${evaluation.kind === 'unknown' && html`<p>${evaluation.why}</p>`}${wouldNotFire !== null && html`<p>${wouldNotFire}</p>`}${
    evaluation.facts.length > 0 &&
    html`<details><summary>Numbers<span class="hidden"> of ${rule.id}</span></summary><dl>${evaluation.facts.map(
      (fact) => html`<dt>${fact.name}</dt><dd>${sayFact(fact, words)}</dd>`,
    )}</dl></details>`
  }</td></tr>`;
}

function howFar({ evaluation: { kind, value, threshold }, next }: Explanation, words: WordingFrame): Html {
  const distance = differenceOf(value, threshold);
  if (distance === null || kind === 'unknown' || kind === 'event') return unknown();
  const reached =
    next !== null &&
    html`<span class="sub">${severityWord(next.severity, words).toLowerCase()} about ${moment(next.at, words)}</span>`;
  return html`${sayQuantity(distance.by, words)} ${distance.isBelow ? html`below` : html`above`} threshold${reached}`;
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

function verdict({ evaluation, alert }: Explanation): Html {
  if (alert?.state === 'firing') return badge(alert.severity, severityWord(alert.severity));
  if (alert?.state === 'pending') return badge('pending', 'Pending');
  if (evaluation.kind === 'ok') return badge('good', 'Fine');
  if (evaluation.kind === 'unknown') return badge('neutral', 'No verdict');
  return badge(evaluation.severity, evaluation.kind === 'event' ? 'Happened' : 'Breached');
}
