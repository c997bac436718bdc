import { displayName } from '../../domain/alert.ts';
import { StorageError } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { type Balance, unitOf } from '../../domain/reading.ts';
import { isoText } from '../../domain/time.ts';
import { isUnread } from '../../views/account-summary.ts';
import type { AccountView, AlertView } from '../../views/views.ts';
import { endOf, isGuess, sayEmptyWhen, sayInterval, sayLength } from '../../wording/forecast-wording.ts';
import { type Html, type HtmlValue, html, sayHtml, withName } from '../../wording/html.ts';
import { sayAge, sayMoment, sayNearMoment, withAge } from '../../wording/moments.ts';
import { type Listener, phrases, say } from '../../wording/phrase.ts';
import { balanceLabel, sayAmount, sayComputed, sayLabel, sayRunway } from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { refusals } from '../refusal.ts';
import { accountPath, type Frame, nameOf, type Tone } from './words.ts';

const says = phrases('cell', {
  unknown: 'unknown',
  nothingSpent: 'nothing spent',
  ends: 'ends {moment}',
  range: '80 % range: {range}',
  between: ', {range}',
});

/** A word with its icon and colour. */
export function badge(tone: Tone, word: string): Html {
  return html`<span class="badge ${tone}">${icon(tone)}${word}</span>`;
}

/** Refers to an icon of the layout. Icons are decoration: a word is always next to them. */
export function icon(name: string): Html {
  return html`<svg class="icon" aria-hidden="true" focusable="false"><use href="#i-${name}"/></svg>`;
}

/** `3 minutes ago`, updated by the script; the absolute time on hovering. */
export function age(at: number, frame: Frame): Html {
  return html`<time datetime="${isoText(at)}" title="${sayMoment(at, frame)}" data-age>${sayAge(at, frame)}</time>`;
}

/** `Fri 20 Nov 23:20 UTC`. */
export function moment(at: number, frame: Frame): Html {
  return html`<time datetime="${isoText(at)}">${sayMoment(at, frame)}</time>`;
}

/** The shortest clear form: `Mon 10:00`. */
export function nearMoment(at: number, frame: Frame): Html {
  return html`<time datetime="${isoText(Math.round(at))}" title="${sayMoment(at, frame)}">${sayNearMoment(at, frame)}</time>`;
}

/** Absolute and relative time in one element: text next to an element would be placed elsewhere in a card. */
export function momentAndAge(at: number, frame: Frame): Html {
  const soft = html`<span class="soft">${age(at, frame)}</span>`;
  return html`<span>${sayHtml(withAge, { moment: moment(at, frame), age: soft }, frame)}</span>`;
}

/** While polls fail, an amount older than this is shown with its age. */
const oldMs = 15_000;

/** The balance that was read; a negative one is marked. Shows its age while it cannot be read, and a dash if it never was. */
export function balanceCell(account: AccountView, balance: Balance, frame: Frame): Html {
  const { reading } = account;
  const micros = ownOf(reading?.balances, balance);
  if (reading === null || micros === undefined) return unknown(frame);
  const isOld = isUnread(account) && frame.now - reading.at > oldMs;
  return html`<span class="${micros < 0 ? 'amount negative' : 'amount'}">${sayAmount(micros, { ...frame, currency: unitOf(account, balance) })}</span>${isOld && html` <span class="old unread">${age(account.readAt ?? reading.at, frame)}</span>`}`;
}

export function burnOf(account: AccountView, balance: Balance, { language }: Listener): string | null {
  const burn = ownOf(account.runways, balance)?.burnPerDay ?? null;
  return burn === null ? null : sayComputed(burn, { language, currency: unitOf(account, balance) });
}

/** The sign for an unknown value. */
export function unknown(reader: Listener): Html {
  return html`<span class="soft"><span aria-hidden="true">–</span><span class="hidden">${say(says.unknown, reader)}</span></span>`;
}

/** `3 days 4 hours`, the day it ends, and the range in which that lies. */
export function runwayCell(account: AccountView, balance: Balance, frame: Frame): Html {
  const runway = ownOf(account.runways, balance);
  const runwayMs = runway?.runwayMs ?? null;
  if (runway == null || (runwayMs === null && runway.burnPerDay !== 0)) return unknown(frame);
  if (runwayMs === null) return html`<span class="soft">${say(says.nothingSpent, frame)}</span>`;
  if (runwayMs <= 0) return html`<strong class="runway gone">${sayRunway(runway, frame)}</strong>`;
  const endsAt = endOf(runway, frame.now);
  const interval = sayInterval(runway.forecast, frame, sayNearMoment);
  if (endsAt !== null && isGuess(runway.forecast, frame.now))
    // Worded as in its alert: without minutes, if even the day is uncertain.
    return html`<strong class="runway guess">${sayEmptyWhen(runway, frame)}</strong>`;
  return html`<strong class="runway">${sayLength(runwayMs, frame)}</strong>${
    endsAt !== null &&
    html` <span class="sub ends"${interval !== null && html` title="${say(says.range, { range: interval }, frame)}"`}>${sayHtml(says.ends, { moment: nearMoment(endsAt, frame) }, frame)}${interval !== null && html`<span class="range">${say(says.between, { range: interval }, frame)}</span>`}</span>`
  }`;
}

/** A sentence instead, while the database cannot be read: just then people need the balances and alerts, which come from memory. */
export async function ifReadable(render: () => Promise<Html>, reader: Listener): Promise<Html> {
  try {
    return await render();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return unreadable(reader);
  }
}

export function unreadable(reader: Listener): Html {
  return html`<p class="empty">${sayAgain(refusals.noDatabase(), reader)}</p>`;
}

/** The headline of an alert, with the name of its account. */
export function headlineOf({ headline, accountName }: AlertView, frame: Frame): Html {
  return withName(headline(frame), nameOf(accountName));
}

/** A link to an account's page, with its name. */
export function accountLink({ id, name }: Pick<AccountView, 'id' | 'name'>): Html {
  return html`<a href="${accountPath(id)}"><bdi>${nameOf(name)}</bdi></a>`;
}

/** As `accountLink`, for an id. The id of something that is not an account, such as lowwater itself, is its name. */
export function subjectLink(id: string, names: ReadonlyMap<string, string>): Html {
  const name = names.get(id);
  return name === undefined ? html`<bdi>${displayName(id)}</bdi>` : accountLink({ id, name });
}

/** A link to the account, with the balance in question if it has several. */
export function balanceLink(
  account: Pick<AccountView, 'id' | 'name' | 'balances'>,
  balance: string,
  reader: Listener,
): Html {
  const { balances } = account;
  const other = balances.length > 1 && sayLabel(balanceLabel(balance, balances), reader);
  return html`${accountLink(account)}${other && html` <span class="soft">${other}</span>`}`;
}

/** A table that scrolls by itself if it is too wide, and that can be reached by keyboard. */
export function table(label: string, classes: string, head: Html, rows: HtmlValue): Html {
  return html`<div class="scroll" role="group" aria-label="${label}" tabindex="0"><table class="${classes}">
<thead><tr>${head}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}
