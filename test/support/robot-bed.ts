import { expect, it } from 'vitest';
import type { Message } from '../../src/domain/message.ts';
import { type Sending, sendThrough } from './channel-bed.ts';
import { hostileNames } from './hostile-text.ts';
import { buildItem, buildMessage, everyMessage } from './messages.ts';

/** How the receiver answers what is posted to it. */
export type Answer = Parameters<typeof sendThrough>[0]['answer'];

type Send = (
  answer: Answer,
  it?: { readonly message?: Message } & Readonly<Record<string, unknown>>,
) => Promise<Sending>;

/** Sends to a robot by a channel of this configuration, with other keys above it where a test says so. */
export function sendBy(config: (origin: string) => object): Send {
  return (answer, { message, ...keys } = {}) =>
    sendThrough({
      config: (origin) => ({ ...config(origin), ...keys }),
      answer,
      ...(message === undefined ? {} : { message }),
    });
}

/** What every robot has to do, within a `describe` of it. */
export function takesEveryMessage(send: Send, robot: Answer): void {
  it.each(Object.entries(everyMessage()))('takes every message: %s', async (_name, message) => {
    expect((await send(robot, { message })).delivery).toMatchObject({ kind: 'delivered' });
  });
}

/** Messages of fifty notices each, about accounts that are called what nobody should call them. */
export function hostileMessages(moreNames: readonly string[] = []): readonly Message[] {
  return [...Object.values(hostileNames), ...moreNames].map((accountName) =>
    buildMessage(Array.from({ length: 50 }, () => buildItem({ accountName }))),
  );
}
