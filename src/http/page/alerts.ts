import type { LiveViews } from '../../views/live-views.ts';
import type { AccountView, AlertView, FiringView } from '../../views/views.ts';
import { type Html, html, sayHtml } from '../../wording/html.ts';
import { sayMoment } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import {
  acknowledgeForm,
  alertName,
  type CardAlerts,
  type FormPlace,
  giveBackForm,
  silenceForm,
} from './forms.ts';
import { live } from './live.ts';
import { age, badge, headlineOf, icon } from './markup.ts';
import { hintLine, moneyOnItsWay, payButtons, whenWords } from './to-pay.ts';
import { accountPath, type Frame, nameOf, type Scope, stateWord } from './words.ts';

/** The care that an alert has: nobody yet, a person, a silence, or a worse alert that says it. */
const careWords = phrases('care', {
  nobody: 'nobody yet',
  acknowledged: 'acknowledged',
  silenced: 'silenced',
  covered: 'inhibited by a worse one',
});

export type Care = keyof typeof careWords;

export const cares = Object.keys(careWords) as readonly Care[];

export function sayCare(care: Care, reader: Listener): string {
  return say(careWords[care], reader);
}

export function careOf({ acknowledged, silenced, inhibited }: FiringView | AlertView): Care {
  if (acknowledged) return 'acknowledged';
  return silenced ? 'silenced' : inhibited ? 'covered' : 'nobody';
}

export function needsSomebody(alert: FiringView): boolean {
  return careOf(alert) === 'nobody';
}

/** Groups alerts into cards: those with one cause and one taker share a card. In a card, inhibited alerts come last. */
export function groupByCause<T extends FiringView | AlertView>(
  alerts: readonly T[],
): readonly (readonly [T, ...T[]])[] {
  const groups = Map.groupBy(alerts, (alert) => {
    const { cause, silenced, acknowledged } = alert;
    const state = 'state' in alert ? alert.state : 'firing';
    return cause === null ? alert : JSON.stringify([cause, state, silenced, Boolean(acknowledged)]);
  });
  return [...groups.values()].flatMap((group) => {
    const [first, ...others] = group.toSorted(
      (left, right) => Number(left.inhibited) - Number(right.inhibited),
    );
    return first === undefined ? [] : [[first, ...others]];
  });
}

/** The accounts of some alerts, by id. */
export async function accountsOf(
  views: Pick<LiveViews, 'accounts'>,
  alerts: readonly { readonly account: string }[],
): Promise<ReadonlyMap<string, AccountView>> {
  const accounts = await views.accounts([...new Set(alerts.map(({ account }) => account))]);
  return new Map(accounts.map((account) => [account.id, account]));
}

const says = phrases('card', {
  sameCause: 'The same of {names}',
  rules: '{count, plural, one {rule {rules}} other {rules {rules}}}',
  future: 'since {moment}, by a clock that was ahead',
  sinceAge: 'since {age}',
  undelivered: 'not delivered yet to {channels}',
  notified: '{channels} notified {age}',
  acknowledged: 'acknowledged by {by} {age}',
  acknowledgedSaying: 'acknowledged by {by} {age}: {comment}',
  silenced: 'silenced',
  inhibited: 'inhibited by a worse alert',
  flapping: 'flapping',
  both: '{first} and {second}',
  andMore: '{first}, {second} and {more} more',
});

/** A card with one alert, or several of one cause: what, by when, and what to do. Alerts about lowwater itself have no entry in `accounts`. */
export function alertCard(
  alerts: CardAlerts,
  accounts: ReadonlyMap<string, AccountView>,
  scope: Scope,
  place: FormPlace,
): Html {
  const [alert] = alerts;
  const account = accounts.get(alert.account) ?? null;
  const tone = alert.state === 'pending' ? 'pending' : alert.severity;
  const content = html`${place.pick}<div class="alert-words"><p class="alert-what">${badge(tone, stateWord(tone, scope))} ${headlineLink(alert, scope)}</p>
${sameCause(alerts, scope)}<p class="alert-when">${whenWords(alert, account, scope)}${place.isBrief === true && undelivered(alert, scope)}</p>${account !== null && moneyOnItsWay(account, alert.balance, scope)}${
    place.isBrief !== true &&
    html`<p class="alert-meta">${rulesOf(alerts, scope)} · ${sinceWords(alert, scope)}${conditions(alert, scope)}</p>`
  }${account !== null && !place.isOnAccount && hintLine(account, scope)}</div>
<div class="acts">${account !== null && !place.isOnAccount && payButtons(account, alert.balance, { scope, back: place.back })}${alert.state === 'firing' && alert.acknowledged === null && acknowledgeForm(alerts, place, scope)}${
    alert.acknowledged !== null && giveBackForm(alerts, place, scope)
  }${place.isBrief !== true && !alert.silenced && silenceForm(alerts, place, scope)}</div>`;
  return live(`alert ${alertName(alert)}`, content, { tag: 'li', attributes: html`class="alert ${tone}"` });
}

/** The other accounts of a card. */
function sameCause([alert, ...others]: CardAlerts, scope: Scope): Html | null {
  const accounts = new Map(others.map(({ account, accountName }) => [account, nameOf(accountName)]));
  accounts.delete(alert.account);
  if (accounts.size === 0) return null;
  const names = scope.language.list([...accounts.values()], 'and');
  return html`<p>${say(says.sameCause, { names }, scope)}</p>`;
}

function rulesOf(alerts: CardAlerts, scope: Scope): string {
  const rules = [...new Set(alerts.map(({ rule }) => rule))];
  return say(says.rules, { count: rules.length, rules: scope.language.list(rules, 'and') }, scope);
}

/** The beginning of an alert. It may lie in the future if the clock was set back. */
function sinceWords({ since }: AlertView, scope: Scope): Html {
  if (since > scope.now) return html`${say(says.future, { moment: sayMoment(since, scope) }, scope)}`;
  return sayHtml(says.sinceAge, { age: age(since, scope) }, scope);
}

function undelivered({ notified }: AlertView, scope: Frame): Html | null {
  const waiting = notified.filter(({ at }) => at === null);
  return waiting.length === 0
    ? null
    : html` · <span class="condition">${sayHtml(says.undelivered, { channels: listNames(waiting, scope) }, scope)}</span>`;
}

/** A headline with a link to the account. Alerts about lowwater itself or a whole provider have no page to link to. */
function headlineLink(alert: AlertView, scope: Scope): Html {
  const headline = headlineOf(alert, scope);
  return alert.account.startsWith('@')
    ? headline
    : html`<a href="${accountPath(alert.account)}">${headline}</a>`;
}

function conditions(alert: AlertView, frame: Frame): Html {
  const { acknowledged, silenced, inhibited, flapping } = alert;
  const reached = alert.notified.filter(({ at }) => at !== null);
  return html`${
    reached.length > 0 &&
    html` · ${sayHtml(says.notified, { channels: listNames(reached, frame), age: age(Math.max(...reached.map(({ at }) => at ?? 0)), frame) }, frame)}`
  }${undelivered(alert, frame)}${
    acknowledged !== null &&
    html` · <span class="condition">${icon('person')}${acknowledgedWords(acknowledged, frame)}</span>`
  }${silenced && html` · <span class="condition">${icon('silence')}${say(says.silenced, frame)}</span>`}${
    inhibited && html` · <span class="condition">${say(says.inhibited, frame)}</span>`
  }${flapping && html` · <span class="condition">${say(says.flapping, frame)}</span>`}`;
}

function acknowledgedWords({ by, at, comment }: NonNullable<AlertView['acknowledged']>, frame: Frame): Html {
  const given = { by: html`<bdi>${by}</bdi>`, age: age(at, frame) };
  if (comment === '') return sayHtml(says.acknowledged, given, frame);
  return sayHtml(says.acknowledgedSaying, { ...given, comment: html`<q>${comment}</q>` }, frame);
}

/** `ops`, `ops and finance`, `ops, finance and 2 more`. */
function listNames(channels: AlertView['notified'], frame: Frame): Html {
  const [first = null, second] = channels.map(({ channel }) => html`<bdi>${channel}</bdi>`);
  if (second === undefined) return html`${first}`;
  const more = channels.length - 2;
  if (more === 0) return sayHtml(says.both, { first, second }, frame);
  return sayHtml(says.andMore, { first, second, more }, frame);
}
