import { isRefusal, type Refusal, refuse } from '../domain/operator.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { Random } from '../ports/clock.ts';
import type { OrderReach } from '../ports/orders.ts';
import { auditedOrders, pruneAudit, recordAudit } from './audit.ts';
import {
  type DoneBefore,
  type GivenOrder,
  givenShape,
  type OrderBody,
  type OrderKind,
  type OrderShape,
} from './orders/kind.ts';
import { nameOf, refusals } from './orders/refusals.ts';
import { type Done, type OperatorOrder, type OrderName, orderKinds } from './orders/registry.ts';
import type { MonitorState } from './state.ts';

export type { GivenOrder, OrderBody } from './orders/kind.ts';
export type { Done, OperatorOrder, OrderName } from './orders/registry.ts';

export type Answered<Order extends Pick<OperatorOrder, 'kind'>> = Done<Order['kind']> | Refusal;

/** The kind and details of an order, as a door says them. */
export type Wanted<Name extends OrderName = OrderName> = Name extends OrderName
  ? Omit<OperatorOrder<Name>, keyof GivenOrder>
  : never;

const kinds: ReadonlyMap<string, OrderKind<string, OrderShape, object>> = new Map(
  orderKinds.map((kind) => [kind.kind, kind]),
);

/** An order with who gave it, from where and when. `orderId`: given if the act has an id of its own, by which it is known again. */
export function makeOrder<Order extends Wanted>(
  wanted: Order,
  given: Omit<GivenOrder, 'orderId'> & { readonly orderId?: string; readonly random: Random },
): OperatorOrder & Pick<Order, 'kind'> {
  const { random, orderId = random.id(), ...person } = given;
  // A kind with its details, and the parts that every order has, are an order of that kind.
  return { ...wanted, ...person, orderId } as unknown as OperatorOrder & Pick<Order, 'kind'>;
}

/** Applies an order, with its entry in the audit, in the same turn and so in the same commit. An order that came before is refused. */
export function applyOrder<Order extends OperatorOrder>(
  state: MonitorState,
  order: Order,
  now: number,
  reach: OrderReach,
): Answered<Order> {
  // One order has one answer.
  return applyOrders(state, [order], now, reach)[0] as Answered<Order>;
}

/** `applyOrder` for many in one turn: one answer for each, in their order. */
export function applyOrders<Order extends OperatorOrder>(
  state: MonitorState,
  orders: readonly Order[],
  now: number,
  reach: OrderReach,
): readonly Answered<Order>[] {
  const obeyed = auditedOrders(state);
  const answers = orders.map((order) => {
    if (obeyed.has(order.orderId)) return refuse('repeated', refusals.doneBefore());
    const kind = kindOf(order.kind);
    const answer = kind.apply(state, order, now, reach);
    if (isRefusal(answer) || wasDoneBefore(answer)) return answer;
    obeyed.add(order.orderId);
    const said = kind.describe(order);
    const note = recordAudit(
      state,
      { ...entryOf(order, kind.action ?? kind.kind, now), ...said },
      order.orderId,
    );
    if (kind.isPassing !== true) state.acts.set(note, writeDone(state, order));
    return answer;
  });
  pruneAudit(state, now);
  // Each kind answers its own orders.
  return answers as readonly Answered<Order>[];
}

/** Whether the act was done before: if two people order one act, it is done once, and the answer to the second says who did it. */
export function wasDoneBefore(answer: object): answer is Required<DoneBefore> {
  return 'doneBy' in answer;
}

function kindOf(name: string): OrderKind<string, OrderShape, object> {
  const kind = kinds.get(name);
  if (kind === undefined) throw new Error(`there is no kind of order called ${name}`);
  return kind;
}

type Giver = Omit<GivenOrder, 'at' | 'orderId'>;

function entryOf({ by, from }: Giver, action: string, at: number) {
  return { at, by, from: from.address, action, account: null, rule: null, detail: '' };
}

/** Programs of 0.3 take an order that they do not know for a silence: they stop if there is none, and refuse one without a length. */
const noSilence = { match: {}, startsAt: 0, endsAt: 0 };

/** The order as it is left in the database, where programs of 0.3 can read it too. */
export function writeOrder(order: OperatorOrder): OrderBody {
  const { since, leave } = kindOf(order.kind);
  if (since !== undefined) return { ...order, silence: noSilence };
  return leave?.(order) ?? { ...order };
}

/** `writeOrder` for an order that was just done here, for another daemon to do: for the same incident and no later one. */
export function writeDone(state: MonitorState, order: OperatorOrder): OrderBody {
  return writeOrder({ ...order, ...kindOf(order.kind).pin?.(state, order) });
}

/** Whether an owner with this program name carries it out: programs before 0.4 stop at a kind that they do not know. */
export function isKnownTo(program: string, { kind }: Pick<OperatorOrder, 'kind'>): boolean {
  return kindOf(kind).since === undefined || !early.test(program);
}

/** Whether an owner with this program name recognizes an order that it has done: programs before 0.4 know no ids of orders. */
export function obeysOnce(program: string): boolean {
  return !early.test(program);
}

/** Programs before 0.4. */
const early = /^lowwater 0\.[0-3]\./;

/** An order that was left in the database and not done. */
export interface NotDone {
  readonly kind: string;
  readonly why: string;
}

const commandLine = { door: 'command line', address: null } as const;

/** Whether it may be an order of a newer program, which this one does not know. */
export function isOfAnotherVersion({ kind }: OrderBody): boolean {
  return typeof kind === 'string' && !kinds.has(kind);
}

/** Reads an order that was left in the database. Programs before 0.4 named the person only in details, and gave orders no id. */
export function readOrder(
  left: OrderBody,
  random: Random,
): { readonly order: OperatorOrder } | { readonly unknown: NotDone } {
  const name = typeof left.kind === 'string' ? left.kind : '';
  const kind = kinds.get(name);
  if (kind === undefined) return unknownOrder(name, 'this version does not know such orders');
  const unsaid = { by: commandLine.door, from: commandLine, orderId: random.id(), at: 0, comment: '' };
  const parsed = givenShape.extend(kind.details).safeParse({ ...unsaid, ...(kind.take?.(left) ?? left) });
  if (!parsed.success) return unknownOrder(name, 'it is not whole');
  // Its kind has just checked it.
  return { order: { ...parsed.data, kind: name } as unknown as OperatorOrder };
}

function unknownOrder(kind: string, why: string): { readonly unknown: NotDone } {
  return { unknown: { kind: cleanText(kind, 60) || 'an order without a kind', why } };
}

/**
 * Does what was left in the database. The answer to its giver was that it is done, or will be. So the audit names once, with its content, an order
 * that this version does not know, one that is refused, and one that somebody else did meanwhile.
 */
export function takeLeftOrder(
  state: MonitorState,
  left: OrderBody,
  now: number,
  reach: OrderReach,
): NotDone | null {
  const read = readOrder(left, state.random);
  if ('unknown' in read) {
    const by = typeof left.by === 'string' ? cleanText(left.by, maxDetailLength) : commandLine.door;
    return recordNotDone(state, left, { ...read.unknown, by, from: commandLine }, now);
  }
  const { order } = read;
  const answer = applyOrder(state, order, now, reach);
  if (isRefusal(answer) && answer.refused === 'repeated') return null;
  if (isRefusal(answer)) return recordNotDone(state, left, { ...order, why: answer.why }, now);
  if (!wasDoneBefore(answer)) return null;
  return recordNotDone(state, left, { ...order, why: `${nameOf(answer.doneBy)} did it before` }, now);
}

function recordNotDone(
  state: MonitorState,
  left: OrderBody,
  { kind, why, by, from }: NotDone & Giver,
  now: number,
): NotDone {
  const detail = cleanText(`not done: ${why}: ${JSON.stringify(left)}`, maxDetailLength);
  const orderId = typeof left.orderId === 'string' ? left.orderId : JSON.stringify(left);
  if (!auditedOrders(state).has(orderId))
    recordAudit(state, { ...entryOf({ by, from }, kind, now), detail }, orderId);
  return { kind, why };
}

const maxDetailLength = 500;
