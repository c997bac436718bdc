import type { Notification } from '../domain/outbox.ts';
import type { Secret } from '../domain/secret.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import type { Poller } from './poller.ts';

/** A poll or a message that is late by this much stops the heartbeat. */
const overdueMs = 60_000;

const lookAgainMs = 1000;

/**
 * Tells an external watcher that lowwater works (a dead man's switch): only while polls are stored and no
 * poll or message is overdue.
 */
export function createHeartbeat(
  { ping, state, committer, log }: DaemonParts,
  poller: Poller,
  startedAt: number,
) {
  let nextAt = startedAt;
  /** A daemon that dies soon after each start must not look alive. */
  let firstPoll: 'awaited' | 'ended' | 'stored' = 'awaited';
  let busy: AbortController | null = null;
  let wasReached = true;

  async function send(url: Secret): Promise<void> {
    busy = new AbortController();
    const isReached = await ping(url, busy.signal);
    busy = null;
    if (isReached && !wasReached) log.info({}, 'the heartbeat is received again');
    if (!isReached && wasReached) log.warn({}, 'the heartbeat is not received');
    wasReached = isReached;
  }

  function isWell(now: number): boolean {
    // A schedule may ask for no poll soon, such as at night: then none can be stored.
    const resting = poller.running === 0 && poller.nextAt > now + overdueMs;
    const isStored = firstPoll === 'stored' || resting;
    if (committer.failing || !isStored || poller.nextAt < now - overdueMs) return false;
    for (const message of state.messages.values()) if (isOverdue(message, now)) return false;
    return true;
  }

  return {
    nextAt: () => (state.settings.heartbeat === null ? Number.POSITIVE_INFINITY : nextAt),
    /** The settings may have changed. */
    adopt(now: number): void {
      nextAt = Math.min(nextAt, now);
    },
    pollEnded(): void {
      if (firstPoll === 'awaited') firstPoll = 'ended';
    },
    stored(): void {
      if (firstPoll === 'ended') firstPoll = 'stored';
    },
    beat(now: number): void {
      const settings = state.settings.heartbeat;
      if (settings === null || now < nextAt) return;
      const isWellNow = isWell(now);
      // After a failure it is sent as soon as all is well, not after a long interval.
      nextAt = now + (isWellNow ? settings.everyMs : Math.min(settings.everyMs, lookAgainMs));
      if (isWellNow && busy === null) void send(settings.url);
    },
    shift(byMs: number): void {
      nextAt += byMs;
    },
    abandon: () => busy?.abort(),
  };
}

function isOverdue(message: Notification, now: number): boolean {
  if (message.state !== 'pending' || now - message.createdAt <= overdueMs) return false;
  return message.attempts > 0 || message.dueAt < now - overdueMs;
}
