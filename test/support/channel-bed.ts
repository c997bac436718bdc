import type { ServerResponse } from 'node:http';
import { createChannel } from '../../src/channels/registry.ts';
import type { Message } from '../../src/domain/message.ts';
import type { Delivery } from '../../src/ports/channel.ts';
import { systemClock } from '../../src/system/clock.ts';
import { type ReceivedPost, startHttpReceiver } from './http-receiver.ts';
import { buildMessage } from './messages.ts';
import { channelOf, textsAround } from './settings.ts';

export interface Sending {
  readonly delivery: Delivery;
  readonly posts: readonly ReceivedPost[];
}

/** Sends a message through a channel as the configuration builds it, to a receiver on loopback that answers as `answer` says. */
export async function sendThrough(it: {
  readonly config: (origin: string) => object;
  readonly answer: (response: ServerResponse, post: ReceivedPost, count: number) => void;
  readonly message?: Message;
}): Promise<Sending> {
  const receiver = await startHttpReceiver(it.answer);
  const config = it.config(`http://127.0.0.1:${receiver.port}`);
  const settings = channelOf('ops', config);
  const channel = createChannel(settings, {
    clock: systemClock,
    texts: textsAround(settings),
  });
  try {
    const delivery = await channel.send(it.message ?? buildMessage(), new AbortController().signal);
    return { delivery, posts: receiver.received };
  } finally {
    await channel.close();
    await receiver.close();
  }
}

/** Answers as JSON. */
export function json(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
