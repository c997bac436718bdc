import type { Dispatcher } from 'undici';
import type { Ping } from '../daemon/daemon-dependencies.ts';
import { getOrMake } from '../domain/get-or-make.ts';
import type { Secret } from '../domain/secret.ts';
import { startDeadline } from '../net/deadline.ts';
import { openHttpConnections, placeOf, readStart } from '../net/http-post.ts';
import type { Clock } from '../ports/clock.ts';

const deadlineMs = 10_000;

/** Reaches the heartbeat's URL with a GET, which every such service takes. True when it answers with 2xx in time. */
export function createPing(clock: Clock): Ping {
  const dispatchers = new WeakMap<Secret, Dispatcher>();
  return async (url, signal) => {
    const deadline = startDeadline({ clock, afterMs: deadlineMs, outer: signal });
    try {
      const dispatcher = getOrMake(dispatchers, url, () => openHttpConnections(url, { clock }));
      const request = { ...placeOf(url.reveal()), method: 'GET', signal: deadline.signal } as const;
      const response = await deadline.within(dispatcher.request(request));
      await readStart(response.body, clock);
      return response.statusCode >= 200 && response.statusCode < 300;
    } catch {
      // The outside was not reached, for one reason or another; it will notice.
      return false;
    } finally {
      deadline.clear();
    }
  };
}
