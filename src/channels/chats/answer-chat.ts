import { minuteMs } from '../../domain/duration.ts';
import { formatMicros } from '../../domain/money.ts';
import { isRefusal, type Refusal } from '../../domain/operator.ts';
import { StorageError } from '../../domain/operator-error.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { makeOrder, type Wanted, wasDoneBefore } from '../../engine/orders.ts';
import type { MonitorState, WatchedAccount } from '../../engine/state.ts';
import { isTest } from '../../engine/test-alert.ts';
import type { AnswerChat, ChatAnswer, ChatEvent } from '../../ports/channel.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { AlertView } from '../../views/views.ts';
import { languageNamed, say } from '../../wording/language.ts';
import { labelled } from '../../wording/lists.ts';
import { sayNearMoment } from '../../wording/moments.ts';
import { phrases } from '../../wording/phrase.ts';
import { sayAmount } from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { type Pressed, quietUntil, readPressed, writePressed } from './buttons.ts';
import { type Command, readCommand, readDay, readMoney, type Unclear } from './commands.ts';
import { LookUp, nameOf, unitIn } from './look-up.ts';

const says = phrases('chat', {
  taken: '{person} has acknowledged {alerts}. Reminders and escalation stop until it is over or gets worse.',
  quiet: '{person}: no messages about {what} until {moment}.',
  ordered: '{person} has ordered {amount} for {account}, expected by {moment}.',
  over: 'This alert is over: nothing was done.',
  again:
    'This incident is over, but the alert fires again ({severity}): nothing was done. Look at its newest message.',
  test: 'This button belongs to a test message: nothing was done.',
  isNow: 'This alert is {severity} by now: nothing was done. Look at its newest message.',
  has: '{person} has it already.',
  quietBefore: '{person} has asked for this already: nothing was done.',
  notDone: 'Not done: {why}.',
  orderedBefore: 'Not done: {why}. If this is another payment, write the same with "again" at its end.',
  notStored: 'Not done: it could not be stored. Try again.',
  done: 'This was done already.',
  elsewhere: 'Nothing is done from this chat ({chat}): lowwater listens in the chat of its channel alone.',
  stranger: 'You ({person}) are not among the "actors" of this channel: nothing was done.',
  late: 'Nobody listened when this was written: nothing was done. Write it again.',
  strange: 'This button is of another version of lowwater, or was changed.',
  formTitle: 'Ordered',
  formAmount: 'Amount',
  formBy: 'Arrives by (a day, such as friday or 2026-11-27; empty: after the lead time)',
  formSend: 'Ordered',
  form: 'Write: {command} {account} {amount} by friday',
  badAmount: 'Not done: "{said}" is not an amount above 0.',
  badCurrency: 'Not done: this account is in {currency}. Write that or no currency, not "{said}".',
  badDay: 'Not done: "{said}" is not a day such as friday or 2026-11-27.',
  badTime: 'Not done: "{said}" is not a length of time such as 2h or 3d.',
  unknown: 'This is no command, and nothing was done.\n{help}',
  help: 'status – what fires\npay – what to pay by when\nwhy ACCOUNT – the numbers behind it\ntake ACCOUNT – acknowledge what fires\nquiet ACCOUNT 2h COMMENT – no messages for a while\nordered ACCOUNT 1400 by friday – money is on its way\nhelp – this',
});

const unclear = {
  amount: says.badAmount,
  currency: says.badCurrency,
  day: says.badDay,
  time: says.badTime,
};

/** Older messages than this, from a time when nobody listened, are not answered: their writers have helped themselves since. */
const maxAgeMs = 10 * minuteMs;

/** The service of the daemon that owns the accounts for people in chats. */
export function createChatAnswers(state: MonitorState, views: LiveViews, now: () => number): AnswerChat {
  return async (event) => {
    const chat = new Chat(state, views, event, now());
    try {
      return await chat.answer();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // It was done here, and may be stored: only who owns the accounts knows.
      const isUnsure = error.kind === 'fenced';
      return chat.alone(isUnsure ? sayAgain(error.message, chat.reader) : say(says.notStored, chat.reader));
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
  readonly #look: LookUp;
  readonly #event: ChatEvent;
  readonly #person: string;

  constructor(state: MonitorState, views: LiveViews, event: ChatEvent, now: number) {
    const { settings } = state;
    const language =
      settings.channels.find(({ name }) => name === event.channel)?.language ?? settings.language;
    this.reader = { language: languageNamed(language), timezone: settings.timezone, now };
    this.#state = state;
    this.#views = views;
    this.#look = new LookUp(state, views, this.reader);
    this.#event = event;
    this.#person = cleanText(event.person.name, 60) || event.person.id;
  }

  async answer(): Promise<ChatAnswer> {
    const { said, standing, chat, person } = this.#event;
    if (standing === 'elsewhere') return this.alone(say(says.elsewhere, { chat }, this.reader));
    if (standing === 'stranger') return this.alone(say(says.stranger, { person: person.id }, this.reader));
    if (said.kind === 'text') {
      if (this.#isLate) return this.#alone(says.late);
      const named = this.#look.withId(said.text);
      if (typeof named === 'string') return this.alone(named);
      const currencyOf = (called: string): string => {
        const account = this.#look.accountCalled(called);
        return typeof account === 'string' ? '' : unitIn(account);
      };
      return this.#obey(readCommand(named.text, this.reader, currencyOf));
    }
    const pressed = readPressed(said.data.split(' ', 1)[0] ?? '');
    if (pressed === null) return this.#alone(says.strange);
    if (isTest(pressed.incident)) return this.#alone(says.test);
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
    const alert = await this.#look.alertOf(incident);
    if (alert === null) return this.#over(incident);
    if (verb === 'why') return this.alone(this.#look.story(alert));
    if (alert.severity !== severity)
      return this.alone(say(says.isNow, { severity: saySeverity(alert.severity, this.reader) }, this.reader));
    if (verb === 'ordered') return this.#askAmount(alert, { verb, incident, severity });
    if (verb === 'acknowledge' && alert.acknowledged !== null)
      return this.alone(say(says.has, { person: cleanText(alert.acknowledged.by, 60) }, this.reader));
    // An alert is taken late as well; quiet is counted from when it was asked for.
    const until = quietUntil(verb, this.#isLate ? this.#at : this.reader.now, this.reader.timezone);
    if (until !== null && until <= this.reader.now) return this.#alone(says.late);
    const { account, rule } = alert;
    const seen = { incident, severity };
    return until === null
      ? this.#take([{ kind: 'acknowledge', account, rule, comment: '', seen }])
      : this.#quiet({ account: [account], rule: [rule] }, until, '', { account, rule, ...seen });
  }

  async #over(incident: string): Promise<ChatAnswer> {
    const again = await this.#look.alertAgain(incident);
    if (again === null) return this.#alone(says.over);
    return this.alone(say(says.again, { severity: saySeverity(again.severity, this.reader) }, this.reader));
  }

  async #obey(command: Command): Promise<ChatAnswer> {
    switch (command.kind) {
      case 'status':
        return this.#everybody(await this.#look.status());
      case 'pay':
        return this.#everybody(await this.#look.payments());
      case 'help':
        return this.#alone(says.help);
      case 'unknown':
        return this.alone(say(says.unknown, { help: say(says.help, this.reader) }, this.reader));
      case 'unclear':
        return this.#unclear(command);
    }
    const account = this.#look.accountCalled(command.account);
    if (typeof account === 'string') return this.alone(account);
    switch (command.kind) {
      case 'why':
        return this.#everybody(await this.#look.why(account, command.rule));
      case 'take': {
        const firing = await this.#look.firing(account.id);
        const open = firing.filter(
          ({ rule, acknowledged }) => acknowledged === null && (command.rule ?? rule) === rule,
        );
        if (open.length === 0) return this.alone(this.#look.sayFiring(account, firing));
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

  #unclear({ about, said, currency = '' }: Omit<Unclear, 'kind'>): ChatAnswer {
    return this.alone(say(unclear[about], { said: cleanText(said, 40), currency }, this.reader));
  }

  async #take(orders: readonly Wanted<'acknowledge'>[]): Promise<ChatAnswer> {
    const answers = await this.#answersTo(orders);
    const tries = orders.map(({ account, rule }, index) => ({
      name: `${account} ${rule}`,
      undone: this.#sayUndone(answers[index] ?? {}, says.has),
    }));
    const done = tries.filter(({ undone }) => undone === null).map(({ name }) => name);
    const undone = tries.flatMap((it) => (it.undone === null ? [] : [{ ...it, undone: it.undone }]));
    const [first] = undone;
    if (first !== undefined && orders.length === 1) return this.alone(first.undone);
    const alerts = this.reader.language.list(done);
    const lines = [
      ...(done.length === 0 ? [] : [say(says.taken, { person: this.#person, alerts }, this.reader)]),
      ...undone.map((it) => labelled(it.name, it.undone)),
    ];
    return { text: lines.join('\n'), isPublic: done.length > 0 };
  }

  async #quiet(
    match: Wanted<'silence'>['match'],
    endsAt: number,
    comment: string,
    seen?: Wanted<'silence'>['seen'],
  ): Promise<ChatAnswer> {
    const window = { everything: false, startsAt: this.reader.now, endsAt, comment: cleanText(comment, 500) };
    const order = { kind: 'silence', match, ...window, ...(seen && { seen }) } as const;
    const refused = await this.#give(order, says.quietBefore);
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
    const refused = await this.#give(order);
    if (refused !== null) return refused;
    const topUp = account.expected.at(-1);
    const currency = unitIn(account, topUp?.balance ?? balance);
    const amount = sayAmount(micros, { ...this.reader, currency });
    const moment = sayNearMoment(topUp?.by ?? by ?? this.reader.now, this.reader);
    const given = { person: this.#person, amount, account: nameOf(account.settings), moment };
    return this.#everybody(say(says.ordered, given, this.reader));
  }

  /** Null where it was done; what is refused, or was done before, is said to whoever asked. */
  async #give(order: Wanted, before = says.has): Promise<ChatAnswer | null> {
    const [answer = {}] = await this.#answersTo([order]);
    const undone = this.#sayUndone(answer, before);
    return undone === null ? null : this.alone(undone);
  }

  #answersTo(orders: readonly Wanted[]): Promise<readonly object[]> {
    const { channel, chat, id, person } = this.#event;
    const from = { door: 'chat', address: `${channel} ${chat} ${person.id}` } as const;
    const { random } = this.#state;
    const given = { by: this.#person, from, at: this.reader.now, random };
    return this.#views.orders(
      orders.map((order, index) => makeOrder(order, { ...given, orderId: `${channel} ${id} ${index}` })),
    );
  }

  #sayUndone(answer: object, before: typeof says.has): string | null {
    if (isRefusal(answer)) return this.#sayRefusal(answer);
    return wasDoneBefore(answer) ? say(before, { person: cleanText(answer.doneBy, 60) }, this.reader) : null;
  }

  #sayRefusal({ refused, about, ...refusal }: Refusal): string {
    const why = sayAgain(refusal.why, this.reader);
    if (about === 'expected') return say(says.orderedBefore, { why }, this.reader);
    return refused === 'repeated' ? say(says.done, this.reader) : say(says.notDone, { why }, this.reader);
  }

  #askAmount(alert: AlertView, pressed: Pressed): ChatAnswer {
    const account = this.#state.accounts.get(alert.account);
    if (account === undefined) return this.alone(say(says.over, this.reader));
    const payment = this.#look.itemOf(alert)?.account?.payment ?? null;
    const { point } = this.reader.language.marks;
    const value = payment === null ? '' : formatMicros(payment.micros).replace('.', point);
    const command = `${this.#event.prefix ?? ''}ordered`;
    const known = account.expected.filter(({ balance }) => balance === alert.balance).map(({ id }) => id);
    return {
      ...this.alone(say(says.form, { command, account: account.id, amount: value || '1400' }, this.reader)),
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
    const alert = await this.#look.alertOf(incident);
    const account = alert && this.#state.accounts.get(alert.account);
    if (alert === null || account == null) return this.#over(incident);
    const balance = alert.balance ?? undefined;
    const money = readMoney(form.amount.trim().split(/\s+/), this.reader, unitIn(account, balance));
    if ('kind' in money) return this.#unclear(money);
    if (money.rest.length > 0) return this.#unclear({ about: 'amount', said: form.amount });
    const by = form.by.trim() === '' ? null : readDay(form.by.trim(), this.reader);
    if (by === null && form.by.trim() !== '') return this.#unclear({ about: 'day', said: form.by });
    const [, ...expected] = form.data.split(' ');
    return this.#order(account, { ...money, by, comment: '' }, { expected }, balance);
  }

  #everybody(text: string): ChatAnswer {
    return { text, isPublic: true };
  }
}
