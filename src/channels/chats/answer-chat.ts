import { formatMicros } from '../../domain/money.ts';
import { StorageError } from '../../domain/operator-error.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { minuteMs } from '../../domain/time.ts';
import { rulesHeardIn } from '../../engine/inhibit.ts';
import type { MonitorState } from '../../engine/state.ts';
import { isTest } from '../../engine/test-alert.ts';
import type { AnswerChat, ChatAnswer, ChatEvent } from '../../ports/channel.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { AlertView } from '../../views/views.ts';
import { languageNamed } from '../../wording/language.ts';
import { joinSentences } from '../../wording/lists.ts';
import type { Reader } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAgain } from '../../wording/say-again.ts';
import { saySeverity } from '../../wording/severity-words.ts';
import { type Pressed, quietUntil, readPressed, writePressed } from './buttons.ts';
import { alone, type ChatOrders, createChatOrders, everybody } from './chat-orders.ts';
import { type Command, readAgain, readCommand, readDay, readMoney, type Unclear } from './commands.ts';
import { LookUp, unitIn } from './look-up.ts';

const says = phrases('chat', {
  over: 'This alert is over: nothing was done.',
  notKnown: 'This alert is not known here (it may be of another lowwater): nothing was done.',
  again:
    'This incident is over, but the alert fires again ({severity}): nothing was done. Look at its newest message.',
  test: 'This button belongs to a test message: nothing was done.',
  isNow: 'This alert is {severity} by now: nothing was done. Look at its newest message.',
  notStored: 'Not done: it could not be stored. Try again.',
  elsewhere: 'Nothing is done from this chat ({chat}): lowwater listens in the chat of its channel alone.',
  stranger: 'You ({person}) are not among the "actors" of this channel: nothing was done.',
  late: 'Nobody listened when this was written: nothing was done. Write it again.',
  edited: 'An edited message is no new command: nothing was done. Write it again.',
  strange: 'This button is of another version of lowwater, or was changed.',
  formTitle: 'Ordered',
  formAmount: 'Amount',
  formBy: 'Arrives by (a day, such as friday or 2026-11-27; empty: after the lead time)',
  formDay: 'Arrives by (a day, such as friday or 2026-11-27)',
  formSend: 'Ordered',
  form: 'Write: {command} {account} {amount} by friday',
  badAmount: 'Not done: "{said}" is not an amount above 0.',
  badCurrency: 'Not done: this account is in {currency}. Write that or no currency, not "{said}".',
  badDay: 'Not done: "{said}" is not a day such as friday or 2026-11-27.',
  badTime: 'Not done: "{said}" is not a length of time such as 2h or 3d.',
  unknown: 'This is no command, and nothing was done.\n{help}',
  help: 'status – what fires\npay – what to pay by when\nwhy ACCOUNT – the numbers behind it\ntake ACCOUNT – acknowledge what fires\nquiet ACCOUNT 2h COMMENT – no messages for a while\nordered ACCOUNT 1400 by friday – money is on its way\nhelp – this',
});

const unclear = { amount: says.badAmount, currency: says.badCurrency, day: says.badDay, time: says.badTime };

/** Messages older than this were written while nobody listened. They are not answered: their writers have helped themselves since. */
const maxAgeMs = 10 * minuteMs;

/** Answers people in chats, for the daemon that owns the accounts. */
export function createChatAnswers(state: MonitorState, views: LiveViews, now: () => number): AnswerChat {
  return async (event) => {
    const chat = new Chat(state, views, event, now());
    try {
      await views.refresh();
      return await chat.answer();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // The order was done here and may be stored: only the daemon that owns the accounts knows.
      const isUnsure = error.kind === 'fenced';
      return alone(isUnsure ? sayAgain(error.message, chat.reader) : say(says.notStored, chat.reader));
    }
  };
}

/** One event and its answer, in the language of the channel. */
class Chat {
  readonly reader: Reader;
  readonly #state: MonitorState;
  readonly #look: LookUp;
  readonly #event: ChatEvent;
  readonly #orders: ChatOrders;

  constructor(state: MonitorState, views: LiveViews, event: ChatEvent, now: number) {
    const { settings } = state;
    const language =
      settings.channels.find(({ name }) => name === event.channel)?.language ?? settings.language;
    this.reader = { language: languageNamed(language), timezone: settings.timezone, now };
    this.#state = state;
    this.#look = new LookUp(state, views, this.reader);
    this.#event = event;
    this.#orders = createChatOrders(state, views, event, this.reader);
  }

  async answer(): Promise<ChatAnswer> {
    const { said, standing, chat, person } = this.#event;
    if (standing === 'elsewhere') return alone(say(says.elsewhere, { chat }, this.reader));
    if (standing === 'stranger') return alone(say(says.stranger, { person: person.id }, this.reader));
    const done = this.#orders.sayDone();
    if (done !== null) return done;
    if (said.kind === 'text') {
      if (said.isEdited) return this.#say(says.edited);
      if (this.#isLate) return this.#say(says.late);
      const named = this.#look.withId(said.text);
      if (typeof named === 'string') return alone(named);
      const currencyOf = (called: string): string => {
        const account = this.#look.accountCalled(called);
        return typeof account === 'string' ? '' : unitIn(account);
      };
      return this.#obey(readCommand(named.text, this.reader, currencyOf));
    }
    const pressed = readPressed(said.data.split('\n', 1)[0] ?? '');
    if (pressed === null) return this.#say(says.strange);
    if (isTest(pressed.incident)) return this.#say(says.test);
    return said.kind === 'form' ? this.#filledIn(pressed, said) : this.#press(pressed);
  }

  get #at(): number {
    return this.#event.at ?? this.reader.now;
  }

  get #isLate(): boolean {
    return this.reader.now - this.#at > maxAgeMs;
  }

  #say(phrase: Parameters<typeof say>[0]): ChatAnswer {
    return alone(say(phrase, this.reader));
  }

  async #press({ verb, incident, severity }: Pressed): Promise<ChatAnswer> {
    const alert = await this.#look.alertOf(incident);
    if (alert === null) return this.#over(incident);
    if (verb === 'why') return alone(this.#look.story(alert));
    if (alert.severity !== severity) return this.#sayNow(says.isNow, alert);
    if (verb === 'ordered') return this.#askAmount(alert, { verb, incident, severity });
    if (verb === 'acknowledge' && alert.acknowledged !== null)
      return this.#orders.sayHas(alert.acknowledged.by);
    // An alert can be acknowledged late; a quiet time is counted from when it was asked for.
    const until = quietUntil(verb, this.#isLate ? this.#at : this.reader.now, this.reader.timezone);
    if (until !== null && until <= this.reader.now) return this.#say(says.late);
    const { account, rule } = alert;
    const seen = { incident, severity };
    if (until === null) return this.#orders.take([{ kind: 'acknowledge', account, rule, comment: '', seen }]);
    const match = { account: [account], rule: rulesHeardIn(this.#state, alert) };
    return this.#orders.quiet(match, until, '', { account, rule, ...seen });
  }

  async #over(incident: string): Promise<ChatAnswer> {
    const again = await this.#look.alertAgain(incident);
    if (again === undefined) return this.#say(says.notKnown);
    if (again === null) return this.#say(says.over);
    return this.#sayNow(says.again, again);
  }

  #sayNow(phrase: typeof says.isNow, alert: AlertView): ChatAnswer {
    const severity = saySeverity(alert.severity, this.reader);
    // While the alert is silenced, no message shows its present state.
    return alone(joinSentences([say(phrase, { severity }, this.reader), ...this.#look.silence(alert)]));
  }

  async #obey(command: Command): Promise<ChatAnswer> {
    switch (command.kind) {
      case 'status':
        return everybody(await this.#look.status());
      case 'pay':
        return everybody(await this.#look.payments());
      case 'help':
        return this.#say(says.help);
      case 'unknown':
        return alone(say(says.unknown, { help: say(says.help, this.reader) }, this.reader));
      case 'unclear':
        return this.#unclear(command);
    }
    const account = this.#look.accountCalled(command.account);
    if (typeof account === 'string') return alone(account);
    switch (command.kind) {
      case 'why':
        return everybody(await this.#look.why(account, command.rule));
      case 'take': {
        const firing = await this.#look.firing(account.id);
        const open = firing.filter(({ acknowledged }) => acknowledged === null).map(({ rule }) => rule);
        const rules = command.rule === null ? open : [command.rule];
        if (firing.length === 0) return alone(await this.#look.why(account, null));
        if (rules.length === 0) return alone(this.#look.sayFiring(firing));
        return this.#orders.take(
          rules.map((rule) => ({ kind: 'acknowledge', account: account.id, rule, comment: '' })),
        );
      }
      case 'quiet':
        return this.#orders.quiet(
          { account: [account.id] },
          this.reader.now + command.forMs,
          command.comment,
        );
      case 'ordered':
        return this.#orders.expectTopUp(account, command);
    }
  }

  #unclear({ about, said, currency = '' }: Omit<Unclear, 'kind'>): ChatAnswer {
    return alone(say(unclear[about], { said: cleanText(said, 40), currency }, this.reader));
  }

  #askAmount(alert: AlertView, pressed: Pressed): ChatAnswer {
    const account = this.#state.accounts.get(alert.account);
    if (account === undefined) return this.#say(says.over);
    const payment = this.#look.itemOf(alert)?.account?.payment ?? null;
    const { point } = this.reader.language.marks;
    const value = payment === null ? '' : formatMicros(payment.micros).replace('.', point);
    const command = `${this.#event.prefix ?? ''}ordered`;
    const isOptional = account.settings.leadTimeMs !== null;
    const known = account.expected.filter(({ balance }) => balance === alert.balance).map(({ id }) => id);
    return {
      ...alone(say(says.form, { command, account: account.id, amount: value || '1400' }, this.reader)),
      form: {
        title: say(says.formTitle, this.reader),
        // One a line: the ids of top-ups that were ordered in a chat contain spaces.
        data: [writePressed(pressed), ...known].join('\n'),
        amount: { label: say(says.formAmount, this.reader), value },
        by: { label: say(isOptional ? says.formBy : says.formDay, this.reader), value: '', isOptional },
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
    const { isAgain, words } = readAgain(form.amount.trim().split(/\s+/));
    const money = readMoney(words, this.reader, unitIn(account, balance));
    if ('kind' in money) return this.#unclear(money);
    if (money.rest.length > 0) return this.#unclear({ about: 'amount', said: form.amount });
    const by = form.by.trim() === '' ? null : readDay(form.by.trim(), this.reader);
    if (by === null && form.by.trim() !== '') return this.#unclear({ about: 'day', said: form.by });
    const [, ...shown] = form.data.split('\n');
    return this.#orders.expectTopUp(account, { ...money, by, comment: '', isAgain }, shown, balance);
  }
}
