import type { Message } from '../domain/message.ts';
import type { Secret } from '../domain/secret.ts';
import type { Card } from '../messages/message-wording.ts';
import { renderFitting } from '../messages/render-fitting.ts';
import type { HttpAnswer } from '../net/http-answer.ts';
import { deliverWithin, openHttpConnections, postOnce } from '../net/http-post.ts';
import { type AnswerTable, classifyAnswer } from './answers.ts';
import { deliverParts, type MessagePart, tryRender } from './deliver-parts.ts';
import type { Sender, SenderDependencies } from './kind.ts';

/** One attempt to post a body: everything that may differ between tries, such as a signature over the time. */
export interface Attempt {
  /** `POST` when absent. */
  readonly method?: 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostedPart extends MessagePart {
  /** Shown to people who ask what goes out: without secrets. */
  readonly body: string;
}

interface PostSenderOptions<Part extends PostedPart> extends SenderDependencies {
  /** The receiver: connections to it are kept, without a proxy if it is this machine. */
  readonly address: Secret;
  readonly table: AnswerTable;
  readonly render: (message: Message) => readonly Part[];
  readonly prepare: (part: Part, attempt: { readonly id: string; readonly now: number }) => Attempt;
  /** Called with each answer before it is classified. Returns true if the next try goes elsewhere: the tries so far say nothing about it. */
  readonly heard?: (answer: HttpAnswer) => boolean;
}

/** A message as the one body of JSON that says most of it within `maxBytes`. */
export function renderWithin(
  maxBytes: number,
  message: Message,
  draw: (card: Card) => object,
): readonly [PostedPart] {
  const body = renderFitting(message, {
    render: (card) => JSON.stringify(draw(card)),
    fits: (text) => Buffer.byteLength(text) <= maxBytes,
  });
  return [{ name: 'the message', body }];
}

/** A sender that posts JSON and knows by its table what the answer means. */
export function openPostSender<Part extends PostedPart>(options: PostSenderOptions<Part>): Sender {
  const { address, clock, texts, table, render, prepare, heard, timeoutMs = 15_000 } = options;
  const dispatcher = openHttpConnections(address, { clock });
  return {
    async send(message, outer) {
      const parts = tryRender(() => render(message));
      if ('failed' in parts) return parts.failed;
      if (parts.rendered.length === 0)
        return { kind: 'delivered', said: `nothing was sent: ${table.receiver} has no quiet way for it` };
      return deliverParts(parts.rendered, message, (part) =>
        deliverWithin({ clock, afterMs: timeoutMs, outer }, async (signal) => {
          const { method, url, headers, body } = prepare(part, { id: message.id, now: clock.now() });
          const answer = await postOnce({
            ...(method === undefined ? {} : { method }),
            url,
            headers: { 'content-type': 'application/json', 'user-agent': 'lowwater', ...headers },
            body,
            signal,
            dispatcher,
            clock,
          });
          const goesElsewhere = heard?.(answer) === true;
          const delivery = classifyAnswer(table, answer, { now: clock.now(), texts });
          if (!goesElsewhere || delivery.kind !== 'retry') return delivery;
          const { tries: _, ...again } = delivery;
          return again;
        }),
      );
    },
    preview: async (message) =>
      render(message)
        .map(({ body }) => body)
        .join('\n'),
    close: () => dispatcher.destroy(),
  };
}
