import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Dispatcher, WebSocket } from 'undici';
import type { ForeignTexts } from '../../domain/foreign-text.ts';
import { keyOf, parseJson } from '../../domain/json.ts';
import { secondMs } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { unheard } from '../chats/keep-listening.ts';

const receiver = 'Slack';
/** Slack says hello at once, and pings at least every 30 s: a connection that is silent for this long is dead. */
const silenceMs = 90 * secondMs;
/** undici answers pings, and tells of them only here. */
const pings = 'undici:websocket:ping';
/** Slack waits 3 s for an acknowledgement (docs.slack.dev, using Socket Mode): an envelope that takes longer to store is acknowledged before. */
const maxAcknowledgeMs = 2 * secondMs;

export interface Envelope {
  readonly type: unknown;
  /** The earliest time at which its content was written. */
  readonly since: number;
  readonly payload: unknown;
}

interface SocketOptions {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly texts: ForeignTexts;
  readonly signal: AbortSignal;
  readonly connected: () => void;
}

/**
 * Hears envelopes until the connection ends, and returns the reason. `take` resolves once the order of an envelope is stored, because Slack
 * never sends again what is acknowledged. It returns null for an envelope that it does not take, which comes again.
 */
export function hearEnvelopes(
  { url, dispatcher, clock, texts, signal, connected }: SocketOptions,
  take: (envelope: Envelope) => Promise<void> | null,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = new WebSocket(url, { dispatcher });
  const owed = new Set<string>();
  let isEnding = false;
  let cancel = clock.setTimer(silenceMs, silent);
  let aliveAt = 0;
  subscribe(pings, pinged);
  signal.addEventListener('abort', abort, { once: true });
  socket.addEventListener('error', () => end(unheard.lost({ receiver })));
  socket.addEventListener('close', () => end(unheard.closed({ receiver })));
  socket.addEventListener('message', ({ data }) => {
    if (isEnding) return;
    const said = parseJson(String(data));
    // An envelope that comes for the first time was written since the last sign of life, even if this machine's clock is wrong.
    const since = Number(keyOf(said, 'retry_attempt')) > 0 ? 0 : aliveAt;
    alive();
    const type = keyOf(said, 'type');
    if (type === 'hello') connected();
    const reason = texts.clean(String(keyOf(said, 'reason')), 100);
    if (type === 'disconnect') end(unheard.again({ receiver, reason }));
    const id = keyOf(said, 'envelope_id');
    if (typeof id === 'string') hear(id, { type, since, payload: keyOf(said, 'payload') });
  });
  return promise;

  function hear(id: string, envelope: Envelope): void {
    const taken = take(envelope);
    if (taken === null) return;
    owed.add(id);
    const acknowledge = (): void => {
      if (owed.delete(id)) socket.send(JSON.stringify({ envelope_id: id }));
      closeWhenIdle();
    };
    const stopWaiting = clock.setTimer(maxAcknowledgeMs, () => {
      // The order may never be stored: the next listener hears it again.
      if (isEnding) owed.delete(id);
      acknowledge();
    });
    void taken.then(acknowledge).finally(stopWaiting);
  }

  function end(why: string): void {
    cancel();
    unsubscribe(pings, pinged);
    signal.removeEventListener('abort', abort);
    isEnding = true;
    resolve(why);
    closeWhenIdle();
  }

  /** Closes after everything that was heard is acknowledged: Slack would send the rest again. */
  function closeWhenIdle(): void {
    if (isEnding && owed.size === 0) socket.close();
  }

  function abort(): void {
    end('closed');
  }

  function silent(): void {
    end(unheard.silent({ receiver }));
  }

  function alive(): void {
    aliveAt = clock.now();
    cancel();
    cancel = clock.setTimer(silenceMs, silent);
  }

  function pinged(ping: unknown): void {
    if (keyOf(ping, 'websocket') === socket) alive();
  }
}
