import type { ServerResponse } from 'node:http';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { Clock } from '../ports/clock.ts';
import type { CurrentViews } from '../views/current-views.ts';
import type { ServerLimits } from './options.ts';
import { type LivePart, withoutInner } from './page/live.ts';
import { RequestError } from './refusal.ts';

/** Changes close together are sent once: the first one after `quietMs`, those after it together after `pauseMs`. */
const quietMs = 1_000;
const pauseMs = 5_000;
/** Pages are read again for a tenth of the time at most, however large they are. */
const restFactor = 10;
/** Pages are also read again without a change, because time alone changes them: a silence ends, a payment is due, a message waits too long. */
const lookAgainMs = 60_000;
/** A reader that leaves more than this unread is gone or hostile. */
const maxUnreadBytes = 256 * 1024;

export const eventsMediaType = 'text/event-stream; charset=utf-8';

/** The pages that the reader of a stream looks at. */
export interface Watched {
  readonly packed: boolean;
  /** Addresses of the open pages, with the parts that each has. If empty, only the fact that something changed is sent. */
  readonly pages: readonly { readonly page: string; readonly have: readonly string[] }[];
  /** The key by which a page looks alike: the reader and the language. A page is read once for all streams with the same value. */
  readonly looks: string;
  /** The parts of a page as it is now; null if it cannot be seen, or no longer. */
  readonly read: (page: string) => Promise<readonly LivePart[] | null>;
}

interface Stream {
  readonly response: ServerResponse;
  readonly packer: Gzip | null;
  readonly watched: Watched;
  /** The digests of the parts that each page has. */
  readonly have: Map<string, ReadonlySet<string>>;
}

/**
 * Sends changes to open pages (server-sent events): each page gets those parts of its own address that differ from what it has, and so
 * never more than its address shows. The pages of a browser share a stream; events name their page by `id`.
 */
export class EventStreams {
  readonly #views: Pick<CurrentViews, 'subscribe'>;
  readonly #clock: Clock;
  readonly #limits: ServerLimits;
  readonly #open = new Set<Stream>();
  /** Functions that cancel what runs while there is an open stream. */
  readonly #cancels = new Map<'views' | 'notify' | 'look' | 'heartbeat', () => void>();
  #restUntil = Number.NEGATIVE_INFINITY;
  /** Reads go one after another, so that newer parts are never sent before older ones. */
  #notifying = Promise.resolve();
  #closed = false;

  constructor(views: Pick<CurrentViews, 'subscribe'>, clock: Clock, limits: ServerLimits) {
    this.#views = views;
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Sends events on this response until it is closed. Throws if too many streams are open. */
  open(response: ServerResponse, watched: Watched): void {
    if (this.#closed || this.#open.size >= this.#limits.maxStreams) {
      throw new RequestError('unavailable', 'Too many pages are open; this one does not update by itself.', {
        'retry-after': '60',
      });
    }
    const stream = this.#start(response, watched);
    // Sends what has changed since the page was made.
    if (watched.pages.length > 0) this.#notifying = this.#notifying.then(() => this.#notify([stream]));
  }

  close(): void {
    this.#closed = true;
    for (const stream of this.#open) end(stream);
    this.#open.clear();
    this.#rest();
  }

  #start(response: ServerResponse, watched: Watched): Stream {
    response.writeHead(200, {
      'content-type': eventsMediaType,
      'x-accel-buffering': 'no',
      connection: 'close',
      ...(watched.packed ? { 'content-encoding': 'gzip' } : {}),
    });
    // Uses less memory per stream than the default: the texts of a stream are similar.
    const packer = watched.packed ? createGzip({ memLevel: 5 }) : null;
    packer?.pipe(response);
    const stream = {
      response,
      packer,
      watched,
      have: new Map(watched.pages.map(({ page, have }) => [page, new Set(have)])),
    };
    this.#open.add(stream);
    write(stream, 'retry: 3000\n\n');
    response.on('close', () => {
      packer?.destroy();
      this.#open.delete(stream);
      if (this.#open.size === 0) this.#rest();
    });
    this.#wake();
    return stream;
  }

  #wake(): void {
    if (this.#cancels.size > 0) return;
    const unsubscribe = this.#views.subscribe(() => this.#notifySoon());
    this.#cancels.set('views', unsubscribe);
    this.#beat();
    this.#lookAgain();
  }

  /** Stops everything: nothing runs while no stream is open. */
  #rest(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }

  #setTimer(name: 'notify' | 'look' | 'heartbeat', ms: number, fire: () => void): void {
    this.#cancels.set(name, this.#clock.setTimer(ms, fire));
  }

  #notifySoon(): void {
    if (this.#cancels.has('notify')) return;
    this.#setTimer('notify', Math.max(quietMs, this.#restUntil - this.#clock.monotonic()), () => {
      // A change that comes while pages are read is sent the next time.
      this.#cancels.delete('notify');
      this.#notifyAll(() => true);
    });
  }

  #lookAgain(): void {
    this.#setTimer('look', Math.max(lookAgainMs, this.#restUntil - this.#clock.monotonic()), () => {
      this.#notifyAll(({ watched }) => watched.pages.length > 0);
      this.#lookAgain();
    });
  }

  #notifyAll(isMeant: (stream: Stream) => boolean): void {
    const clock = this.#clock;
    this.#notifying = this.#notifying.then(async () => {
      const startedAt = clock.monotonic();
      await this.#notify([...this.#open].filter(isMeant));
      const tookMs = clock.monotonic() - startedAt;
      this.#restUntil = startedAt + Math.max(pauseMs, restFactor * tookMs);
    });
  }

  async #notify(streams: readonly Stream[]): Promise<void> {
    const read = new Map<string, readonly LivePart[] | null>();
    for (const stream of streams) {
      const { pages, looks, read: readPage } = stream.watched;
      if (pages.length === 0) write(stream, `event: changed\ndata: {}\n\n`);
      for (const page of stream.have.keys()) {
        const key = `${page}\n${looks}`;
        const parts = read.get(key) ?? (await readPage(page));
        read.set(key, parts);
        if (this.#open.has(stream)) sendParts(stream, page, parts);
      }
    }
  }

  #beat(): void {
    this.#setTimer('heartbeat', this.#limits.heartbeatMs, () => {
      for (const stream of this.#open) write(stream, 'event: alive\ndata: 1\n\n');
      this.#beat();
    });
  }
}

/** Sends the parts that the reader lacks, outer ones first. Ends the stream if the page is gone or may not be seen: the reader finds out why. */
function sendParts(stream: Stream, page: string, parts: readonly LivePart[] | null): void {
  if (parts === null) return void end(stream);
  const have = stream.have.get(page);
  const news = parts.filter(({ digest }) => have?.has(digest) !== true).toReversed();
  stream.have.set(page, new Set(parts.map(({ digest }) => digest)));
  if (news.length === 0) return;
  const data = Object.fromEntries(news.map((part) => [part.key, withoutInner(part)]));
  write(stream, `id: ${page}\nevent: changed\ndata: ${JSON.stringify(data)}\n\n`);
}

function write({ response, packer }: Stream, text: string): void {
  // A stream that was ended stays open until its reader has closed it.
  if (response.destroyed || (packer ?? response).writableEnded) return;
  if (response.writableLength + (packer?.writableLength ?? 0) > maxUnreadBytes)
    return void response.destroy();
  if (packer === null) return void response.write(text);
  packer.write(text);
  packer.flush(constants.Z_SYNC_FLUSH);
}

function end({ response, packer }: Stream): void {
  if (packer === null) response.end();
  else packer.end();
}
