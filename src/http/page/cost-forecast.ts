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
import { say } from '../../wording/language.ts';
import { saySum } from '../../wording/one-sum-wording.ts';
import { phrases } from '../../wording/phrase.ts';
import { sayAmount, sayBareAmount, sayComputed } from '../../wording/quantity-wording.ts';
import { table, unknown, type Visit } from './words.ts';

const shownGroups = 30;

const says = phrases('cost', {
  title: 'What it will cost',
  csv: 'As CSV',
  by: 'By {label}',
  byProvider: 'By provider',
  byAccount: 'By account',
  more: 'and {count} more, in the CSV',
  of: 'Of',
  soFar: 'This month so far',
  month: 'This month at its end',
  budget: 'Budget',
  quarter: 'This quarter at its end',
  next: 'Next month',
  range: '{low} to {high}',
  inPart: 'not watched from the beginning',
  without:
    '{count, plural, one {# balance without a forecast: as so far} other {# balances without a forecast: as so far}}',
  none: 'none',
  oneMonth: 'This month in one currency: {sum}, of it so far {spent}',
  oneQuarter: 'This quarter: {sum}',
  oneNext: 'Next month: {sum}',
});

/** What accounts cost by the end of the month and the quarter, and in the next month, by label, provider and account. */
export async function costSection(
  visit: Visit,
  {
    label,
    wantsAccount,
  }: { readonly label: string | null; readonly wantsAccount: (account: AccountView) => boolean },
): Promise<Html | null> {
  const { rows, sums } = await forecastSpending(visit.views, wantsAccount);
  if (rows.length === 0) return null;
  const byLabel = (row: SpendingForecast): string =>
    label === null ? '' : (ownOf(row.account.labels, label) ?? '');
  const fold = (title: string, groupOf: (row: SpendingForecast) => string): Html =>
    html`<details><summary>${title}</summary>${costTable(title, groupForecasts(rows, groupOf), visit)}</details>`;
  const title = label === null ? say(says.title, visit) : say(says.by, { label }, visit);
  const csv = label === null ? '' : `?${new URLSearchParams({ by: label }).toString()}`;
  return html`<section aria-labelledby="cost-heading"><div class="section-head"><h2 id="cost-heading">${say(says.title, visit)}</h2><p class="download"><a href="/api/v1/spending-forecast.csv${csv}" download>${say(says.csv, visit)}</a></p></div>
${oneSums(sums, rows.filter(({ month }) => month.total === null).length, visit)}
${costTable(title, groupForecasts(rows, byLabel), visit)}
${fold(say(says.byProvider, visit), ({ provider }) => provider)}
${fold(say(says.byAccount, visit), ({ account }) => account.name)}</section>`;
}

type Sums = Awaited<ReturnType<typeof forecastSpending>>['sums'];

function oneSums({ spent, month, quarter, nextMonth }: Sums, without: number, visit: Visit): Html | null {
  if (spent === null || month === null || quarter === null || nextMonth === null) return null;
  const amount = ({ micros, currency }: OneSum): string => sayAmount(micros, { ...visit, currency });
  const lines = [
    say(says.oneMonth, { sum: saySum(month, visit), spent: amount(spent) }, visit),
    say(says.oneQuarter, { sum: saySum(quarter, visit) }, visit),
    say(says.oneNext, { sum: saySum(nextMonth, visit) }, visit),
    ...(without === 0 ? [] : [say(says.without, { count: without }, visit)]),
  ];
  return html`<ul class="sums">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

function costTable(title: string, groups: readonly ForecastGroup[], visit: Visit): Html {
  const withBudget = groups.some(({ budget }) => budget !== null);
  const columns = [says.soFar, says.month, ...(withBudget ? [says.budget] : []), says.quarter, says.next];
  const names = columns.map((column) => say(column, visit));
  const head = html`<th scope="col">${say(says.of, visit)}</th>${names.map((name) => html`<th scope="col" class="number">${name}</th>`)}`;
  const rows = groups.slice(0, shownGroups).map((group) => {
    const cells = cellsOf(group, withBudget, visit);
    const name =
      group.group === ''
        ? html`<span class="soft">${say(says.none, visit)}</span>`
        : html`<bdi>${group.group}</bdi>`;
    return html`<tr><th scope="row">${name}</th>${cells.map((cell, at) => html`<td class="number" data-label="${names[at] ?? ''}">${cell}</td>`)}</tr>`;
  });
  const more = groups.length - shownGroups;
  return html`${table(title, 'cards compact', head, rows)}${more > 0 && html`<p class="soft">${say(says.more, { count: more }, visit)}</p>`}`;
}

function cellsOf(group: ForecastGroup, withBudget: boolean, visit: Visit): readonly Html[] {
  const { month, quarter, nextMonth, budget, currency } = group;
  const frame = { ...visit, currency };
  const inPart = (isWhole: boolean) =>
    !isWhole && html`<span class="sub unread">${say(says.inPart, visit)}</span>`;
  const whole = (range: ExpectedSpending): Html => {
    if (group.unknown === group.balances) return unknown(visit);
    const ends = { low: sayBareAmount(range.low, frame), high: sayBareAmount(range.high, frame) };
    return html`${sayComputed(range.micros, frame)}<span class="sub">${say(says.range, ends, visit)}</span>${group.unknown > 0 && html`<span class="sub unread">${say(says.without, { count: group.unknown }, visit)}</span>`}`;
  };
  const planned = (amount: Micros | null): Html =>
    amount === null ? unknown(visit) : html`${sayAmount(amount, frame)}`;
  return [
    html`${sayAmount(month.spent, frame)}${inPart(month.isWhole)}`,
    whole(month.total),
    ...(withBudget ? [planned(budget)] : []),
    html`${whole(quarter.total)}${inPart(quarter.isWhole)}`,
    whole(nextMonth),
  ];
}
