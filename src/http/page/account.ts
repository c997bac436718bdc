import { describeDuration } from '../../domain/duration.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { type Balance, balances } from '../../domain/reading.ts';
import { basisWords } from '../../rules/spending-facts.ts';
import type { AccountView, AlertView, LiveViews, SilenceView } from '../../views/views.ts';
import { balanceLabel } from '../../wording/balance-wording.ts';
import { formatPayable } from '../../wording/quantity-wording.ts';
import { type Html, html } from '../html.ts';
import { alertCard, sortAlerts } from './alerts.ts';
import { chartSection } from './chart-section.ts';
import { accountPath, silenceForm } from './forms.ts';
import { incidentTable } from './incidents.ts';
import { live } from './live.ts';
import { labelList } from './overview.ts';
import { pollTable } from './polls.ts';
import { ifReadable } from './readable.ts';
import { ruleList } from './rules.ts';
import { silenceTable } from './silences.ts';
import {
  age,
  amountOf,
  badge,
  burnOf,
  type Frame,
  moment,
  momentAndAge,
  runwayCell,
  stateOf,
  stateWords,
  unknown,
} from './words.ts';

const shownIncidents = 20;

/** Everything about one account. `query` chooses range and balance of the chart. */
export async function renderAccount(
  views: LiveViews,
  account: AccountView,
  query: URLSearchParams,
  frame: Frame,
): Promise<Html> {
  const back = accountPath(account.id);
  const { word, tone } = stateWords[stateOf(account)];
  const open = await views.alerts({ all: false });
  const alerts = sortAlerts(open.filter((alert) => alert.account === account.id));
  const rules = await views.explain(account.id);
  const chart = await ifReadable(() => chartSection(views, account, query, frame));
  const incidents = await ifReadable(async () =>
    incidentTable(
      await views.incidents({ account: account.id, limit: shownIncidents }),
      account.currency,
      frame,
    ),
  );
  const polls = await ifReadable(() => pollTable(views, account, frame));
  const silences = views.silences().filter((silence) => concerns(silence, account));
  return html`<p class="crumb"><a href="/">Overview</a></p>
<div class="section-head"><h1><bdi>${cleanText(account.name, 200)}</bdi></h1><div class="acts">
<form method="post" action="${back}/poll"><input type="hidden" name="back" value="${back}"><button class="quiet">Poll now</button></form>
${silenceForm({ account: account.id, accountName: account.name, rule: null }, { back })}</div></div>
${live(
  'account-state',
  html`<p class="state-line">${badge(tone, word)}${labelList(account)}</p>
${failureNote(account, frame)}
<div class="tiles">${balances.map((balance) => balanceTile(account, balance, frame))}${readingTile(account, frame)}</div>`,
)}
${live('account-alerts', alertSection(alerts, frame, back))}
${chart}
<section aria-labelledby="rules-heading"><h2 id="rules-heading">Rules</h2>${live('rules', ruleList(rules, account, frame))}</section>
<section aria-labelledby="incidents-heading"><h2 id="incidents-heading">Incidents</h2>${live('incidents', incidents)}
<p class="download"><a href="/alerts?${new URLSearchParams({ state: 'past', account: account.id }).toString()}">All past incidents of this account</a></p></section>
${silences.length > 0 && html`<section aria-labelledby="silences-heading"><h2 id="silences-heading">Silences</h2>${live('silences', silenceTable(silences, frame, back))}</section>`}
<section aria-labelledby="polls-heading"><h2 id="polls-heading">Polls</h2>${live('polls', polls)}</section>`;
}

/** Whether a silence may mute alerts of the account, whichever rule or severity it names besides. */
function concerns({ match }: SilenceView, account: AccountView): boolean {
  if (match.account !== undefined && !match.account.includes(account.id)) return false;
  return Object.entries(match.labels ?? {}).every(([key, values]) =>
    values.includes(account.labels[key] ?? ''),
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

function balanceTile(account: AccountView, balance: Balance, frame: Frame): Html {
  const outlook = account.outlooks[balance];
  const burn = burnOf(account, balance);
  const restore = outlook?.restoreMicros ?? null;
  return html`<section class="tile"><h2>${balanceLabel(balance)} balance</h2>
<p class="big">${amountOf(account, balance)}</p>
<dl><dt>Burn per day</dt><dd>${burn === null ? unknown() : burn}</dd>
<dt>Runway</dt><dd>${runwayCell(account, balance, frame)}</dd>
${outlook?.forecast != null && html`<dt>Foretold by</dt><dd>${basisWords[outlook.forecast.basis]}</dd>`}
${restore !== null && restore > 0 && html`<dt>Top up for 30 days</dt><dd>${formatPayable(restore, account.currency)}</dd>`}</dl></section>`;
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

function alertSection(alerts: readonly AlertView[], frame: Frame, back: string): Html {
  if (alerts.length === 0) {
    return html`<section class="calm" aria-labelledby="alerts-heading"><h2 id="alerts-heading">No alert is open</h2></section>`;
  }
  return html`<section aria-labelledby="alerts-heading"><h2 id="alerts-heading">Open alerts</h2>
<ul class="alerts">${alerts.map((alert) => alertCard(alert, frame, { back }))}</ul></section>`;
}
