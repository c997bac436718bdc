import { inSlices } from '../../daemon/slices.ts';
import { hourMs } from '../../domain/duration.ts';
import { isoDay, parseLocalText } from '../../domain/moment.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Balance, BalanceDefinition } from '../../domain/reading.ts';
import { notUrgent } from '../../domain/urgency.ts';
import { dueGroup, dueGroups } from '../../rules/urgency.ts';
import type { AccountView, FiringView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { say } from '../../wording/language.ts';
import { phrases } from '../../wording/phrase.ts';
import { leadingBalance, sayBalance, sayLabel } from '../../wording/quantity-wording.ts';
import { sayHtml } from '../../wording/say-html.ts';
import {
  AccountListing,
  type AccountPage,
  type ListQuery,
  readListQuery,
  type SortKey,
  writeListQuery,
} from './account-list.ts';
import {
  accountsOf,
  alertCard,
  careOf,
  cares,
  groupByCause,
  needsSomebody,
  sayCare,
  sortAlerts,
} from './alerts.ts';
import { choiceLink, options } from './forms.ts';
import { live } from './live.ts';
import { channelsWork, channelTable, lastDelivery, messageTable } from './messages.ts';
import { pager } from './pager.ts';
import { drawSparkline } from './sparkline.ts';
import { Totals } from './totals.ts';
import {
  accountLink,
  accountStates,
  age,
  badge,
  balanceCell,
  burnOf,
  type Frame,
  icon,
  ifReadable,
  runwayCell,
  sayOutcome,
  stateOf,
  stateTones,
  stateWord,
  table,
  unknown,
  type Visit,
} from './words.ts';

const shownCards = 8;
const shownMessages = 5;
/** More would outlive the young objects' space while they wait for a commit, and be garbage among the old ones. */
const sliceOfAccounts = 100;

/** What needs somebody, the accounts, the last messages. The rest of the daemon has its turn between what is made of all accounts. */
export async function renderOverview(visit: Visit): Promise<Html> {
  const { views } = visit;
  const list = readListQuery(visit.query);
  // First: a daemon that stands by reads the database for them, and all that follows is of what was read.
  const listing = new AccountListing(list, visit.language);
  const totals = new Totals();
  for await (const ids of inSlices(views.accountIds(), sliceOfAccounts)) {
    for (const account of await views.accounts(ids)) {
      listing.add(account);
      totals.add(account);
    }
  }
  const page = listing.page();
  const needs = await urgentSection(visit, writeListQuery(list));
  const messages = await ifReadable(
    async () => messageTable(await views.notifications(shownMessages), visit),
    visit,
  );
  return html`<h1 class="hidden">${say(says.title, visit)}</h1>
${live('urgent', needs)}
<section aria-labelledby="totals-heading"><h2 id="totals-heading" class="hidden">${say(says.totals, visit)}</h2>${live('totals', totals.table(visit, views.finance().money))}</section>
<section aria-labelledby="accounts-heading"><div class="section-head"><h2 id="accounts-heading">${say(says.accounts, visit)}</h2>${searchForm(list, page.balances, visit)}${live('filters', stateFilters(page, list, visit))}</div>
${live('accounts', accountTable(page, list, visit))}</section>
<section aria-labelledby="messages-heading"><details class="fold"${!channelsWork(views.channels()) && html` open`}><summary><h2 id="messages-heading">${say(says.lastMessages, visit)}</h2>${live('deliveries', lastDelivery(views.channels(), visit), { tag: 'span' })}</summary>
<p class="download"><a href="/messages">${say(says.allMessages, visit)}</a></p>
${live('messages', messages)}
<h3>${say(says.channels, visit)}</h3>
${live('channels', channelTable(views.channels(), visit))}</details></section>`;
}

const says = phrases('overview', {
  needs: '{count, plural, one {# alert needs attention} other {# alerts need attention}}',
  calm: 'Nothing needs you now',
  unsure: 'No alert needs you now, but that is not all clear',
  now: 'Now',
  today: 'Today',
  week: 'This week',
  later: 'Watch',
  title: 'Overview',
  totals: 'Totals',
  accounts: 'Accounts',
  lastMessages: 'Last messages',
  allMessages: 'All messages',
  channels: 'Channels',
  byState: 'accounts by state',
  noneWatched: 'No account is watched.',
  noneRead:
    '{count, plural, one {The only account has not been read} other {None of the # accounts has been read}}: {byState}.',
  unread:
    '{count, plural, one {# of {all} accounts was} other {# of {all} accounts were}} not read: {byState}.',
  silences: '{count, plural, one {# silence is} other {# silences are}} active.',
  attention: 'lowwater itself needs attention.',
  cared: '{count} {care}',
  alsoFiring: 'Also firing: {parts}.',
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
  search: 'Find',
  showAll: 'Show all',
  showAllOf: 'Show all {count}',
  noAccounts:
    'No account is configured. Add one under {key} of the configuration, which is taken over when the file is saved; {command} writes a first one.',
  noMatch: 'No account matches.',
  state: 'State',
  account: 'Account',
  balances: 'Balances',
  day: '24 hours',
  burn: 'Burn per day',
  runway: 'Runway',
  ofBalance: 'of {balance}',
  read: '{outcome}, read {age}',
  neverRead: '{outcome}, never read',
  noneOf: 'none of {count, plural, one {# account} other {# accounts}}',
  fromTo: '{first} to {last} of {count, plural, one {# account} other {# accounts}}',
  all: '{count, plural, one {# alert} other {All # alerts}}, where many can be acknowledged at once',
});

async function urgentSection(visit: Visit, back: string): Promise<Html> {
  const { views } = visit;
  const firing = [...views.firing()];
  const urgent = sortAlerts(firing.filter(needsSomebody));
  const cared = firing.filter((alert) => !needsSomebody(alert));
  const doubts = doubtsOf(visit);
  const taken = cared.length === 0 ? null : html`<p class="taken">${describeCared(cared, visit)}</p>`;
  if (urgent.length === 0 && doubts.length > 0) {
    return html`<section class="unsure" aria-labelledby="needs-heading"><h2 id="needs-heading">${icon('neutral')}${say(says.unsure, visit)}</h2><ul>${doubts.map((doubt) => html`<li>${doubt}</li>`)}</ul>${taken}</section>`;
  }
  if (urgent.length === 0) {
    return html`<section class="calm" aria-labelledby="needs-heading"><h2 id="needs-heading">${icon('good')}${say(says.calm, visit)}</h2>${taken}</section>`;
  }
  const cards = groupByCause(urgent);
  const shown = cards.slice(0, shownCards);
  const todayEndsAt = Math.max(endOfDay(visit), visit.now + nightMs);
  const groups = Map.groupBy(shown, ([first]) =>
    dueGroup(first?.urgency ?? notUrgent, visit.now, todayEndsAt),
  );
  const accounts = await accountsOf(views, shown.flat());
  const card = async (alerts: readonly FiringView[]): Promise<Html | null> => {
    const [first, ...others] = (
      await Promise.all(alerts.map(({ account, rule }) => views.alert(account, rule)))
    ).flatMap((alert) => alert ?? []);
    if (first === undefined) return null;
    return alertCard([first, ...others], accounts, visit, { back, isBrief: true });
  };
  const sections = dueGroups.map(async (group) => {
    const own = groups.get(group);
    if (own === undefined) return null;
    return html`<h3>${say(says[group], visit)}</h3><ul class="alerts">${await Promise.all(own.map(card))}</ul>`;
  });
  return html`<section aria-labelledby="needs-heading"><h2 id="needs-heading">${say(says.needs, { count: urgent.length }, visit)}</h2>
${await Promise.all(sections)}
${cards.length > shownCards && html`<p><a href="/alerts?care=nobody&state=firing">${say(says.all, { count: urgent.length }, visit)}</a></p>`}${taken}</section>`;
}

/** What must be done before the morning belongs to today. */
const nightMs = 12 * hourMs;

function endOfDay({ now, timezone }: Visit): number {
  return parseLocalText(`${isoDay(now, timezone)}T23:59`, timezone) ?? now;
}

/** Why silence is no good news: what was not read, what is muted, what is wrong with lowwater itself. */
function doubtsOf(visit: Visit): readonly Html[] {
  const { views } = visit;
  const { accounts, unread } = views.counts();
  const active = views.silences().filter(({ active: now }) => now).length;
  const problems = views.status().problems.length;
  const byState = html`<a href="/?sort=state">${say(says.byState, visit)}</a>`;
  return [
    accounts === 0 && html`${say(says.noneWatched, visit)}`,
    unread > 0 &&
      (unread === accounts
        ? sayHtml(says.noneRead, { count: accounts, byState }, visit)
        : sayHtml(says.unread, { count: unread, all: accounts, byState }, visit)),
    active > 0 && html`${say(says.silences, { count: active }, visit)}`,
    problems > 0 && html`${say(says.attention, visit)}`,
  ].filter((doubt) => doubt !== false);
}

function describeCared(cared: readonly FiringView[], visit: Visit): string {
  const parts = cares.flatMap((care) => {
    const { length } = cared.filter((alert) => careOf(alert) === care);
    return length > 0 ? [say(says.cared, { count: length, care: sayCare(care, visit) }, visit)] : [];
  });
  return say(says.alsoFiring, { parts: visit.language.list(parts) }, visit);
}

function stateFilters({ counts, total }: AccountPage, list: ListQuery, visit: Visit): Html {
  const filter = (state: ListQuery['state'], label: Html): Html => {
    const path = writeListQuery({ ...list, state, cursor: null });
    return choiceLink(path, label, list.state === state);
  };
  const present = accountStates.filter((state) => counts[state] > 0 || list.state === state);
  return html`<nav class="filters" aria-label="${say(says.filter, visit)}">${filter(null, html`${say(says.allStates, { count: total }, visit)}`)}${present.map(
    (state) =>
      filter(
        state,
        html`<span class="${stateTones[state]}">${icon(stateTones[state])}</span>${stateWord(state, visit)} ${counts[state]}`,
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
<button>${say(says.search, frame)}</button>${list.search !== '' && html` <a href="${writeListQuery({ ...list, search: '', cursor: null })}">${say(says.showAll, frame)}</a>`}
</form>`;
}

function accountTable(page: AccountPage, list: ListQuery, frame: Frame): Html {
  if (page.total === 0)
    return html`<p class="empty">${sayHtml(says.noAccounts, { key: html`<code>accounts</code>`, command: html`<code>lowwater init</code>` }, frame)}</p>`;
  if (page.matching === 0)
    return html`<p class="empty">${say(says.noMatch, frame)} <a href="/">${say(says.showAllOf, { count: page.total }, frame)}</a></p>`;
  const head = (key: SortKey, word: string, extra = ''): Html => sortHeader(list, key, word, extra);
  const cells = html`${head('state', say(says.state, frame))}${head('name', say(says.account, frame))}${page.balances === null ? html`<th scope="col" class="number">${say(says.balances, frame)}</th>` : page.balances.map(({ id, label }) => head(id, sayBalance(label, frame), 'number'))}<th scope="col" class="picture">${say(says.day, frame)}</th>${head('burn', say(says.burn, frame), 'number')}${head('runway', say(says.runway, frame))}`;
  const rows = page.accounts.map((account) => accountRow(account, page.balances, frame));
  return html`${table(say(says.accounts, frame), 'cards accounts', cells, rows)}
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
<td class="picture" data-label="${say(says.day, frame)}">${live(`day ${account.id}`, drawSparkline(account, leading, frame))}</td>
<td class="number burn" data-label="${say(says.burn, frame)}">${burnCell(account, frame)}</td>
<td class="lasts" data-label="${say(says.runway, frame)}">${runwayCell(account, leading, frame)}${other !== null && html`<span class="sub">${say(says.ofBalance, { balance: sayLabel(other, frame) }, frame)}</span>`}</td>`;
  return live(`account ${account.id}`, cells, { tag: 'tr', attributes: html`class="${tone}"` });
}

export function labelList({ id, name, labels }: AccountView): Html | null {
  const entries = Object.entries(labels).slice(0, 5);
  if (entries.length === 0 && id === name) return null;
  return html`<span class="sub">${id !== name && html`<code>${id}</code> `}${entries.map(([key, value]) => html`<span class="label">${cleanText(`${key}=${value}`, 60)}</span> `)}</span>`;
}

function balanceCells(
  account: AccountView,
  columns: AccountPage['balances'],
  leading: Balance,
  frame: Frame,
): Html {
  if (columns !== null)
    return html`${columns.map(({ id, label }) => html`<td class="number ${leading !== id && 'other'}" data-label="${sayBalance(label, frame)}">${balanceCell(account, id, frame)}</td>`)}`;
  const line = ({ id, label }: BalanceDefinition): Html =>
    html`<span class="line">${balanceCell(account, id, frame)} <span class="soft">${sayLabel(label, frame)}</span></span>`;
  return html`<td class="number" data-label="${say(says.balances, frame)}">${account.balances.map(line)}</td>`;
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

/** The age of a reading, only where it is bad. */
function readNote(account: AccountView, frame: Frame): Html | null {
  if (account.outcome === null || account.outcome === 'ok') return null;
  const outcome = sayOutcome(account.outcome, frame);
  const note =
    account.readAt === null
      ? sayHtml(says.neverRead, { outcome }, frame)
      : sayHtml(says.read, { outcome, age: age(account.readAt, frame) }, frame);
  return html`<span class="sub unread">${note}</span>`;
}

function pagerOf(page: AccountPage, list: ListQuery, visit: Frame): Html | null {
  const { before, nextCursor, matching, accounts } = page;
  const place = { first: before + 1, last: before + accounts.length, count: matching };
  const shown = say(accounts.length === 0 ? says.noneOf : says.fromTo, place, visit);
  return pager(
    (cursor) => writeListQuery({ ...list, cursor }),
    { cursor: list.cursor, nextCursor },
    visit,
    html`<span>${shown}</span>`,
  );
}
