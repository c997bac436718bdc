import { keyOf } from '../domain/json.ts';
import { startHttpService } from '../net/http-service.ts';

export interface ReceivedMessage {
  readonly title: string;
  readonly lines: readonly string[];
}

export interface DemoReceiver {
  /** The channel that sends to it, as it would stand in a configuration. */
  readonly channel: object;
  /** Somebody presses *Acknowledge* below its newest message; false if there is none. */
  press?(): boolean;
  close(): Promise<void>;
}

/** A receiver of JSON by POST, which answers as the real one does when it takes a message. */
export async function receivePosts(receiver: {
  readonly channel: (origin: string) => object;
  readonly received: (body: string) => void;
  readonly answer: { readonly status: number; readonly body: string };
}): Promise<DemoReceiver> {
  const { url, close } = await startHttpService(
    { port: 0, host: '127.0.0.1' },
    (_request, response, body) => {
      receiver.received(body ?? '');
      const { status, body: said } = receiver.answer;
      response.writeHead(status, { 'content-type': 'application/json' }).end(said);
    },
  );
  return { channel: receiver.channel(url), close };
}

/** The text of a card as a person reads it: texts in their order, names with their values, links as buttons. Other JSON is left out. */
export function readCard(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    const isLinks = value.length > 0 && value.every((each) => typeof keyOf(each, 'url') === 'string');
    return isLinks ? [value.map((link) => `[${readText(link)}]`).join(' ')] : value.flatMap(readCard);
  }
  const { title, value: figure } = { title: null, value: null, ...value };
  if (typeof title === 'string' && typeof figure === 'string') return [`${title}: ${figure}`];
  return Object.entries(value).flatMap(([key, each]) =>
    ['text', 'content'].includes(key) && typeof each === 'string'
      ? each.replace(/^\*+([^*\n]+)\*+\n/, '$1: ').split(/\n+/)
      : readCard(each),
  );
}

function readText(link: unknown): string {
  const title = keyOf(link, 'title');
  return typeof title === 'string' ? title : readCard(link).join(' ');
}
