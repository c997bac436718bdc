import type { Dispatcher } from 'undici';
import type { Ping } from '../daemon/daemon-dependencies.ts';
import type { Secret } from '../domain/secret.ts';
import { startDeadline } from '../net/deadline.ts';
import { openHttpConnections, placeOf, readStart } from '../net/http-post.ts';
import type { Clock } from '../ports/clock.ts';

const deadlineMs = 10_000;

/** Reaches the heartbeat's URL with a GET, which every such service takes. True when it answers with 2xx in time. */
export function createPing(clock: Clock): Ping {
  let current: { readonly url: Secret; readonly dispatcher: Dispatcher } | null = null;

  function connectionsTo(url: Secret): Dispatcher {
    if (current !== null && current.url === url) return current.dispatcher;
    void current?.dispatcher.close();
    current = { url, dispatcher: openHttpConnections(url, { clock }) };
    return current.dispatcher;
  }

  return async (url, signal) => {
    const deadline = startDeadline({ clock, afterMs: deadlineMs, outer: signal });
    try {
      const dispatcher = connectionsTo(url);
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
