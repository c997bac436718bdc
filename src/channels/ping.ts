import type { Dispatcher } from 'undici';
import type { Ping } from '../daemon/daemon-dependencies.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import type { Secret } from '../domain/secret.ts';
import { isSuccess } from '../net/http-answer.ts';
import { deliverWithin, openHttpConnections, placeOf, readStart } from '../net/http-post.ts';
import { whyMissed } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';

const deadlineMs = 10_000;

/** Calls the heartbeat's URL with a GET, which every such service takes. An answer with 2xx in time means that it was received. */
export function createPing(clock: Clock): Ping {
  const dispatchers = new WeakMap<Secret, Dispatcher>();
  return async (url, outer) => {
    const end = await deliverWithin({ clock, afterMs: deadlineMs, outer }, async (signal) => {
      const dispatcher = getOrMake(dispatchers, url, () => openHttpConnections(url, { clock }));
      const request = { ...placeOf(url.reveal()), method: 'GET', signal } as const;
      const { statusCode: status, body } = await dispatcher.request(request);
      await readStart(body, clock);
      return isSuccess({ status }) ? { kind: 'delivered' } : { kind: 'dead', reason: `HTTP ${status}` };
    });
    return whyMissed(end);
  };
}
