import { describeIncident } from '../../daemon/compose.ts';
import { isAcknowledged } from '../../domain/alert.ts';
import type { MessageItem } from '../../domain/message.ts';
import { nearestWord } from '../../domain/nearest-word.ts';
import { ownOf } from '../../domain/own.ts';
import { capital, cleanCurrency, cleanText } from '../../domain/plain-text.ts';
import { unitOf } from '../../domain/reading.ts';
import type { AccountSettings } from '../../domain/settings.ts';
import { silencedUntil } from '../../engine/silencing.ts';
import type { MonitorState, WatchedAccount } from '../../engine/state.ts';
import { silenceOf } from '../../messages/item-story.ts';
import { wordItem } from '../../messages/item-wording.ts';
import { isEndingSoon, sayEndingSoon } from '../../views/account-summary.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { planPayments } from '../../views/payment-plan.ts';
import { sortAlerts } from '../../views/sort-alerts.ts';
import type { AlertView } from '../../views/views.ts';
import { labelled } from '../../wording/lists.ts';
import type { Reader } from '../../wording/moments.ts';
import { sayMomentAndAge, sayNearMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import {
  balanceLabel,
  sayAmount,
  sayBalance,
  sayLabel,
  sayRunwayClause,
  sayShortPayable,
} from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { narrow } from './commands.ts';

const says = phrases('chatLook', {
  noAccount: 'There is no account "{account}". {names}',
  several: '"{account}" may be one of several accounts: {names}. Write the id of one.',
  meant: 'Did you mean {name}?',
  known: 'There are: {names}.',
  nothingFires: 'Nothing fires for {account}.',
  allQuiet: 'Nothing fires. {accounts, plural, one {# account} other {# accounts}} watched.',
  notRead: '{accounts, plural, one {# account} other {# accounts}} could not be read.',
  asOf: 'It could not be read since {moment}: this is what it was then.',
  more: 'and {count} more',
  paidUp: 'Nothing is known to be due within 30 days.',
  pay: '{account}: {amount} by {moment}',
  ofBalance: '{account}, {label}',
  payNow: '{account}: {amount} now',
  balance: '{label}: {amount}, {lasts}',
  line: '{severity} · {subject}',
  lineWith: '{severity} · {subject} ({conditions})',
  taken: 'acknowledged by {person}',
  silenced: 'silenced until {moment}',
  unread: '{account} was never read.',
});

const maxLines = 10;
const maxIncidentsLookedAt = 2_000;

/** The currency or unit of one of the account's balances, by default of the first; empty if unknown. */
export function unitIn(
  { settings, poll }: WatchedAccount,
  balance = settings.balances[0]?.id ?? null,
): string {
  const currency = poll.reading?.currency ?? settings.currency;
  return cleanCurrency(unitOf({ ...settings, currency }, balance) ?? '');
}

/** The name of an account, as messages say it. */
export function nameOf({ id, name }: Pick<AccountSettings, 'id' | 'name'>): string {
  return cleanText(name, 80) || id;
}

/** A name in the form in which it is compared: a wide space, as Chinese names have it, is like any other. */
function written(name: string): string {
  return narrow(name).toLowerCase();
}

/** The alerts without those that another alert inhibits; all of them if only inhibited ones fire. */
function speaking(firing: readonly AlertView[]): readonly AlertView[] {
  const heard = firing.filter(({ inhibited }) => !inhibited);
  return heard.length === 0 ? firing : heard;
}

/** Words the present state for a chat. */
export class LookUp {
  readonly #state: MonitorState;
  readonly #views: LiveViews;
  readonly #reader: Reader;

  constructor(state: MonitorState, views: LiveViews, reader: Reader) {
    this.#state = state;
    this.#views = views;
    this.#reader = reader;
  }

  async status(): Promise<string> {
    const { accounts, endingSoon } = await this.#views.summary(0);
    const firing = await this.firing();
    const lines =
      firing.length === 0 ? [say(says.allQuiet, { accounts }, this.#reader)] : this.#linesOf(firing);
    const problems = this.#views.status().problems.map((problem) => sayAgain(problem, this.#reader));
    return [...lines, ...this.#doubts(endingSoon), ...problems].join('\n');
  }

  /** Reasons why silence is not good news: balances that may be empty without an alert, and accounts that could not be read. */
  #doubts(ending: number): readonly string[] {
    const { unread } = this.#views.counts();
    return [
      ...sayEndingSoon(ending, this.#reader),
      ...(unread > 0 ? [say(says.notRead, { accounts: unread }, this.#reader)] : []),
    ];
  }

  async payments(): Promise<string> {
    const { payments, ending } = await planPayments(this.#views, this.#reader.now);
    const sayOne = ({ account, balance, currency, micros, dueAt }: (typeof payments)[number]): string => {
      const name = nameOf(account);
      const label = sayLabel(balanceLabel(balance, account.balances), this.#reader);
      const given = {
        account:
          account.balances.length > 1 ? say(says.ofBalance, { account: name, label }, this.#reader) : name,
        amount: sayShortPayable(micros, { ...this.#reader, currency }),
      };
      return dueAt === null || dueAt <= this.#reader.now
        ? say(says.payNow, given, this.#reader)
        : say(says.pay, { ...given, moment: sayNearMoment(dueAt, this.#reader) }, this.#reader);
    };
    const lines = payments.length === 0 ? [say(says.paidUp, this.#reader)] : this.#some(payments, sayOne);
    return [...lines, ...this.#doubts(ending.filter(isEndingSoon).length)].join('\n');
  }

  async why(account: WatchedAccount, rule: string | null): Promise<string> {
    const firing = await this.firing(account.id);
    const alerts = rule === null ? speaking(firing) : firing.filter((alert) => alert.rule === rule);
    if (alerts.length > 0) return alerts.map((alert) => this.story(alert)).join('\n\n');
    if (firing.length > 0) return this.sayFiring(firing);
    const view = await this.#views.account(account.id);
    const { reading = null } = view ?? {};
    if (view === null || reading === null)
      return say(says.unread, { account: nameOf(account.settings) }, this.#reader);
    const { currency } = reading;
    const lines = Object.entries(reading.balances).map(([id, amount]) => {
      const given = {
        label: capital(sayBalance(balanceLabel(id, view.balances), this.#reader)),
        amount: sayAmount(amount, { ...this.#reader, currency: unitOf({ ...view, currency }, id) }),
        lasts: sayRunwayClause(ownOf(view.runways, id) ?? null, this.#reader),
      };
      return say(says.balance, given, this.#reader);
    });
    const asOf = sayMomentAndAge(view.readAt ?? reading.at, this.#reader);
    return [
      say(says.nothingFires, { account: nameOf(account.settings) }, this.#reader),
      ...(view.isRead ? [] : [say(says.asOf, { moment: asOf }, this.#reader)]),
      ...lines,
    ].join('\n');
  }

  /** The alerts that fire, with who has each of them. */
  sayFiring(firing: readonly AlertView[]): string {
    return this.#linesOf(firing).join('\n');
  }

  /** The alert, the numbers behind it, and what to do. */
  story(alert: AlertView): string {
    const item = this.itemOf(alert);
    if (item === null) return alert.summary;
    const words = this.#wordsOf(item);
    return [
      words.headline,
      ...words.story,
      ...words.figures.map(({ label, value }) => labelled(label, value)),
      ...words.advice,
    ].join('\n');
  }

  #linesOf(firing: readonly AlertView[]): readonly string[] {
    return this.#some(speaking(firing), (alert) => this.#lineOf(alert));
  }

  #lineOf(alert: AlertView): string {
    const reader = this.#reader;
    const item = this.itemOf(alert);
    const subject = item === null ? alert.summary : this.#wordsOf(item).subject;
    const given = { severity: saySeverity(alert.severity, reader), subject };
    const by = alert.acknowledged?.by;
    const until = item?.silencedUntil ?? null;
    const conditions = reader.language.list([
      ...(by === undefined ? [] : [say(says.taken, { person: cleanText(by, 60) }, reader)]),
      ...(until === null ? [] : [say(says.silenced, { moment: sayNearMoment(until, reader) }, reader)]),
    ]);
    return conditions === ''
      ? say(says.line, given, reader)
      : say(says.lineWith, { ...given, conditions }, reader);
  }

  /** A sentence that an alert is silenced, and until when; none if it is not. */
  silence(alert: AlertView): readonly string[] {
    const item = this.itemOf(alert);
    return item === null ? [] : silenceOf(item, this.#reader);
  }

  #wordsOf(item: MessageItem): ReturnType<typeof wordItem> {
    const { language, timezone, now: at } = this.#reader;
    return wordItem(item, { language: language.id, timezone, at, publicUrl: null });
  }

  itemOf({ incident: id }: AlertView): MessageItem | null {
    const incident = this.#state.incidents.get(id ?? '');
    if (incident === undefined) return null;
    const kinds = [isAcknowledged(incident) ? 'acknowledged' : 'firing'] as const;
    const { now } = this.#reader;
    const item = describeIncident(this.#state, { incident, kinds, now });
    return { ...item, silencedUntil: silencedUntil(this.#state, incident, now) };
  }

  /** The firing alerts, the most urgent first. */
  async firing(account?: string): Promise<readonly AlertView[]> {
    const alerts = await this.#views.alerts({ all: false });
    return sortAlerts(
      alerts.filter((alert) => alert.state === 'firing' && (account ?? alert.account) === alert.account),
    );
  }

  async alertOf(incident: string): Promise<AlertView | null> {
    return (await this.firing()).find((alert) => alert.incident === incident) ?? null;
  }

  /** The alert of an incident that ended, if it fires again, otherwise null; undefined for an unknown incident. */
  async alertAgain(ended: string): Promise<AlertView | null | undefined> {
    const past = await this.#views.incidents({ limit: maxIncidentsLookedAt });
    const incident = past.find(({ id }) => id === ended);
    if (incident === undefined) return undefined;
    return (await this.firing(incident.account)).find(({ rule }) => rule === incident.rule) ?? null;
  }

  /** The text with the id of an account in place of its name with spaces; a sentence to answer if several accounts are possible. */
  withId(text: string): { readonly text: string } | string {
    const [verb = '', ...words] = text.trim().split(/\s+/);
    const lengthOf = ({ settings }: WatchedAccount): number => narrow(nameOf(settings)).split(' ').length;
    const begun = [...this.#state.accounts.values()].filter((account) => {
      const begin = words.slice(0, lengthOf(account)).join(' ');
      return lengthOf(account) > 1 && written(begin) === written(nameOf(account.settings));
    });
    const length = Math.max(...begun.map(lengthOf));
    const named = begun.filter((account) => lengthOf(account) === length);
    const [account] = named;
    if (account === undefined) return { text };
    const byId = this.#state.accounts.get(narrow(words[0] ?? ''));
    const meant = new Set([...named, byId ?? account]);
    if (meant.size > 1) return this.#several(words.slice(0, length).join(' '), [...meant]);
    return { text: [verb, account.id, ...words.slice(length)].join(' ') };
  }

  /** Finds an account by its exact id, otherwise by id or name in any case; a sentence to answer if there is none, or several. */
  accountCalled(typed: string): WatchedAccount | string {
    const all = [...this.#state.accounts.values()];
    const wanted = written(typed);
    const exact = this.#state.accounts.get(typed);
    const alike = all.filter(({ id, settings }) => [id, written(nameOf(settings))].includes(wanted));
    const found = exact ?? alike[0];
    if (found !== undefined)
      return exact === undefined && alike.length > 1 ? this.#several(typed, alike) : found;
    const ids = all.map(({ id }) => id);
    const near = nearestWord(wanted, ids);
    const names =
      near === null
        ? say(says.known, { names: this.#reader.language.list(ids.slice(0, maxLines)) }, this.#reader)
        : say(says.meant, { name: near }, this.#reader);
    return say(says.noAccount, { account: cleanText(typed, 60), names }, this.#reader);
  }

  #several(typed: string, accounts: readonly WatchedAccount[]): string {
    const names = this.#reader.language.list(accounts.slice(0, maxLines).map(({ id }) => id));
    return say(says.several, { account: cleanText(typed, 60), names }, this.#reader);
  }

  #some<Item>(items: readonly Item[], sayOne: (item: Item) => string): readonly string[] {
    const more = items.length - maxLines;
    const rest = more > 0 ? [say(says.more, { count: String(more) }, this.#reader)] : [];
    return [...items.slice(0, maxLines).map(sayOne), ...rest];
  }
}
