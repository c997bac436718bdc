import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { SendingGuard } from '../../ports/provider.ts';
import type { ProviderAnswer } from '../kind.ts';

/** The most bytes of an answer: a larger one is given up. The bytes that arrive are counted; encoded bodies are not read at all. */
export const maxBodyBytes = 64 * 1024;

/** A rate limit, or a refusal that says when to come again, counts as an answer even if its body is never complete. */
function saysEnough(status: number, headers: IncomingHttpHeaders): boolean {
  return status === 429 || (status >= 400 && headers['retry-after'] !== undefined);
}

/** Decodes UTF-8, as JSON always is. Other text, such as UTF-16 with its NULs, is decoded by the charset that the answer names, if known. */
function decode(bytes: Buffer, { 'content-type': type = '' }: IncomingHttpHeaders): string {
  const charset = /;\s*charset="?([\w.:-]+)/i.exec(type)?.[1];
  if (charset === undefined || (isUtf8(bytes) && !bytes.includes(0))) return bytes.toString();
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString();
  }
}

/** The end of one HTTP exchange. `error` is what undici reported. */
export type ExchangeEnd =
  | (ProviderAnswer & { readonly kind: 'answered' })
  /** `isShort`: fewer bytes came than were announced. */
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      readonly answerBegun: boolean;
      readonly isShort: boolean;
    }
  | { readonly kind: 'timeout' }
  /** Nothing could be sent, for a reason of the request. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'aborted' };

const ended = new Error('the exchange is over');

/** Thrown at the instant of sending: undici then drops the request and keeps the connection. */
const notYet = new Error('the guard lets nothing be sent yet');

export interface ExchangeOwner {
  readonly guard: SendingGuard;
  settle(end: ExchangeEnd): void;
  holdBack(waitMs: number): void;
}

/**
 * One request on the wire, from dispatch to its end. A handler for undici is used instead of `request`: it costs a quarter less, can be ended
 * while the connection is still being made, and counts the bytes as they come.
 *
 * Exactly one of two functions is called, once. `settle` gets the end; what arrives afterwards is dropped and its connection closed.
 * `holdBack` is called when the guard says at the instant of sending that the request must come later: then nothing was sent.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #owner: ExchangeOwner;
  #controller: Dispatcher.DispatchController | null = null;
  #over = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(owner: ExchangeOwner) {
    this.#owner = owner;
  }

  /** Gives up at once, in any state of the exchange. */
  giveUp(kind: 'timeout' | 'aborted'): void {
    this.#end(kind === 'timeout' ? this.#cutOff({ kind }) : { kind });
    this.#controller?.abort(ended);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The exchange was given up while the connection was being made: nothing must be sent now.
    if (this.#over) {
      controller.abort(ended);
      return;
    }
    const waitMs = this.#owner.guard();
    if (waitMs > 0) {
      this.#over = true;
      this.#owner.holdBack(waitMs);
      throw notYet;
    }
    this.#controller = controller;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && !/^(?:identity)?$/i.test(encoding))
      this.#leaveUnread(controller, 'encoded');
    else if (Number(headers['content-length']) > maxBodyBytes) this.#leaveUnread(controller, 'too-large');
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBodyBytes) this.#leaveUnread(controller, 'too-large');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    const body = decode(whole, this.#headers);
    this.#end({ kind: 'answered', status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: unknown, error: unknown): void {
    const isShort = this.#bytes < Number(this.#headers['content-length']);
    this.#end(this.#cutOff({ kind: 'failed', error, answerBegun: this.#status !== 0, isShort }));
  }

  #cutOff(end: ExchangeEnd): ExchangeEnd {
    if (!saysEnough(this.#status, this.#headers)) return end;
    return this.#unreadable('cut-off');
  }

  #unreadable(problem: 'too-large' | 'encoded' | 'cut-off'): ExchangeEnd {
    return { kind: 'answered', status: this.#status, headers: this.#headers, body: null, problem };
  }

  #leaveUnread(controller: Dispatcher.DispatchController, problem: 'too-large' | 'encoded'): void {
    this.#end(this.#unreadable(problem));
    controller.abort(ended);
  }

  #end(end: ExchangeEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#chunks = [];
    this.#owner.settle(end);
  }
}
