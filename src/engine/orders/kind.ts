import * as z from 'zod';
import type { AuditEntry, Refusal } from '../../domain/operator.ts';
import { severities } from '../../domain/severity.ts';
import type { OrderReach } from '../../ports/orders.ts';
import type { MonitorState } from '../state.ts';

/** The doors by which an order comes. A link is one in a message. */
const doors = ['page', 'api', 'command line', 'link', 'chat'] as const;

/** An instant that a Date can express. */
export const instant = z.number().min(-8.64e15).max(8.64e15);

/** The parts that every order has. */
export const givenShape = z.object({
  /** One for each act: an order that comes again is not carried out again. */
  orderId: z.string(),
  /** The name of the person who gave it. */
  by: z.string(),
  from: z.object({
    door: z.enum(doors),
    /** The network address of the person, or their id and the chat; null if the order was left in the database on the machine itself. */
    address: z.string().nullable(),
  }),
  /** When it was given, milliseconds since 1970. */
  at: instant,
});

export type GivenOrder = z.output<typeof givenShape>;

/** The alert as it was seen when the order was given; an absent part is not compared. */
export const seenShape = z.object({
  /** Null if the alert was pending. */
  incident: z.string().nullable().optional(),
  severity: z.enum(severities).optional(),
  /** The person who had acknowledged it: compared when it is given back. */
  holder: z.string().optional(),
});

export type OrderShape = z.core.$ZodLooseShape;

export type OrderOf<Kind extends string, Shape extends OrderShape> = GivenOrder &
  Details<Shape> & { readonly kind: Kind };

/** For a shape without keys, zod infers that every name is forbidden. */
type Details<Shape extends OrderShape> = [keyof Shape] extends [never]
  ? unknown
  : Readonly<z.output<z.ZodObject<Shape>>>;

export type OrderBody = Readonly<Record<string, unknown>>;

/** An act that a person may order, with everything about it except the doors that make such orders. */
export interface OrderKind<Kind extends string, Shape extends OrderShape, Done extends object> {
  readonly kind: Kind;
  /** The audit's name for it. Default: the kind. */
  readonly action?: string;
  /** The first program that takes it from the database: an older owner would stop at it. Absent: 0.3 knows it. */
  readonly since?: '0.4';
  /** Its result is in no record: a daemon that takes the accounts over does not do it again. */
  readonly isPassing?: true;
  /** Its details. They are checked if the order was left in the database, because a program of another version may have left it. */
  readonly details: Shape;
  /** The form in which it is left in the database, if programs before 0.4 want another than its details … */
  leave?(order: OrderOf<Kind, Shape>): OrderBody;
  /** … and the details of an order that was left in this form. */
  take?(left: OrderBody): OrderBody;
  /** Checks the order, and does it; a refused order changes nothing. */
  apply(state: MonitorState, order: OrderOf<Kind, Shape>, now: number, reach: OrderReach): Done | Refusal;
  /** Details that tie an order that was just done to the same incident and no later one, when another daemon does it. */
  pin?(state: MonitorState, order: OrderOf<Kind, Shape>): object;
  /** The audit's words besides who, when and from where. */
  describe(order: OrderOf<Kind, Shape>): Partial<Pick<AuditEntry, 'account' | 'rule' | 'detail'>>;
}

/** Gives the kind back; its order is typed by its details. */
export function orderKind<const Kind extends string, Shape extends OrderShape, Done extends object>(
  kind: OrderKind<Kind, Shape, Done>,
): OrderKind<Kind, Shape, Done> {
  return kind;
}

/** `doneBy`: the person who had done it before. Nothing is changed then, and the audit names only that person. */
export interface DoneBefore {
  readonly doneBy?: string;
}

/** Whether an order repeats the act that `doneBy` did: a message's button pressed by anybody, or a page's pressed twice by one person. */
export function isPressedAgain(
  { from: { door }, by }: Pick<GivenOrder, 'from' | 'by'>,
  doneBy: string,
): boolean {
  return door === 'chat' || door === 'link' || (door === 'page' && by === doneBy);
}

/** The result of an order that has nothing to show. */
export const done: DoneBefore = {};

export function joinDetails(...details: readonly (string | undefined)[]): string {
  return details.filter(Boolean).join(', ');
}
