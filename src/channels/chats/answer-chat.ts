import { describeIncident } from '../../daemon/compose.ts';
import { isAcknowledged } from '../../domain/alert.ts';
import { minuteMs } from '../../domain/duration.ts';
import { formatMicros } from '../../domain/money.ts';
import { nearestWord } from '../../domain/nearest-word.ts';
import { isRefusal, type Refusal } from '../../domain/operator.ts';
import { StorageError } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { makeOrder, type Wanted } from '../../engine/orders.ts';
import type { MonitorState, WatchedAccount } from '../../engine/state.ts';
import { wordItem } from '../../messages/item-wording.ts';
import type { AnswerChat, ChatAnswer, ChatEvent } from '../../ports/channel.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { planPayments } from '../../views/payment-plan.ts';
import type { AlertView } from '../../views/views.ts';
import { languageNamed, say } from '../../wording/language.ts';
import { labelled } from '../../wording/lists.ts';
import { sayNearMoment } from '../../wording/moments.ts';
import { phrases } from '../../wording/phrase.ts';
import { balanceLabel, sayAmount, sayRunwayAndEnd, sayShortPayable } from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { type Pressed, quietUntil, readPressed, writePressed } from './buttons.ts';
import { type Command, readAmount, readCommand, readDay } from './commands.ts';

const says = phrases('chat', {
  taken: '{person} has acknowledged {alerts}. Reminders and escalation stop until it is over or gets worse.',
  quiet: '{person}: no messages about {what} until {moment}.',
  ordered: '{person} has ordered {amount} for {account}, expected by {moment}.',
  over: 'This alert is over: nothing was done.',
  isNow: 'This alert is {severity} by now: nothing was done. Look at its newest message.',
  has: '{person} has it already.',
  notDone: 'Not done: {why}.',
  orderedBefore: 'Not done: {why}. If this is another payment, write the same with "again" at its end.',
  notStored: 'Not done: it could not be stored. Try again.',
  done: 'This was done already.',
  elsewhere: 'Nothing is done from this chat ({chat}): lowwater listens in the chat of its channel alone.',
  stranger: 'You ({person}) are not among the "actors" of this channel: nothing was done.',
  late: 'Nobody listened when this was written: nothing was done. Write it again.',
  strange: 'This button is of another version of lowwater, or was changed.',
  noAccount: 'There is no account "{account}". {names}',
  meant: 'Did you mean {name}?',
  known: 'There are: {names}.',
  nothingFires: 'Nothing fires for {account}.',
  allQuiet: 'Nothing fires. {accounts, plural, one {# account} other {# accounts}} watched.',
  notRead: '{accounts, plural, one {# account} other {# accounts}} could not be read.',
  more: 'and {count} more',
  paidUp: 'Nothing is known to be due within 30 days.',
  pay: '{account}: {amount} by {moment}',
  payNow: '{account}: {amount} now',
  balance: '{label}: {amount}, {lasts}',
  line: '{severity} · {subject}',
  unread: '{account} was never read.',
  formTitle: 'Ordered',
  formAmount: 'Amount',
  formBy: 'Arrives by (a day, such as friday or 2026-11-27; empty: after the lead time)',
  formSend: 'Ordered',
  form: 'Write: ordered {account} {amount} by friday',
  badAmount: 'Not done: "{amount}" is not an amount above 0.',
  badDay: 'Not done: "{day}" is not a day such as friday or 2026-11-27.',
  help: 'status – what fires\npay – what to pay by when\nwhy ACCOUNT – the numbers behind it\ntake ACCOUNT – acknowledge what fires\nquiet ACCOUNT 2h COMMENT – no messages for a while\nordered ACCOUNT 1400 by friday – money is on its way\nhelp – this',
});

const maxLines = 10;

/** Whoever wrote before that, while nobody listened, has helped themselves since. */
const maxAgeMs = 10 * minuteMs;

/** What the daemon that owns the accounts shows to and does for people in chats. */
export function createChatAnswers(state: MonitorState, views: LiveViews, now: () => number): AnswerChat {
  return async (event) => {
    const chat = new Chat(state, views, event, now());
    try {
      return await chat.answer();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      return chat.alone(say(says.notStored, chat.reader));
    }
  };
}

/** One event and its answer, in the language of the channel. */
class Chat {
  readonly reader: {
    readonly language: ReturnType<typeof languageNamed>;
    readonly timezone: string;
    readonly now: number;
  };
  readonly #state: MonitorState;
  readonly #views: LiveViews;
  readonly #event: ChatEvent;
  readonly #person: string;

  constructor(state: MonitorState, views: LiveViews, event: ChatEvent, now: number) {
    const { settings } = state;
    const language =
      settings.channels.find(({ name }) => name === event.channel)?.language ?? settings.language;
    this.reader = { language: languageNamed(language), timezone: settings.timezone, now };
    this.#state = state;
    this.#views = views;
    this.#event = event;
    this.#person = cleanText(event.person.name, 60) || event.person.id;
  }

  async answer(): Promise<ChatAnswer> {
    const { said, standing, chat, person } = this.#event;
    if (standing === 'elsewhere') return this.alone(say(says.elsewhere, { chat }, this.reader));
    if (standing === 'stranger') return this.alone(say(says.stranger, { person: person.id }, this.reader));
    if (said.kind === 'text')
      return this.#isLate ? this.#alone(says.late) : this.#obey(readCommand(said.text, this.reader));
    const pressed = readPressed(said.data.split(' ', 1)[0] ?? '');
    if (pressed === null) return this.#alone(says.strange);
    return said.kind === 'form' ? this.#filledIn(pressed, said) : this.#press(pressed);
  }

  get #at(): number {
    return this.#event.at ?? this.reader.now;
  }

  get #isLate(): boolean {
    return this.reader.now - this.#at > maxAgeMs;
  }

  alone(text: string): ChatAnswer {
    return { text, isPublic: false };
  }

  async #alone(phrase: Parameters<typeof say>[0]): Promise<ChatAnswer> {
    return this.alone(say(phrase, this.reader));
  }

  async #press({ verb, incident, severity }: Pressed): Promise<ChatAnswer> {
    const alert = await this.#alertOf(incident);
    if (alert === null) return this.#alone(says.over);
    if (verb === 'why') return this.alone(this.#story(alert));
    if (alert.severity !== severity)
      return this.alone(say(says.isNow, { severity: saySeverity(alert.severity, this.reader) }, this.reader));
    if (verb === 'ordered') return this.#askAmount(alert, { verb, incident, severity });
    if (verb === 'acknowledge' && alert.acknowledged !== null)
      return this.alone(say(says.has, { person: cleanText(alert.acknowledged.by, 60) }, this.reader));
    // Who takes an alert takes it late as well; quiet is counted from when it was asked for.
    const until = quietUntil(verb, this.#isLate ? this.#at : this.reader.now, this.reader.timezone);
    if (until !== null && until <= this.reader.now) return this.#alone(says.late);
    const { account, rule } = alert;
    const seen = { incident, severity };
    return until === null
      ? this.#take([{ kind: 'acknowledge', account, rule, comment: '', seen }])
      : this.#quiet({ account: [account], rule: [rule] }, until, '', { account, rule, ...seen });
  }

  async #obey(command: Command): Promise<ChatAnswer> {
    if (!('account' in command)) {
      if (command.kind === 'status') return this.#everybody(await this.#status());
      return command.kind === 'pay' ? this.#everybody(await this.#payments()) : this.#alone(says.help);
    }
    const account = this.#accountCalled(command.account);
    if (typeof account === 'string') return this.alone(account);
    switch (command.kind) {
      case 'why':
        return this.#everybody(await this.#why(account, command.rule));
      case 'take': {
        const firing = await this.#firing(account.id);
        const open = firing.filter(
          ({ rule, acknowledged }) => acknowledged === null && (command.rule ?? rule) === rule,
        );
        if (open.length === 0) return this.alone(this.#sayFiring(account, firing));
        return this.#take(
          open.map(({ rule }) => ({ kind: 'acknowledge', account: account.id, rule, comment: '' })),
        );
      }
      case 'quiet':
        return this.#quiet({ account: [account.id] }, this.reader.now + command.forMs, command.comment);
      case 'ordered': {
        const known = command.isAgain ? account.expected.map(({ id }) => id) : [];
        return this.#order(account, command, { expected: known });
      }
    }
  }

  async #take(orders: readonly Wanted<'acknowledge'>[]): Promise<ChatAnswer> {
    const refused = await this.#give(orders);
    if (refused !== null) return refused;
    const alerts = this.reader.language.list(orders.map(({ account, rule }) => `${account} ${rule}`));
    return this.#everybody(say(says.taken, { person: this.#person, alerts }, this.reader));
  }

  async #quiet(
    match: Wanted<'silence'>['match'],
    endsAt: number,
    comment: string,
    seen?: Wanted<'silence'>['seen'],
  ): Promise<ChatAnswer> {
    const window = { everything: false, startsAt: this.reader.now, endsAt, comment: cleanText(comment, 500) };
    const refused = await this.#give([{ kind: 'silence', match, ...window, ...(seen && { seen }) }]);
    if (refused !== null) return refused;
    const what = [...(match.account ?? []), ...(match.rule ?? [])].join(' ');
    const given = { person: this.#person, what, moment: sayNearMoment(endsAt, this.reader) };
    return this.#everybody(say(says.quiet, given, this.reader));
  }

  async #order(
    account: WatchedAccount,
    { micros, by, comment }: Pick<Extract<Command, { kind: 'ordered' }>, 'micros' | 'by' | 'comment'>,
    seen: { readonly expected: readonly string[] },
    balance?: string,
  ): Promise<ChatAnswer> {
    const order: Wanted<'expect-top-up'> = {
      kind: 'expect-top-up',
      account: account.id,
      amountMicros: micros,
      comment: cleanText(comment, 400),
      seen,
      ...(by === null ? {} : { arrivesBy: by }),
      ...(balance === undefined ? {} : { balance }),
    };
    const refused = await this.#give([order]);
    if (refused !== null) return refused;
    const topUp = account.expected.at(-1);
    const currency = account.poll.reading?.currency ?? account.settings.currency;
    const amount = sayAmount(micros, { ...this.reader, currency });
    const moment = sayNearMoment(topUp?.by ?? by ?? this.reader.now, this.reader);
    const given = { person: this.#person, amount, account: account.settings.name, moment };
    return this.#everybody(say(says.ordered, given, this.reader));
  }

  /** Null where all was done; what is refused is said to whoever asked. */
  async #give(orders: readonly Wanted[]): Promise<ChatAnswer | null> {
    const { channel, chat, id, person } = this.#event;
    const from = { door: 'chat', address: `${channel} ${chat} ${person.id}` } as const;
    const { random } = this.#state;
    const given = { by: this.#person, from, at: this.reader.now, random };
    const answers = await this.#views.orders(
      orders.map((order, index) => makeOrder(order, { ...given, orderId: `${channel} ${id} ${index}` })),
    );
    const refusal = answers.find(isRefusal);
    return refusal === undefined ? null : this.alone(this.#sayRefusal(refusal));
  }

  #sayRefusal({ refused, about, ...refusal }: Refusal): string {
    const why = sayAgain(refusal.why, this.reader);
    if (about === 'expected') return say(says.orderedBefore, { why }, this.reader);
    return refused === 'repeated' ? say(says.done, this.reader) : say(says.notDone, { why }, this.reader);
  }

  #askAmount(alert: AlertView, pressed: Pressed): ChatAnswer {
    const account = this.#state.accounts.get(alert.account);
    if (account === undefined) return this.alone(say(says.over, this.reader));
    const runway = this.#itemOf(alert)?.account?.runway ?? null;
    const value = runway?.restoreMicros == null ? '' : formatMicros(runway.restoreMicros);
    const known = account.expected.filter(({ balance }) => balance === alert.balance).map(({ id }) => id);
    return {
      ...this.alone(say(says.form, { account: account.id, amount: value || '1400' }, this.reader)),
      form: {
        title: say(says.formTitle, this.reader),
        data: [writePressed(pressed), ...known].join(' '),
        amount: { label: say(says.formAmount, this.reader), value },
        by: { label: say(says.formBy, this.reader), value: '' },
        send: say(says.formSend, this.reader),
      },
    };
  }

  async #filledIn(
    { incident }: Pressed,
    form: Extract<ChatEvent['said'], { readonly kind: 'form' }>,
  ): Promise<ChatAnswer> {
    const alert = await this.#alertOf(incident);
    const account = alert && this.#state.accounts.get(alert.account);
    if (alert === null || account == null) return this.#alone(says.over);
    const micros = readAmount(form.amount.trim(), this.reader);
    if (micros === null)
      return this.alone(say(says.badAmount, { amount: cleanText(form.amount, 40) }, this.reader));
    const by = form.by.trim() === '' ? null : readDay(form.by.trim(), this.reader);
    if (by === null && form.by.trim() !== '')
      return this.alone(say(says.badDay, { day: cleanText(form.by, 40) }, this.reader));
    const [, ...expected] = form.data.split(' ');
    return this.#order(account, { micros, by, comment: '' }, { expected }, alert.balance ?? undefined);
  }

  async #status(): Promise<string> {
    const { accounts, unread } = this.#views.counts();
    const missing = unread === 0 ? [] : [say(says.notRead, { accounts: unread }, this.reader)];
    const firing = await this.#firing();
    if (firing.length === 0) return [say(says.allQuiet, { accounts }, this.reader), ...missing].join('\n');
    return [...this.#some(firing, (alert) => this.#lineOf(alert)), ...missing].join('\n');
  }

  async #payments(): Promise<string> {
    const { currencies } = await planPayments(this.#views, this.reader.now);
    const due = currencies.flatMap(({ payments }) => payments);
    if (due.length === 0) return say(says.paidUp, this.reader);
    const sayOne = ({ account: { name, currency }, micros, dueAt }: (typeof due)[number]): string => {
      const given = {
        account: cleanText(name, 80),
        amount: sayShortPayable(micros, { ...this.reader, currency }),
      };
      return dueAt === null || dueAt <= this.reader.now
        ? say(says.payNow, given, this.reader)
        : say(says.pay, { ...given, moment: sayNearMoment(dueAt, this.reader) }, this.reader);
    };
    return this.#some(due, sayOne).join('\n');
  }

  async #why(account: WatchedAccount, rule: string | null): Promise<string> {
    const firing = await this.#firing(account.id);
    const alerts = firing.filter((alert) => rule === null || alert.rule === rule);
    if (alerts.length > 0) return alerts.map((alert) => this.#story(alert)).join('\n\n');
    if (firing.length > 0) return this.#sayFiring(account, firing);
    const view = await this.#views.account(account.id);
    const { reading = null } = view ?? {};
    if (view === null || reading === null)
      return say(says.unread, { account: account.settings.name }, this.reader);
    const lines = Object.entries(reading.balances).map(([id, amount]) => {
      const given = {
        label: balanceLabel(id, view.balances),
        amount: sayAmount(amount, { ...this.reader, currency: reading.currency }),
        lasts: sayRunwayAndEnd(ownOf(view.runways, id) ?? null, this.reader),
      };
      return say(says.balance, given, this.reader);
    });
    return [say(says.nothingFires, { account: account.settings.name }, this.reader), ...lines].join('\n');
  }

  /** What fires though it is not what somebody asked for, and who has it. */
  #sayFiring({ settings: { name } }: WatchedAccount, firing: readonly AlertView[]): string {
    return firing.length === 0
      ? say(says.nothingFires, { account: name }, this.reader)
      : this.#some(firing, (alert) => this.#lineOf(alert)).join('\n');
  }

  /** What fired, the numbers behind it, and what to do. */
  #story(alert: AlertView): string {
    const words = this.#wordsOf(alert);
    if (words === null) return alert.summary;
    return [
      words.headline,
      ...words.story,
      ...words.figures.map(({ label, value }) => labelled(label, value)),
      ...words.advice,
    ].join('\n');
  }

  #lineOf(alert: AlertView): string {
    const subject = this.#wordsOf(alert)?.subject ?? alert.summary;
    const line = say(says.line, { severity: saySeverity(alert.severity, this.reader), subject }, this.reader);
    return alert.acknowledged === null
      ? line
      : `${line} (${say(says.has, { person: cleanText(alert.acknowledged.by, 60) }, this.reader)})`;
  }

  #wordsOf(alert: AlertView): ReturnType<typeof wordItem> | null {
    const item = this.#itemOf(alert);
    const { language, timezone, now: at } = this.reader;
    return item && wordItem(item, { language: language.id, timezone, at, publicUrl: null });
  }

  #itemOf({ incident: id }: AlertView) {
    const incident = this.#state.incidents.get(id ?? '');
    if (incident === undefined) return null;
    const kinds = [isAcknowledged(incident) ? 'acknowledged' : 'firing'] as const;
    return describeIncident(this.#state, { incident, kinds, now: this.reader.now });
  }

  async #firing(account?: string): Promise<readonly AlertView[]> {
    const alerts = await this.#views.alerts({ all: false });
    return alerts.filter((alert) => alert.state === 'firing' && (account ?? alert.account) === alert.account);
  }

  async #alertOf(incident: string): Promise<AlertView | null> {
    return (await this.#firing()).find((alert) => alert.incident === incident) ?? null;
  }

  /** By its id or its name; a sentence where there is none. */
  #accountCalled(typed: string): WatchedAccount | string {
    const all = [...this.#state.accounts.values()];
    const wanted = typed.toLowerCase();
    const found =
      this.#state.accounts.get(wanted) ?? all.find(({ settings }) => settings.name.toLowerCase() === wanted);
    if (found !== undefined) return found;
    const ids = all.map(({ id }) => id);
    const near = nearestWord(wanted, ids);
    const names =
      near === null
        ? say(says.known, { names: this.reader.language.list(ids.slice(0, maxLines)) }, this.reader)
        : say(says.meant, { name: near }, this.reader);
    return say(says.noAccount, { account: cleanText(typed, 60), names }, this.reader);
  }

  #everybody(text: string): ChatAnswer {
    return { text, isPublic: true };
  }

  #some<Item>(items: readonly Item[], sayOne: (item: Item) => string): readonly string[] {
    const more = items.length - maxLines;
    const rest = more > 0 ? [say(says.more, { count: String(more) }, this.reader)] : [];
    return [...items.slice(0, maxLines).map(sayOne), ...rest];
  }
}
