import type { Message } from '../domain/message.ts';
import type { Clock } from '../domain/ports.ts';
import type { Secret } from '../domain/secret.ts';
import { type AnswerTable, classifyAnswer } from './answers.ts';
import type { HttpAnswer } from './http-answer.ts';
import { deliverWithin, openHttpConnections, postOnce } from './http-post.ts';
import type { Sender } from './kind.ts';
import { tryRender } from './rendering.ts';

/** One attempt to post a body: everything that may differ from try to try, such as a signature over the time. */
export interface Attempt {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostSenderOptions {
  /** The receiver: connections are kept to it, past a proxy where it is this machine. */
  readonly address: Secret;
  readonly clock: Clock;
  readonly table: AnswerTable;
  /** The bodies of a message, posted one after the other. All of them go out again when one is not taken. */
  readonly render: (message: Message) => readonly string[];
  readonly prepare: (body: string, it: { readonly id: string; readonly now: number }) => Attempt;
  /** Other credentials that an answer might repeat. */
  readonly hidden?: readonly Secret[];
  /** For the whole exchange. */
  readonly timeoutMs?: number;
}

/** A sender that posts JSON and knows by its table what the answer means. */
export function openPostSender(options: PostSenderOptions): Sender {
  const { address, clock, table, render, prepare, hidden = [], timeoutMs = 15_000 } = options;
  const dispatcher = openHttpConnections(address);
  return {
    async send(message, outer) {
      const bodies = tryRender(() => render(message));
      if ('failed' in bodies) return bodies.failed;
      return deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
        let said: string | undefined;
        for (const body of bodies.rendered) {
          const { url, headers, body: sent } = prepare(body, { id: message.id, now: clock.now() });
          const answer = await postOnce({
            url,
            headers: { 'content-type': 'application/json', 'user-agent': 'lowwater', ...headers },
            body: sent,
            signal,
            dispatcher,
          });
          const delivery = classifyAnswer(
            table,
            withoutCredentials(answer, [address, ...hidden]),
            clock.now(),
          );
          if (delivery.kind !== 'delivered') return delivery;
          said = delivery.said;
        }
        return said === undefined ? { kind: 'delivered' } : { kind: 'delivered', said };
      });
    },
    preview: async (message) => render(message).join('\n'),
    close: () => dispatcher.destroy(),
  };
}

/** An answer without what it repeats of the credentials that it was sent: the parts of an address that are long enough for one. */
function withoutCredentials(answer: HttpAnswer, secrets: readonly Secret[]): HttpAnswer {
  const words = secrets
    .flatMap((secret) => secret.reveal().split(/[/?&=#]/))
    .filter((word) => word.length >= 8 && !word.includes('.'));
  return { ...answer, body: words.reduce((text, word) => text.replaceAll(word, '…'), answer.body) };
}
