import type { Payment } from '../../domain/message.ts';
import { isBeyondHorizon } from '../../domain/moment.ts';
import { formatAmount } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import type { Forecast } from '../../domain/quantity.ts';
import { type Balance, unitOf } from '../../domain/reading.ts';
import { severityRank } from '../../domain/severity.ts';
import { byUrgency } from '../../domain/urgency.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { AccountView, AlertView, FiringView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { endOf, isGuess } from '../../wording/quantity-wording.ts';
import { acknowledgeForm, alertName, type FormPlace, giveBackForm, silenceForm } from './forms.ts';
import { live } from './live.ts';
import { accountPath, age, badge, type Frame, icon, nearMoment, severityWord } from './words.ts';

/** Who has an alert: nobody yet, a person, a silence, or a worse alert that says it. */
export const careWords = {
  nobody: 'nobody yet',
  acknowledged: 'acknowledged',
  silenced: 'silenced',
  covered: 'inhibited by a worse one',
};

export function careOf({
  acknowledged,
  silenced,
  inhibited,
}: FiringView | AlertView): keyof typeof careWords {
  if (acknowledged) return 'acknowledged';
  return silenced ? 'silenced' : inhibited ? 'covered' : 'nobody';
}

export function needsSomebody(alert: FiringView): boolean {
  return careOf(alert) === 'nobody';
}

/** The most urgent first; of what is alike the worst, then the oldest. */
export function sortAlerts<T extends Pick<AlertView, 'account' | 'rule' | 'severity' | 'since' | 'urgency'>>(
  alerts: readonly T[],
): readonly T[] {
  const dated = alerts.map((alert) => ({ alert, urgency: alert.urgency }));
  return dated
    .sort(
      ({ alert: left, urgency }, { alert: right, urgency: other }) =>
        byUrgency(urgency, other) ||
        severityRank(right.severity) - severityRank(left.severity) ||
        left.since - right.since ||
        (left.account + left.rule < right.account + right.rule ? -1 : 1),
    )
    .map(({ alert }) => alert);
}

/** The accounts of some alerts, by id. */
export async function accountsOf(
  views: Pick<LiveViews, 'accounts'>,
  alerts: readonly { readonly account: string }[],
): Promise<ReadonlyMap<string, AccountView>> {
  const accounts = await views.accounts([...new Set(alerts.map(({ account }) => account))]);
  return new Map(accounts.map((account) => [account.id, account]));
}

/** One alert: what to do about it, what is known, and what can be ordered. `account` is null for alerts about lowwater itself. */
export function alertCard(
  alert: AlertView,
  account: AccountView | null,
  frame: Frame,
  place: FormPlace,
): Html {
  const tone = alert.state === 'pending' ? 'pending' : alert.severity;
  const word = alert.state === 'pending' ? 'Pending' : severityWord(alert.severity);
  const content = html`${place.pick}<div class="alert-words"><div class="alert-head">${badge(tone, word)}<p class="alert-what">${summaryLink(alert)}</p></div>
${account !== null && !place.isOnAccount && actLine(account, alert.balance, frame)}
<p class="alert-meta">${runwayWords(alert, account, frame)}rule <code>${alert.rule}</code> · since ${age(alert.since, frame)}${conditions(alert, frame)}</p></div>
<div class="acts">${alert.state === 'firing' && alert.acknowledged === null && acknowledgeForm(alert, place)}${
    alert.acknowledged !== null && giveBackForm(alert, place)
  }${!alert.silenced && silenceForm(alert, place)}</div>`;
  return live(`alert ${alertName(alert)}`, content, { tag: 'li', attributes: html`class="alert ${tone}"` });
}

function runwayWords({ balance }: AlertView, account: AccountView | null, frame: Frame): Html | null {
  const runway = balance === null ? null : ownOf(account?.runways, balance);
  if (account === null || runway == null) return null;
  const endsAt = endOf(runway, frame.now);
  const range = runway.forecast === null ? null : rangeOf(runway.forecast, frame);
  const at = endsAt === null ? null : nearMoment(endsAt, frame);
  const isVague = range !== null && isGuess(runway.forecast, frame.now);
  const gone = isVague
    ? html`${range}, not known well`
    : html`${at}${range !== null && html` (80 %: ${range})`}`;
  return html`${at !== null && html`gone ${gone} · `}${account.readAt !== null && html`read ${age(account.readAt, frame)} · `}`;
}

function rangeOf({ earliest, latest }: Forecast, frame: Frame): Html | null {
  if (earliest === null || latest === null || isBeyondHorizon(latest, frame.now)) return null;
  return html`${nearMoment(Math.max(earliest, frame.now), frame)} to ${nearMoment(latest, frame)}`;
}

/** Alerts about lowwater itself or a whole provider have no page of their own. */
function summaryLink(alert: AlertView): Html {
  const summary = html`<bdi>${summaryOf(alert)}</bdi>`;
  return alert.account.startsWith('@')
    ? summary
    : html`<a href="${accountPath(alert.account)}">${summary}</a>`;
}

/** The summary without the severity, which its badge says already. */
export function summaryOf({ summary, severity }: AlertView): string {
  return summary.replace(` (${severity})`, '');
}

function conditions(alert: AlertView, frame: Frame): Html {
  const { acknowledged, silenced, inhibited, flapping } = alert;
  const comment = acknowledged?.comment ?? '';
  const { reached = [], waiting = [] } = Object.groupBy(alert.notified, ({ at }) =>
    at === null ? 'waiting' : 'reached',
  );
  return html`${
    reached.length > 0 &&
    html` · ${listNames(reached)} notified ${age(Math.max(...reached.map(({ at }) => at ?? 0)), frame)}`
  }${waiting.length > 0 && html` · <span class="condition">not delivered yet to ${listNames(waiting)}</span>`}${
    acknowledged !== null &&
    html` · <span class="condition">${icon('person')}acknowledged by <bdi>${acknowledged.by}</bdi> ${age(acknowledged.at, frame)}${comment !== '' && html`: <q>${comment}</q>`}</span>`
  }${silenced && html` · <span class="condition">${icon('silence')}silenced</span>`}${
    inhibited && html` · <span class="condition">inhibited by a worse alert</span>`
  }${flapping && html` · <span class="condition">flapping</span>`}`;
}

/** `ops`, `ops and finance`, `ops, finance and 2 more`. */
function listNames(channels: AlertView['notified']): Html {
  const [first, second] = channels.map(({ channel }) => channel);
  if (second === undefined) return html`<bdi>${first}</bdi>`;
  const more = channels.length - 2;
  return html`<bdi>${first}</bdi>${more > 0 ? ', ' : ' and '}<bdi>${second}</bdi>${more > 0 && html` and ${more} more`}`;
}

/** What to do about an account, first of all: what to pay by when, where, what the operators wrote for whoever is woken. */
export function actLine(account: AccountView, balance: Balance | null, frame: Frame): Html | null {
  const payments = account.payments.filter((payment) => balance === null || payment.balance === balance);
  const links = accountLinks(account, payments.length > 0);
  if (payments.length === 0 && links.length === 0 && account.note === null) return null;
  return html`<p class="act-line">${payments.map((payment) => html`<strong>${payWords(payment, account, frame)}</strong> `)}${links.map((link) => html`${link} `)}${
    account.note !== null && html`<span class="hint"><bdi>${account.note}</bdi></span>`
  }</p>`;
}

function payWords({ micros, dueAt, balance }: Payment, account: AccountView, frame: Frame): Html {
  const by = dueAt === null || dueAt <= frame.now ? html`now` : html`by ${nearMoment(dueAt, frame)}`;
  return html`Pay ${formatAmount(micros, unitOf(account, balance))} ${by}`;
}

/** Where to pay, and what to read; `mayPay` is false where no money is asked for. */
export function accountLinks({ topUpUrl, runbookUrl }: AccountView, mayPay: boolean): readonly Html[] {
  const links = [
    ['Top up', mayPay ? topUpUrl : null],
    ['Runbook', runbookUrl],
  ] as const;
  return links.flatMap(([label, url]) =>
    url === null ? [] : [html`<a class="button" href="${url}">${label}</a>`],
  );
}
