import type { Message } from '../domain/message.ts';
import type { Secret } from '../domain/secret.ts';
import { deliverWithin, openHttpConnections, postOnce } from '../net/http-post.ts';
import { type AnswerTable, classifyAnswer } from './answers.ts';
import type { Sender, SenderDependencies } from './kind.ts';
import { tryRender } from './rendering.ts';

/** One attempt to post a body: everything that may differ from try to try, such as a signature over the time. */
export interface Attempt {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostSenderOptions extends SenderDependencies {
  /** The receiver: connections are kept to it, past a proxy where it is this machine. */
  readonly address: Secret;
  readonly table: AnswerTable;
  /** The bodies of a message, posted one after the other. All of them go out again when one is not taken. */
  readonly render: (message: Message) => readonly string[];
  readonly prepare: (body: string, it: { readonly id: string; readonly now: number }) => Attempt;
  /** For the whole exchange. */
  readonly timeoutMs?: number;
}

/** A sender that posts JSON and knows by its table what the answer means. */
export function openPostSender(options: PostSenderOptions): Sender {
  const { address, clock, texts, table, render, prepare, timeoutMs = 15_000 } = options;
  const dispatcher = openHttpConnections(address, { clock });
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
            clock,
          });
          const delivery = classifyAnswer(table, answer, { now: clock.now(), texts });
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
