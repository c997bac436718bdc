import type { ServerResponse } from 'node:http';
import type { Clock } from '../domain/ports.ts';
import type { LiveViews } from '../views/views.ts';
import type { ServerLimits } from './options.ts';
import { RequestError } from './refusal.ts';

/** Changes closer together than this are told once. */
const quietMs = 1_000;
/** A reader that leaves so much unread is gone or hostile. */
const maxUnreadBytes = 16 * 1024;

export const eventsMediaType = 'text/event-stream; charset=utf-8';

interface EventStreamsOptions {
  readonly views: LiveViews;
  readonly clock: Clock;
  readonly limits: ServerLimits;
}

/**
 * Tells open pages that something changed (server-sent events). Events carry no data: a page asks again for
 * what it shows, and so never gets more than its address gives.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #open = new Set<ServerResponse>();
  #unsubscribe: (() => void) | null = null;
  #cancelTell: (() => void) | null = null;
  #cancelHeartbeat: (() => void) | null = null;
  #count = 0;
  #closed = false;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  /** Sends events on this response until it is closed; refuses when too many are open. */
  open(response: ServerResponse): void {
    if (this.#closed || this.#open.size >= this.#options.limits.maxStreams) {
      throw new RequestError('unavailable', 'Too many pages are open; this one does not update by itself.', {
        'retry-after': '60',
      });
    }
    this.#start(response);
  }

  close(): void {
    this.#closed = true;
    for (const response of this.#open) response.end();
    this.#open.clear();
    this.#rest();
  }

  #start(response: ServerResponse): void {
    response.writeHead(200, {
      'content-type': eventsMediaType,
      'x-accel-buffering': 'no',
      connection: 'close',
    });
    response.write('retry: 3000\n\n');
    this.#open.add(response);
    response.on('close', () => {
      this.#open.delete(response);
      if (this.#open.size === 0) this.#rest();
    });
    this.#wake();
  }

  #wake(): void {
    if (this.#unsubscribe !== null) return;
    this.#unsubscribe = this.#options.views.subscribe(() => this.#tellSoon());
    this.#beat();
  }

  /** Nothing runs while nobody looks. */
  #rest(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#cancelTell?.();
    this.#cancelTell = null;
    this.#cancelHeartbeat?.();
    this.#cancelHeartbeat = null;
  }

  #tellSoon(): void {
    this.#cancelTell ??= this.#options.clock.setTimer(quietMs, () => {
      this.#cancelTell = null;
      this.#count += 1;
      this.#write(`event: changed\nid: ${this.#count}\ndata: ${this.#count}\n\n`);
    });
  }

  #beat(): void {
    this.#cancelHeartbeat = this.#options.clock.setTimer(this.#options.limits.heartbeatMs, () => {
      this.#write('event: alive\ndata: 1\n\n');
      this.#beat();
    });
  }

  #write(text: string): void {
    for (const response of this.#open) {
      if (response.writableLength > maxUnreadBytes) response.destroy();
      else response.write(text);
    }
  }
}
