import { isAcknowledged } from '../../domain/alert.ts';
import { keyOf } from '../../domain/json.ts';
import { type AuditEntry, type ExpectedTopUp, isRefusal, type Refusal } from '../../domain/operator.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Silence } from '../../domain/route.ts';
import { auditOfOrders } from '../../engine/audit.ts';
import { openIncidentOf } from '../../engine/orders/acknowledge.ts';
import { topUpIdOf } from '../../engine/orders/expect-top-up.ts';
import { silenceIdOf } from '../../engine/orders/silence.ts';
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

/** The orders of the person who pressed or wrote, and the answer to each: for everybody if the order was done. */
export function createChatOrders(state: MonitorState, views: LiveViews, event: ChatEvent, reader: Reader) {
  const who = cleanText(event.person.name, 60) || event.person.id;
  /** The ids of this event's orders begin with this: one event may give several orders. */
  const orderIds = `${event.channel} ${event.id} `;
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
    const lines = [
      ...(done.length === 0 ? [] : [sayTaken(done)]),
      ...ends.flatMap(({ name, undone }) => (undone === null ? [] : [labelled(name, undone)])),
    ];
    return { text: lines.join('\n'), isPublic: done.length > 0 };
  }

  function sayTaken(names: readonly string[]): string {
    return say(says.taken, { person: who, alerts: reader.language.list(names) }, reader);
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
    return everybody(sayQuiet({ match, endsAt }));
  }

  function sayQuiet({ match, endsAt }: Pick<Silence, 'match' | 'endsAt'>): string {
    const what = [...(match.account ?? []), ...(match.rule ?? [])].join(' ');
    return say(says.quiet, { person: who, what, moment: sayNearMoment(endsAt, reader) }, reader);
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
      // `again` orders a payment in addition to all that are expected.
      seen: { expected: isAgain ? account.expected.map(({ id }) => id) : shown },
      ...(by === null ? {} : { arrivesBy: by }),
      ...(balance === undefined ? {} : { balance }),
    };
    const [ordered = {}] = await answersTo([order]);
    const undone = sayUndone(ordered, says.has);
    if (undone !== null) return alone(undone);
    // Found by its id, because others may have ordered since.
    const topUp = account.expected.find(({ id }) => id === keyOf(ordered, 'id'));
    return everybody(
      sayOrdered(account, {
        amountMicros: micros,
        balance: topUp?.balance ?? balance,
        by: topUp?.by ?? by ?? reader.now,
      }),
    );
  }

  function sayOrdered(
    account: WatchedAccount,
    {
      amountMicros,
      balance,
      by,
    }: Pick<ExpectedTopUp, 'amountMicros' | 'by'> & { readonly balance: string | undefined },
  ): string {
    const amount = sayAmount(amountMicros, { ...reader, currency: unitIn(account, balance) });
    const moment = sayNearMoment(by, reader);
    return say(says.ordered, { person: who, amount, account: nameOf(account.settings), moment }, reader);
  }

  /** The answer to an event that comes again, because nobody may have read the first answer: what still holds. Null if nothing was done. */
  function sayDone(): ChatAnswer | null {
    const entries = auditOfOrders(state, orderIds);
    if (entries.length === 0) return null;
    const said = sayStanding(entries);
    return said === null ? alone(say(says.done, reader)) : everybody(said);
  }

  function sayStanding(entries: readonly AuditEntry[]): string | null {
    const silence = state.silences.get(silenceIdOf(idOf(0)));
    if (silence !== undefined && silence.endsAt > reader.now) return sayQuiet(silence);
    const account = state.accounts.get(entries[0]?.account ?? '');
    const topUp = account?.expected.find(({ id }) => id === topUpIdOf(idOf(0)));
    if (account !== undefined && topUp !== undefined) return sayOrdered(account, topUp);
    const taken = entries.filter(hasIt).map(({ account, rule }) => `${account} ${rule}`);
    return taken.length === 0 ? null : sayTaken(taken);
  }

  /** True while the person who acknowledged the alert still has it. */
  function hasIt({ action, account, rule, by }: AuditEntry): boolean {
    if (action !== 'acknowledge' || account === null || rule === null) return false;
    const incident = openIncidentOf(state, { account, rule });
    return incident !== null && isAcknowledged(incident) && incident.acknowledgement.by === by;
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
    return `${orderIds}${index}`;
  }

  /** Null if the order was done. Otherwise the refusal, or that it was done before, for the person who asked. */
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
