import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { parseAccept } from 'hono/utils/accept';
import type { Answered, Done, Wanted } from '../engine/orders.ts';
import type { LiveViews } from '../views/live-views.ts';
import type { Attempts } from './attempts.ts';
import type { EventStreams } from './events.ts';
import type { ServerLimits, WebServerOptions } from './options.ts';
import type { Scope } from './page/words.ts';
import type { Sessions } from './session.ts';

/** The options with which the server was started, and its state while it runs. */
export interface Site extends WebServerOptions {
  readonly limits: ServerLimits;
  /** Null if no token is set: then everybody who reaches the server is trusted. */
  readonly sessions: Sessions | null;
  readonly attempts: Attempts;
  readonly streams: EventStreams;
}

/** Gives the orders of a request. `by` is the typed name: the trusted proxy's comes before it, and the name of the door after it. */
export interface Door {
  /** Throws a `RequestError` if the order is refused. */
  give<Order extends Wanted>(wanted: Order, by?: string): Promise<Done<Order['kind']>>;
  /** Gives several orders in one turn. Returns one answer for each. */
  giveAll<Order extends Wanted>(wanted: readonly Order[], by?: string): Promise<readonly Answered<Order>[]>;
}

export interface WebEnv {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    readonly site: Site;
    readonly views: LiveViews;
    readonly signedIn: boolean;
    /** The person that the trusted proxy names; null if it names nobody. */
    readonly person: string | null;
    readonly door: Door;
    /** The instant of the request, read once. */
    readonly now: number;
    /** The scope in the time zone of this browser. */
    readonly scope: Scope;
    /** Ends an answer that failed while it was sent, with a line in the log. */
    readonly cutOff: (error: unknown) => void;
  };
}

export type WebApp = Hono<WebEnv>;
export type WebContext = Context<WebEnv>;

/** Whether a client accepts gzip (RFC 9110 12.5.3): a weight of 0 means that it does not. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const codings = parseAccept(acceptEncoding ?? '');
  const found =
    codings.find(({ type }) => type.toLowerCase() === 'gzip') ?? codings.find(({ type }) => type === '*');
  return found !== undefined && found.q > 0;
}
