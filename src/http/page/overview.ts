import { hourMs, isoDay, parseLocalText } from '../../domain/time.ts';
import { dueGroup, dueGroups, notUrgent } from '../../domain/urgency.ts';
import { everyAccount } from '../../views/every-account.ts';
import { sortAlerts } from '../../views/sort-alerts.ts';
import type { FiringView } from '../../views/views.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { AccountListing, readListQuery, writeListQuery } from './account-list.ts';
import { accountsSection } from './account-table.ts';
import { accountsOf, alertCard, careOf, cares, groupByCause, needsSomebody, sayCare } from './alerts.ts';
import { live } from './live.ts';
import { icon, ifReadable } from './markup.ts';
import { channelsWork, lastDelivery, listChannels, messageTable } from './messages.ts';
import { Totals } from './totals.ts';
import { common, pages, type Scope } from './words.ts';

const shownCards = 8;
const shownMessages = 5;

/** Alerts that need attention, the accounts, the last messages. All accounts are gone through in parts, with turns for the rest of the daemon. */
export async function renderOverview(scope: Scope) {
  const { views } = scope;
  const list = readListQuery(scope.query);
  // First, because a standby reads the database for the accounts, and everything below must be from that read.
  const listing = new AccountListing(list, scope);
  const totals = new Totals();
  for await (const accounts of everyAccount(views))
    for (const account of accounts) {
      listing.add(account);
      totals.add(account);
    }
  const page = listing.page();
  const { ending = 0 } = page.counts;
  const needs = await urgentSection(scope, { ending, back: writeListQuery(list) });
  const messages = await ifReadable(
    async () => messageTable(await views.notifications(shownMessages), scope),
    scope,
  );
  const content = html`<h1 class="hidden">${say(pages.overview, scope)}</h1>
${live('urgent', needs)}
<section aria-labelledby="totals-heading"><h2 id="totals-heading" class="hidden">${say(common.totals, scope)}</h2>${live('totals', totals.table(scope, views.finance().money))}</section>
${accountsSection(page, list, scope)}
<section aria-labelledby="messages-heading"><details class="fold"${!channelsWork(views.channels()) && html` open`}><summary><h2 id="messages-heading">${say(says.lastMessages, scope)}</h2>${live('deliveries', lastDelivery(views.channels(), scope), { tag: 'span' })}</summary>
<p class="download"><a href="/messages">${say(says.allMessages, scope)}</a></p>
${live('messages', messages)}
<h3>${say(common.channels, scope)}</h3>
${live('channels', await listChannels(scope))}</details></section>`;
  return { content, ending };
}

const says = phrases('overview', {
  needs: '{count, plural, one {# alert needs attention} other {# alerts need attention}}',
  calm: 'Nothing needs you now',
  unsure: 'No alert needs you now, but that is not all clear',
  unknown: 'Which alerts there are is not known just now',
  now: 'Now',
  today: 'Today',
  week: 'This week',
  later: 'Watch',
  lastMessages: 'Last messages',
  allMessages: 'All messages',
  byState: 'accounts by state',
  noneWatched: 'No account is watched.',
  noneRead:
    '{count, plural, one {The only account is not read at present} other {None of the # accounts is read at present}}: {byState}.',
  unread:
    '{count, plural, one {# of {all} accounts was} other {# of {all} accounts were}} not read: {byState}.',
  ending:
    '{count, plural, one {# account without an alert may be empty} other {# accounts without an alert may be empty}} within a day: {byState}.',
  silences: '{count, plural, one {# silence is} other {# silences are}} active.',
  attention: 'lowwater itself needs attention.',
  cared: '{count} {care}',
  alsoFiring: 'Also firing: {parts}.',
  all: '{count, plural, one {# alert} other {All # alerts}}, where many can be acknowledged at once',
});

async function urgentSection(
  scope: Scope,
  { ending, back }: { readonly ending: number; readonly back: string },
): Promise<Html> {
  const { views } = scope;
  const firing = [...views.firing()];
  const urgent = sortAlerts(firing.filter(needsSomebody));
  const cared = firing.filter((alert) => !needsSomebody(alert));
  const doubts = doubtsOf(scope, ending);
  const taken = cared.length === 0 ? null : html`<p class="taken">${describeCared(cared, scope)}</p>`;
  if (urgent.length === 0 && doubts.length > 0) {
    const heading = views.isKnown() ? says.unsure : says.unknown;
    return html`<section class="unsure" aria-labelledby="needs-heading"><h2 id="needs-heading">${icon('neutral')}${say(heading, scope)}</h2><ul>${doubts.map((doubt) => html`<li>${doubt}</li>`)}</ul>${taken}</section>`;
  }
  if (urgent.length === 0) {
    return html`<section class="calm" aria-labelledby="needs-heading"><h2 id="needs-heading">${icon('good')}${say(says.calm, scope)}</h2>${taken}</section>`;
  }
  const cards = groupByCause(urgent);
  const shown = cards.slice(0, shownCards);
  const midnight = parseLocalText(`${isoDay(scope.now, scope.timezone)}T23:59`, scope.timezone);
  const todayEndsAt = Math.max(midnight ?? 0, scope.now + nightMs);
  const groups = Map.groupBy(shown, ([first]) =>
    dueGroup(first?.urgency ?? notUrgent, scope.now, todayEndsAt),
  );
  const accounts = await accountsOf(views, shown.flat());
  const card = async (alerts: readonly FiringView[]): Promise<Html | null> => {
    const [first, ...others] = (
      await Promise.all(alerts.map(({ account, rule }) => views.alert(account, rule)))
    ).flatMap((alert) => alert ?? []);
    if (first === undefined) return null;
    return alertCard([first, ...others], accounts, scope, { back, isBrief: true });
  };
  const sections = dueGroups.map(async (group) => {
    const own = groups.get(group);
    if (own === undefined) return null;
    return html`<h3>${say(says[group], scope)}</h3><ul class="alerts">${await Promise.all(own.map(card))}</ul>`;
  });
  return html`<section aria-labelledby="needs-heading"><h2 id="needs-heading">${say(says.needs, { count: urgent.length }, scope)}</h2>
${await Promise.all(sections)}
${cards.length > shownCards && html`<p><a href="/alerts?care=nobody&state=firing">${say(says.all, { count: urgent.length }, scope)}</a></p>`}${taken}</section>`;
}

/** At night, work to be done before the morning belongs to today. */
const nightMs = 12 * hourMs;

/** Why no alerts is no all-clear: accounts not read, balances that may be empty without an alert, silences, problems of lowwater itself. */
function doubtsOf(scope: Scope, ending: number): readonly Html[] {
  const { views } = scope;
  const { accounts, unread } = views.counts();
  const active = views.silences().filter(({ active: now }) => now).length;
  const problems = views.status().problems.length;
  const byState = html`<a href="/?sort=state">${say(says.byState, scope)}</a>`;
  return [
    accounts === 0 && html`${say(says.noneWatched, scope)}`,
    unread > 0 &&
      (unread === accounts
        ? sayHtml(says.noneRead, { count: accounts, byState }, scope)
        : sayHtml(says.unread, { count: unread, all: accounts, byState }, scope)),
    ending > 0 && sayHtml(says.ending, { count: ending, byState }, scope),
    active > 0 && html`${say(says.silences, { count: active }, scope)}`,
    problems > 0 && html`${say(says.attention, scope)}`,
  ].filter((doubt) => doubt !== false);
}

function describeCared(cared: readonly FiringView[], scope: Scope): string {
  const parts = cares.flatMap((care) => {
    const { length } = cared.filter((alert) => careOf(alert) === care);
    return length > 0 ? [say(says.cared, { count: length, care: sayCare(care, scope) }, scope)] : [];
  });
  return say(says.alsoFiring, { parts: scope.language.list(parts) }, scope);
}
