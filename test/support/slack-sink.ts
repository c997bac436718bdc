import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What the receiver does with a message: answers, perhaps late, or takes it and answers nothing, or cuts the
 * connection.
 */
export type SinkAnswer =
  | {
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly delayMs?: number;
    }
  | 'hang'
  | 'reset'
  /** Says 200 and cuts the connection before the body. */
  | 'reset-after-status';

export interface SinkPost {
  /** When it had arrived whole, on the clock of `performance.now()`. */
  readonly at: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The fallback line of a Slack message; empty for anything else. */
  readonly text: string;
  readonly answer: SinkAnswer;
}

export interface SlackSink {
  /** Base address, to be followed by a path. */
  readonly origin: string;
  readonly url: string;
  readonly posts: readonly SinkPost[];
  /** What was answered with 200 and "ok". */
  readonly accepted: () => readonly SinkPost[];
  /** From now on each message meets what `answer` says. */
  behave(answer: (post: Omit<SinkPost, 'answer'>) => SinkAnswer): void;
  close(): Promise<void>;
}

export const accepted = { status: 200, body: 'ok' } as const satisfies SinkAnswer;

/** The secret part of the webhook address. */
export const slackPath = '/services/T0AAAAAAA/B0BBBBBBB/s3cr3t+Webhook/Token==';

/** A receiver of Slack messages, or of webhooks, on loopback. */
export async function startSlackSink(): Promise<SlackSink> {
  const posts: SinkPost[] = [];
  let decide: (post: Omit<SinkPost, 'answer'>) => SinkAnswer = () => accepted;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const post = {
        at: performance.now(),
        path: request.url ?? '/',
        headers: request.headers,
        body,
        text: readText(body),
      };
      const answer = decide(post);
      posts.push({ ...post, answer });
      give(response, answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has such an address.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}${slackPath}`,
    posts,
    accepted: () => posts.filter(({ answer }) => typeof answer === 'object' && answer.status === 200),
    behave: (answer) => {
      decide = answer;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function give(response: ServerResponse, answer: SinkAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (answer === 'reset-after-status') {
    response.writeHead(200, { 'content-length': 2 });
    response.flushHeaders();
    setTimeout(() => response.socket?.resetAndDestroy(), 5);
    return;
  }
  const { status, body = 'ok', headers = {}, delayMs = 0 } = answer;
  const reply = () => response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(body);
  if (delayMs === 0) reply();
  else setTimeout(reply, delayMs);
}

function readText(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    const text = typeof parsed === 'object' && parsed !== null && 'text' in parsed ? parsed.text : null;
    return typeof text === 'string' ? text : '';
  } catch {
    return '';
  }
}
