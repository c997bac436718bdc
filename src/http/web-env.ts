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

/** The options that the server was started with, and the state that it keeps while it runs. */
export interface Site extends WebServerOptions {
  readonly limits: ServerLimits;
  /** Null where no token is set: everybody who reaches the server is trusted. */
  readonly sessions: Sessions | null;
  readonly attempts: Attempts;
  readonly streams: EventStreams;
}

/** Orders of whoever sent the request. `by` is what they typed: a name that the trusted proxy gave comes first, and the door is the last. */
export interface Door {
  /** Throws a `RequestError` where it is refused. */
  give<Order extends Wanted>(wanted: Order, by?: string): Promise<Done<Order['kind']>>;
  /** In one turn: one answer for each. */
  giveAll<Order extends Wanted>(wanted: readonly Order[], by?: string): Promise<readonly Answered<Order>[]>;
}

export interface WebEnv {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    readonly site: Site;
    readonly views: LiveViews;
    readonly signedIn: boolean;
    /** The person that the trusted proxy names; null where it names nobody. */
    readonly person: string | null;
    readonly door: Door;
    /** An instant read once for the whole request. */
    readonly now: number;
    /** In the zone that this browser is shown times in. */
    readonly scope: Scope;
    /** Ends an answer that broke while it was sent, with a line in the log. */
    readonly cutOff: (error: unknown) => void;
  };
}

export type WebApp = Hono<WebEnv>;
export type WebContext = Context<WebEnv>;

/** Whether a client takes an answer packed by gzip (RFC 9110 12.5.3): a weight of 0 says that it does not. */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  const codings = parseAccept(acceptEncoding ?? '');
  const found =
    codings.find(({ type }) => type.toLowerCase() === 'gzip') ?? codings.find(({ type }) => type === '*');
  return found !== undefined && found.q > 0;
}
