import { getOrMake } from '../../domain/get-or-make.ts';
import { currencyCode, type Micros } from '../../domain/money.ts';
import { dayMs } from '../../domain/time.ts';
import { explainChanges } from '../../views/explain-changes.ts';
import { type GroupSpent, type Review, type Spent, sumReview } from '../../views/review.ts';
import { type Html, html } from '../../wording/html.ts';
import { joinSentences } from '../../wording/lists.ts';
import { sayDay, sayDuration } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAmount, sayBareAmount } from '../../wording/quantity-wording.ts';
import { saySum } from '../../wording/sum-wording.ts';
import { accountLink, table, unknown } from './markup.ts';
import { common, nameOf, type Scope } from './words.ts';

const says = phrases('review', {
  spending: 'Spending',
  spendingBy: 'Spending by {label}',
  tooMuch: 'There is too much history to add up at once. Choose an account or a label, or a shorter time.',
  missing:
    '{count, plural, one {# account without a reading in this time: not in the sums.} other {# accounts without a reading in this time: not in the sums.}}',
  inPart:
    '{count, plural, one {# account was not read in all of this time: not in the sums in full.} other {# accounts were not read in all of this time: not in the sums in full.}}',
  damaged:
    '{count, plural, one {# account of which stored readings of this time are damaged: not in the sums in full.} other {# accounts of which stored readings of this time are damaged: not in the sums in full.}}',
  nothingRead: 'Nothing was read in this time.',
  spendingIn: 'Spending in {currency}',
  noLabel: 'none',
  more: '{amount} more than before, most of it: {names}.',
  less: '{amount} less than before, most of it: {names}.',
  moreOn: '{amount} more than before, most of it: {names}; most on {weekday} ({change}).',
  lessOn: '{amount} less than before, most of it: {names}; most on {weekday} ({change}).',
  byLabel: 'By {label}: {names}.',
  reasons: '{price} by price, {volume} by volume.',
  named: '{name} {change}',
  plus: '+{amount}',
  minus: '−{amount}',
  totalBefore: 'In one currency: {sum}; before {before}',
  spendingByAccount: 'Spending by account',
  moreAccounts: 'and {count} more, in the CSV',
  spent: 'Spent',
  before: 'Before',
  change: 'Change',
  percent: '{percent} %',
  moreGroups: '{count} more',
  eachDay: 'Spending each day, at most {amount}',
  eachTime: 'Spending each {duration}, at most {amount}',
  sentence: '{words}.',
});

const shownAccounts = 30;
const shownGroups = 6;

/** The spending of the time by label and account, why it changed, and a chart for each currency. */
export function spendingSection(review: Review, scope: Scope): Html {
  // A team has the same colour in all charts.
  const colours = new Map<string, number>();
  const { spending, unknown: missing, inPart, damaged } = review;
  if (spending === null)
    return html`<section><h2>${say(says.spending, scope)}</h2><p class="note unread">${say(says.tooMuch, scope)}</p></section>`;
  const currencies = [...new Set(spending.groups.map(({ currency }) => currencyCode(currency)))];
  const more = spending.accounts.length - shownAccounts;
  const total = sumReview(review, scope.views.finance().money);
  return html`<section aria-labelledby="spending-heading"><h2 id="spending-heading">${review.groupBy === null ? say(says.spending, scope) : say(says.spendingBy, { label: review.groupBy }, scope)}</h2>
${total !== null && html`<p class="sums">${sayTotal(total, scope)}</p>`}
${explainChanges(review).map((change) => html`<p>${sayChange(change, review.groupBy, scope)}</p>`)}
${missing.length > 0 && html`<p class="note unread">${say(says.missing, { count: missing.length }, scope)}</p>`}
${inPart.length > 0 && html`<p class="note unread">${say(says.inPart, { count: inPart.length }, scope)}</p>`}
${damaged.length > 0 && html`<p class="note unread">${say(says.damaged, { count: damaged.length }, scope)}</p>`}
${spending.groups.length === 0 && html`<p class="empty">${say(says.nothingRead, scope)}</p>`}
${currencies.map((code) => {
  const own = spending.groups.filter(({ currency }) => currencyCode(currency) === code);
  return html`${stackedChart(own, review.days, { colours, scope })}${spentTable(say(says.spendingIn, { currency: own[0]?.currency ?? code }, scope), own, ({ group }) => (group === '' ? html`<span class="soft">${say(says.noLabel, scope)}</span>` : html`<bdi>${group}</bdi>`), scope)}`;
})}
${spending.accounts.length > 0 && html`<details><summary>${say(says.spendingByAccount, scope)}</summary>${spentTable(say(says.spendingByAccount, scope), spending.accounts.slice(0, shownAccounts), ({ account }) => accountLink(account), scope)}${more > 0 && html`<p class="soft">${say(says.moreAccounts, { count: more }, scope)}</p>`}</details>`}</section>`;
}

function sayTotal({ spent, before }: NonNullable<ReturnType<typeof sumReview>>, scope: Scope): string {
  const sum = saySum(spent, scope);
  if (before === null) return say(common.inOneCurrency, { sum }, scope);
  return say(says.totalBefore, { sum, before: sayAmount(before.micros, { ...scope, ...before }) }, scope);
}

/** `420.00 CNY more than before, most of it: OTP +300.00, News +90.00; most on Fri (+210.00). By team: growth +400.00. +350.00 by price, +70.00 by volume.` */
function sayChange(
  { currency, more, accounts, groups, weekday, reasons }: ReturnType<typeof explainChanges>[number],
  label: string | null,
  scope: Scope,
): string {
  const frame = { ...scope, currency };
  const signed = (micros: Micros): string =>
    say(micros < 0 ? says.minus : says.plus, { amount: sayBareAmount(Math.abs(micros), frame) }, scope);
  const names = accounts.map(({ account, more: own }) =>
    say(says.named, { name: nameOf(account.name), change: signed(own) }, scope),
  );
  const given = { amount: sayAmount(Math.abs(more), frame), names: scope.language.list(names) };
  const most = weekday && { weekday: scope.language.weekday(weekday.index), change: signed(weekday.more) };
  const what =
    most === null
      ? say(more > 0 ? says.more : says.less, given, scope)
      : say(more > 0 ? says.moreOn : says.lessOn, { ...given, ...most }, scope);
  const named = groups.map((group) => {
    const name = group.label === '' ? say(says.noLabel, scope) : nameOf(group.label);
    return say(says.named, { name, change: signed(group.more) }, scope);
  });
  const byLabel = { label: label ?? '', names: scope.language.list(named) };
  const sentences = [
    what,
    ...(named.length > 0 ? [say(says.byLabel, byLabel, scope)] : []),
    ...(reasons === null
      ? []
      : [say(says.reasons, { price: signed(reasons.price), volume: signed(reasons.volume) }, scope)]),
  ];
  return joinSentences(sentences);
}

function spentTable<Row extends Spent>(
  label: string,
  rows: readonly Row[],
  name: (row: Row) => Html,
  scope: Scope,
): Html {
  const head = html`<th scope="col">${say(common.of, scope)}</th><th scope="col" class="number">${say(says.spent, scope)}</th><th scope="col" class="number">${say(says.before, scope)}</th><th scope="col" class="number">${say(says.change, scope)}</th>`;
  const cells = rows.map((row) => {
    const { spent, before, currency } = row;
    return html`<tr><th scope="row">${name(row)}</th><td class="number" data-label="${say(says.spent, scope)}">${sayAmount(spent, { ...scope, currency })}</td><td class="number" data-label="${say(says.before, scope)}">${before === null ? unknown(scope) : sayAmount(before, { ...scope, currency })}</td><td class="number" data-label="${say(says.change, scope)}">${changeWords(spent, before, scope)}</td></tr>`;
  });
  return table(label, 'cards compact', head, cells);
}

function changeWords(spent: Micros, before: Micros | null, scope: Scope): Html | string {
  if (before === null || before === 0) return unknown(scope);
  const percent = Math.round(((spent - before) / before) * 100);
  return say(says.percent, { percent: `${percent > 0 ? '+' : ''}${percent}` }, scope);
}

/** Bars of a day or more, stacked by label. The smallest labels share one part. The table next to the chart has the same figures. */
function stackedChart(
  groups: readonly GroupSpent[],
  days: Review['days'],
  { colours, scope }: { readonly colours: Map<string, number>; readonly scope: Scope },
): Html | null {
  const [first] = groups;
  if (first === undefined || first.buckets.length < 2) return null;
  const rest = groups.slice(shownGroups);
  const series = groups
    .slice(0, shownGroups)
    .filter(({ spent }) => spent > 0)
    .map(({ group, buckets }) => ({ name: group || say(says.noLabel, scope), buckets }));
  if (rest.length > 0)
    series.push({
      name: say(says.moreGroups, { count: rest.length }, scope),
      buckets: first.buckets.map((_, at) => rest.reduce((sum, { buckets }) => sum + (buckets[at] ?? 0), 0)),
    });
  const totals = first.buckets.map((_, at) =>
    series.reduce((sum, { buckets }) => sum + (buckets[at] ?? 0), 0),
  );
  const colourOf = (name: string): number => getOrMake(colours, name, () => colours.size % 7);
  const top = Math.max(...totals);
  if (top === 0) return null;
  const width = 100 / totals.length;
  const heights = totals.map(() => 0);
  const bars = series.map(({ name, buckets }) =>
    buckets.map((micros, at) => {
      const height = (micros / top) * 88;
      heights[at] = (heights[at] ?? 0) + height;
      return (
        micros > 0 &&
        html`<rect class="s${colourOf(name)}" x="${share(at * width + width * 0.1)}" y="${share(90 - (heights[at] ?? 0))}" width="${share(width * 0.8)}" height="${share(height)}"/>`
      );
    }),
  );
  const stepMs = Date.parse(days[1] ?? '') - Date.parse(days[0] ?? '');
  const isDaily = stepMs === dayMs;
  const amount = sayAmount(top, { ...scope, currency: first.currency });
  const words = isDaily
    ? say(says.eachDay, { amount }, scope)
    : say(says.eachTime, { duration: sayDuration(stepMs, scope), amount }, scope);
  const labelled = [0, Math.floor(totals.length / 2), totals.length - 1];
  return html`<figure class="chart"><div class="chart-box low"><svg class="chart-svg stack" role="img" aria-label="${words}">${bars}
${labelled.map((at) => html`<text class="tick" x="${share((at + 0.5) * width)}" y="100%" dy="-4" text-anchor="middle">${sayDayOf(days[at] ?? '', scope)}</text>`)}</svg></div>
<figcaption><ul class="legend">${series.map(({ name }) => html`<li><span class="key stack s${colourOf(name)}" aria-hidden="true"></span><bdi>${name}</bdi></li>`)}</ul><p>${say(says.sentence, { words }, scope)}</p></figcaption></figure>`;
}

function sayDayOf(date: string, scope: Scope): string {
  const day = new Date(date);
  return sayDay(day.getUTCMonth(), day.getUTCDate(), scope);
}

function share(value: number): string {
  return `${Math.round(value * 100) / 100}%`;
}
