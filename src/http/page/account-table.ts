import { ownOf } from '../../domain/own.ts';
import { capital, cleanText } from '../../domain/plain-text.ts';
import type { Balance, BalanceDefinition } from '../../domain/reading.ts';
import { accountStates, stateOf } from '../../views/account-summary.ts';
import type { AccountView } from '../../views/views.ts';
import { type Html, html, htmlSentences, sayHtml } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { leadingBalance, sayBalance, sayLabel } from '../../wording/quantity-wording.ts';
import { type AccountPage, type ListQuery, type SortKey, writeListQuery } from './account-list.ts';
import { choiceLink, options } from './forms.ts';
import { live } from './live.ts';
import { accountLink, age, badge, balanceCell, burnOf, icon, runwayCell, table, unknown } from './markup.ts';
import { pager } from './pager.ts';
import { drawSparkline } from './sparkline.ts';
import { common, type Frame, type Scope, sayOutcome, stateTones, stateWord } from './words.ts';

const says = phrases('overview', {
  filter: 'Filter by state',
  allStates: 'All {count}',
  byUrgency: 'urgency',
  byRunway: 'runway, shortest first',
  byWorst: 'state, worst first',
  byName: 'name',
  byBalance: '{balance}, by currency',
  byBurn: 'burn per day, by currency',
  byAge: 'oldest reading',
  find: 'Find accounts',
  findWhat: 'name, id or label=value',
  sortBy: 'Sort by',
  showAll: 'Show all',
  showAllOf: 'Show all {count}',
  noAccounts:
    'No account is configured. Add one under {key} of the configuration, which is taken over when the file is saved; {command} writes a first one.',
  noMatch: 'No account matches.',
  ofBalance: '({balance})',
  read: '{outcome}, read {age}',
  readLast: 'read {age}',
  neverRead: '{outcome}, never read',
  noneOf: 'none of {count, plural, one {# account} other {# accounts}}',
  fromTo: '{first} to {last} of {count, plural, one {# account} other {# accounts}}',
});

export function accountsSection(page: AccountPage, list: ListQuery, scope: Scope): Html {
  return html`<section aria-labelledby="accounts-heading"><div class="section-head"><h2 id="accounts-heading">${say(common.accounts, scope)}</h2>${searchForm(list, page.balances, scope)}${live('filters', stateFilters(page, list, scope))}</div>
${live('accounts', accountTable(page, list, scope))}</section>`;
}

function stateFilters({ counts, total }: AccountPage, list: ListQuery, scope: Scope): Html {
  const filter = (state: ListQuery['state'], label: Html): Html => {
    const path = writeListQuery({ ...list, state, cursor: null });
    return choiceLink(path, label, list.state === state);
  };
  const present = accountStates.filter((state) => counts[state] !== undefined || list.state === state);
  return html`<nav class="filters" aria-label="${say(says.filter, scope)}">${filter(null, html`${say(says.allStates, { count: total }, scope)}`)}${present.map(
    (state) =>
      filter(
        state,
        html`<span class="${stateTones[state]}">${icon(stateTones[state])}</span>${stateWord(state, scope)} ${counts[state] ?? 0}`,
      ),
  )}</nav>`;
}

function sortWords(balances: AccountPage['balances'], frame: Frame): readonly (readonly [SortKey, string])[] {
  return [
    ['urgency', say(says.byUrgency, frame)],
    ['runway', say(says.byRunway, frame)],
    ['state', say(says.byWorst, frame)],
    ['name', say(says.byName, frame)],
    ...(balances ?? []).map(
      ({ id, label }) => [id, say(says.byBalance, { balance: sayBalance(label, frame) }, frame)] as const,
    ),
    ['burn', say(says.byBurn, frame)],
    ['age', say(says.byAge, frame)],
  ];
}

function searchForm(list: ListQuery, balances: AccountPage['balances'], frame: Frame): Html {
  return html`<form class="search" method="get" action="/" role="search">
<label for="q">${say(says.find, frame)}</label> <input id="q" type="search" name="q" value="${list.search}" maxlength="100" placeholder="${say(says.findWhat, frame)}">
${list.state !== null && html`<input type="hidden" name="state" value="${list.state}">`}
<label class="sort" for="sort">${say(says.sortBy, frame)}</label> <select id="sort" name="sort">${options(sortWords(balances, frame), list.sort)}</select>
<button>${say(common.find, frame)}</button>${list.search !== '' && html` <a href="${writeListQuery({ ...list, search: '', cursor: null })}">${say(says.showAll, frame)}</a>`}
</form>`;
}

function accountTable(page: AccountPage, list: ListQuery, frame: Frame): Html {
  if (page.total === 0)
    return html`<p class="empty">${sayHtml(says.noAccounts, { key: html`<code>accounts</code>`, command: html`<code>lowwater init</code>` }, frame)}</p>`;
  if (page.matching === 0)
    return html`<p class="empty">${htmlSentences(say(says.noMatch, frame), html`<a href="/">${say(says.showAllOf, { count: page.total }, frame)}</a>`)}</p>`;
  const head = (key: SortKey, word: string, extra = ''): Html => sortHeader(list, key, word, extra);
  const cells = html`${head('state', say(common.state, frame))}${head('name', say(common.account, frame))}${page.balances === null ? html`<th scope="col" class="number">${say(common.balances, frame)}</th>` : page.balances.map(({ id, label }) => head(id, capital(sayBalance(label, frame)), 'number'))}<th scope="col" class="picture">${say(common.day, frame)}</th>${head('burn', say(common.burn, frame), 'number')}${head('runway', say(common.runway, frame))}`;
  const rows = page.accounts.map((account) => accountRow(account, page.balances, frame));
  return html`${table(say(common.accounts, frame), 'cards accounts', cells, rows)}
${pagerOf(page, list, frame)}`;
}

function sortHeader(list: ListQuery, key: SortKey, word: string, extra: string): Html {
  const isCurrent = list.sort === key;
  const path = writeListQuery({
    ...list,
    sort: key,
    descending: isCurrent && !list.descending,
    cursor: null,
  });
  const [order, arrow] = list.descending ? ['descending', '↓'] : ['ascending', '↑'];
  return html`<th scope="col" class="${extra}"${isCurrent && html` aria-sort="${order}"`}><a href="${path}">${word}${isCurrent && html`<span class="arrow" aria-hidden="true">${arrow}</span>`}</a></th>`;
}

function accountRow(account: AccountView, columns: AccountPage['balances'], frame: Frame): Html {
  const state = stateOf(account);
  const tone = stateTones[state];
  const leading = leadingBalance(account);
  const other = otherThanFirst(account, leading);
  const cells = html`<td class="state">${badge(tone, stateWord(state, frame))}</td>
<th scope="row">${accountLink(account)}${readNote(account, frame)}${labelList(account)}</th>
${balanceCells(account, columns, leading, frame)}
<td class="picture" data-label="${say(common.day, frame)}">${live(`day ${account.id}`, drawSparkline(account, leading, frame))}</td>
<td class="number burn" data-label="${say(common.burn, frame)}">${burnCell(account, frame)}</td>
<td class="lasts" data-label="${say(common.runway, frame)}">${runwayCell(account, leading, frame)}${other !== null && html` <span class="sub">${say(says.ofBalance, { balance: sayLabel(other, frame) }, frame)}</span>`}</td>`;
  return live(`account ${account.id}`, cells, { tag: 'tr', attributes: html`class="${tone}"` });
}

export function labelList({ id, name, labels }: AccountView): Html | null {
  const entries = Object.entries(labels).slice(0, 5);
  if (entries.length === 0 && id === name) return null;
  return html` <span class="sub">${id !== name && html`<code>${id}</code> `}${entries.map(([key, value]) => html`<span class="label">${cleanText(`${key}=${value}`, 60)}</span> `)}</span>`;
}

function balanceCells(
  account: AccountView,
  columns: AccountPage['balances'],
  leading: Balance,
  frame: Frame,
): Html {
  if (columns !== null)
    return html`${columns.map(({ id, label }) => html`<td class="number ${leading !== id && 'other'}" data-label="${capital(sayBalance(label, frame))}">${balanceCell(account, id, frame)}</td>`)}`;
  const line = ({ id, label }: BalanceDefinition): Html =>
    html`<span class="line">${balanceCell(account, id, frame)} <span class="soft">${sayLabel(label, frame)}</span></span>`;
  return html`<td class="number" data-label="${say(common.balances, frame)}">${account.balances.map(line)}</td>`;
}

function otherThanFirst({ balances }: AccountView, balance: string): string | null {
  return balances.find(({ id }, place) => place > 0 && id === balance)?.label ?? null;
}

function burnCell(account: AccountView, frame: Frame): Html {
  const { balances } = account;
  const known = balances.filter(({ id: balance }) => {
    const burn = ownOf(account.runways, balance)?.burnPerDay ?? null;
    return burn !== null && (burn > 0 || balance === balances[0]?.id);
  });
  if (known.length === 0) return unknown(frame);
  return html`${known.map(({ id }) => {
    const other = otherThanFirst(account, id);
    return html`<span class="line">${burnOf(account, id, frame)}${other !== null && html` <span class="soft">${sayLabel(other, frame)}</span>`}</span>`;
  })}`;
}

/** The age of a reading, shown only if the account cannot be read. */
function readNote(account: AccountView, frame: Frame): Html | null {
  const { readAt, isRead } = account;
  if (account.outcome === null || isRead) return null;
  const outcome = sayOutcome(account.outcome, frame);
  const note =
    readAt === null
      ? sayHtml(says.neverRead, { outcome }, frame)
      : sayHtml(
          account.outcome === 'ok' ? says.readLast : says.read,
          { outcome, age: age(readAt, frame) },
          frame,
        );
  return html` <span class="sub unread">${note}</span>`;
}

function pagerOf(page: AccountPage, list: ListQuery, scope: Frame): Html | null {
  const { before, nextCursor, matching, accounts } = page;
  const place = { first: before + 1, last: before + accounts.length, count: matching };
  const shown = say(accounts.length === 0 ? says.noneOf : says.fromTo, place, scope);
  return pager(
    (cursor) => writeListQuery({ ...list, cursor }),
    { cursor: list.cursor, nextCursor },
    scope,
    html`<span>${shown}</span>`,
  );
}
