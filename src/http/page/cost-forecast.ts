import type { Micros } from '../../domain/money.ts';
import type { OneSum } from '../../domain/one-sum.ts';
import { ownOf } from '../../domain/own.ts';
import type { ExpectedSpending } from '../../domain/quantity.ts';
import {
  type ForecastGroup,
  forecastSpending,
  groupForecasts,
  type SpendingForecast,
} from '../../views/spending-forecast.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAmount, sayBareAmount, sayComputed } from '../../wording/quantity-wording.ts';
import { saySum } from '../../wording/sum-wording.ts';
import { accountLink, table, unknown } from './markup.ts';
import { common, type Scope } from './words.ts';

const shownGroups = 30;

const says = phrases('cost', {
  title: 'What it will cost',
  csv: 'As CSV',
  by: 'By {label}',
  byProvider: 'By provider',
  more: 'and {count} more, in the CSV',
  soFar: 'This month so far',
  month: 'This month at its end',
  budget: 'Budget',
  quarter: 'This quarter at its end',
  next: 'Next month',
  range: '{low} to {high}',
  inPart: 'not watched from the beginning',
  without:
    '{count, plural, one {# balance without a forecast: as so far} other {# balances without a forecast: as so far}}',
  unread:
    '{count, plural, one {# account could not be read: what it spent is as of its last reading.} other {# accounts could not be read: what they spent is as of their last readings.}}',
  none: 'none',
  oneMonth: 'This month in one currency: {sum}, of it so far {spent}',
  oneQuarter: 'This quarter: {sum}',
  oneNext: 'Next month: {sum}',
});

/** The cost of accounts by the end of the month and the quarter, and in the next month, by label, provider and account. */
export async function costSection(
  scope: Scope,
  options: { readonly label: string | null; readonly wantsAccount: (account: AccountView) => boolean },
): Promise<Html | null> {
  const { label, wantsAccount } = options;
  const { rows, without, sums } = await forecastSpending(scope.views, wantsAccount);
  if (rows.length === 0) return null;
  const byLabel = (row: SpendingForecast): string =>
    label === null ? '' : (ownOf(row.account.labels, label) ?? '');
  const names = new Map(rows.map(({ account }) => [account.id, account.name]));
  const fold = (title: string, groupOf: (row: SpendingForecast) => string, name?: typeof groupName): Html =>
    html`<details><summary>${title}</summary>${costTable(title, groupForecasts(rows, groupOf), scope, name)}</details>`;
  const unread = new Set(rows.flatMap(({ account }) => (account.isRead ? [] : account.id))).size;
  const title = label === null ? say(says.title, scope) : say(says.by, { label }, scope);
  const csv = label === null ? '' : `?${new URLSearchParams({ by: label }).toString()}`;
  return html`<section aria-labelledby="cost-heading"><div class="section-head"><h2 id="cost-heading">${say(says.title, scope)}</h2><p class="download"><a href="/api/v1/spending-forecast.csv${csv}" download>${say(says.csv, scope)}</a></p></div>
${unread > 0 && html`<p class="note unread">${say(says.unread, { count: unread }, scope)}</p>`}${oneSums(sums, without, scope)}
${costTable(title, groupForecasts(rows, byLabel), scope)}
${fold(say(says.byProvider, scope), ({ provider }) => provider)}
${fold(
  say(common.byAccount, scope),
  ({ account }) => account.id,
  (id) => accountLink({ id, name: names.get(id) ?? id }),
)}</section>`;
}

type Sums = Awaited<ReturnType<typeof forecastSpending>>['sums'];

function oneSums({ spent, month, quarter, nextMonth }: Sums, without: number, scope: Scope): Html | null {
  if (spent === null || month === null || quarter === null || nextMonth === null) return null;
  const amount = ({ micros, currency }: OneSum): string => sayAmount(micros, { ...scope, currency });
  const lines = [
    say(says.oneMonth, { sum: saySum(month, scope), spent: amount(spent) }, scope),
    say(says.oneQuarter, { sum: saySum(quarter, scope) }, scope),
    say(says.oneNext, { sum: saySum(nextMonth, scope) }, scope),
    ...(without === 0 ? [] : [say(says.without, { count: without }, scope)]),
  ];
  return html`<ul class="sums">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function groupName(group: string, scope: Scope): Html {
  return group === '' ? html`<span class="soft">${say(says.none, scope)}</span>` : html`<bdi>${group}</bdi>`;
}

function costTable(title: string, groups: readonly ForecastGroup[], scope: Scope, name = groupName): Html {
  const withBudget = groups.some(({ budget }) => budget !== null);
  const columns = [says.soFar, says.month, ...(withBudget ? [says.budget] : []), says.quarter, says.next];
  const names = columns.map((column) => say(column, scope));
  const head = html`<th scope="col">${say(common.of, scope)}</th>${names.map((name) => html`<th scope="col" class="number">${name}</th>`)}`;
  const rows = groups.slice(0, shownGroups).map((group) => {
    const cells = cellsOf(group, withBudget, scope);
    return html`<tr><th scope="row">${name(group.group, scope)}</th>${cells.map((cell, at) => html`<td class="number" data-label="${names[at] ?? ''}">${cell}</td>`)}</tr>`;
  });
  const more = groups.length - shownGroups;
  return html`${table(title, 'cards compact', head, rows)}${more > 0 && html`<p class="soft">${say(says.more, { count: more }, scope)}</p>`}`;
}

function cellsOf(group: ForecastGroup, withBudget: boolean, scope: Scope): readonly Html[] {
  const { month, quarter, nextMonth, budget, currency } = group;
  const frame = { ...scope, currency };
  const inPart = (isWhole: boolean) =>
    !isWhole && html`<span class="sub unread">${say(says.inPart, scope)}</span>`;
  const whole = (range: ExpectedSpending): Html => {
    if (group.unknown === group.balances) return unknown(scope);
    const ends = { low: sayBareAmount(range.low, frame), high: sayBareAmount(range.high, frame) };
    return html`${sayComputed(range.micros, frame)}<span class="sub">${say(says.range, ends, scope)}</span>${group.unknown > 0 && html`<span class="sub unread">${say(says.without, { count: group.unknown }, scope)}</span>`}`;
  };
  const planned = (amount: Micros | null): Html =>
    amount === null ? unknown(scope) : html`${sayAmount(amount, frame)}`;
  return [
    html`${sayAmount(month.spent, frame)}${inPart(month.isWhole)}`,
    whole(month.total),
    ...(withBudget ? [planned(budget)] : []),
    html`${whole(quarter.total)}${inPart(quarter.isWhole)}`,
    whole(nextMonth),
  ];
}
