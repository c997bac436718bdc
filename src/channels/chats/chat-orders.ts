import { keyOf } from '../../domain/json.ts';
import { isRefusal, type Refusal } from '../../domain/operator.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { auditedOrders } from '../../engine/audit.ts';
import { makeOrder, type Wanted, wasDoneBefore } from '../../engine/orders.ts';
import type { MonitorState, WatchedAccount } from '../../engine/state.ts';
import type { ChatAnswer, ChatEvent } from '../../ports/channel.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { labelled } from '../../wording/lists.ts';
import { type Reader, sayNearMoment } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { sayAmount } from '../../wording/quantity-wording.ts';
import { sayAgain } from '../../wording/say-again.ts';
import type { Command } from './commands.ts';
import { nameOf, unitIn } from './look-up.ts';

const says = phrases('chat', {
  taken: '{person} has acknowledged {alerts}. Reminders and escalation stop until it is over or gets worse.',
  quiet: '{person}: no messages about {what} until {moment}.',
  ordered: '{person} has ordered {amount} for {account}, expected by {moment}.',
  has: '{person} has it already.',
  quietBefore: '{person} has asked for this already: nothing was done.',
  notDone: 'Not done: {why}.',
  orderedBefore: 'Not done: {why}. If this is another payment, write the same with "again" at its end.',
  done: 'This was done already.',
});

export function alone(text: string): ChatAnswer {
  return { text, isPublic: false };
}

export function everybody(text: string): ChatAnswer {
  return { text, isPublic: true };
}

export type ChatOrders = ReturnType<typeof createChatOrders>;

/** Orders by whoever pressed or wrote, and what is said of each: to everybody where it was done. */
export function createChatOrders(state: MonitorState, views: LiveViews, event: ChatEvent, reader: Reader) {
  const who = cleanText(event.person.name, 60) || event.person.id;
  return { take, quiet, expectTopUp, sayDone, sayHas };

  async function take(orders: readonly Wanted<'acknowledge'>[]): Promise<ChatAnswer> {
    const answers = await answersTo(orders);
    const ends = orders.map(({ account, rule }, index) => ({
      name: `${account} ${rule}`,
      undone: sayUndone(answers[index] ?? {}, says.has),
    }));
    const [only, ...others] = ends;
    if (others.length === 0 && only?.undone) return alone(only.undone);
    const done = ends.filter(({ undone }) => undone === null).map(({ name }) => name);
    const alerts = reader.language.list(done);
    const lines = [
      ...(done.length === 0 ? [] : [say(says.taken, { person: who, alerts }, reader)]),
      ...ends.flatMap(({ name, undone }) => (undone === null ? [] : [labelled(name, undone)])),
    ];
    return { text: lines.join('\n'), isPublic: done.length > 0 };
  }

  async function quiet(
    match: Wanted<'silence'>['match'],
    endsAt: number,
    comment: string,
    seen?: Wanted<'silence'>['seen'],
  ): Promise<ChatAnswer> {
    const window = {
      everything: false,
      startsAt: reader.now,
      endsAt,
      comment: cleanText(comment, 500),
    };
    const order = { kind: 'silence', match, ...window, ...(seen && { seen }) } as const;
    const [answer = {}] = await answersTo([order]);
    const undone = sayUndone(answer, says.quietBefore);
    if (undone !== null) return alone(undone);
    const what = [...(match.account ?? []), ...(match.rule ?? [])].join(' ');
    const given = { person: who, what, moment: sayNearMoment(endsAt, reader) };
    return everybody(say(says.quiet, given, reader));
  }

  async function expectTopUp(
    account: WatchedAccount,
    {
      micros,
      by,
      comment,
      isAgain,
    }: Pick<Extract<Command, { kind: 'ordered' }>, 'micros' | 'by' | 'comment' | 'isAgain'>,
    shown: readonly string[] = [],
    balance?: string,
  ): Promise<ChatAnswer> {
    const order: Wanted<'expect-top-up'> = {
      kind: 'expect-top-up',
      account: account.id,
      amountMicros: micros,
      comment: cleanText(comment, 400),
      // Another payment, whatever is expected.
      seen: { expected: isAgain ? account.expected.map(({ id }) => id) : shown },
      ...(by === null ? {} : { arrivesBy: by }),
      ...(balance === undefined ? {} : { balance }),
    };
    const [ordered = {}] = await answersTo([order]);
    const undone = sayUndone(ordered, says.has);
    if (undone !== null) return alone(undone);
    // Others may have ordered since.
    const topUp = account.expected.find(({ id }) => id === keyOf(ordered, 'id'));
    const currency = unitIn(account, topUp?.balance ?? balance);
    const amount = sayAmount(micros, { ...reader, currency });
    const moment = sayNearMoment(topUp?.by ?? by ?? reader.now, reader);
    const given = { person: who, amount, account: nameOf(account.settings), moment };
    return everybody(say(says.ordered, given, reader));
  }

  /** The answer to an order that comes again: it was done, whatever became of its alert since. Null where nothing was. */
  function sayDone(): ChatAnswer | null {
    return auditedOrders(state).has(idOf(0)) ? alone(say(says.done, reader)) : null;
  }

  function sayHas(by: string): ChatAnswer {
    return alone(sayBefore(says.has, by));
  }

  function answersTo(orders: readonly Wanted[]): Promise<readonly object[]> {
    const { channel, chat, person } = event;
    const from = { door: 'chat', address: `${channel} ${chat} ${person.id}` } as const;
    const { random } = state;
    const given = { by: who, from, at: reader.now, random };
    return views.orders(orders.map((order, index) => makeOrder(order, { ...given, orderId: idOf(index) })));
  }

  function idOf(index: number): string {
    return `${event.channel} ${event.id} ${index}`;
  }

  /** Null where it was done; what is refused, or was done before, is said to whoever asked. */
  function sayUndone(answer: object, before: typeof says.has): string | null {
    if (isRefusal(answer)) return sayRefusal(answer);
    return wasDoneBefore(answer) ? sayBefore(before, answer.doneBy) : null;
  }

  function sayBefore(before: typeof says.has, by: string): string {
    return say(before, { person: cleanText(by, 60) }, reader);
  }

  function sayRefusal({ refused, about, ...refusal }: Refusal): string {
    const why = sayAgain(refusal.why, reader);
    if (about === 'expected') return say(says.orderedBefore, { why }, reader);
    return refused === 'repeated' ? say(says.done, reader) : say(says.notDone, { why }, reader);
  }
}
