import { type Notification, waitedMs } from '../domain/outbox.ts';
import type { Secret } from '../domain/secret.ts';
import { minuteMs } from '../domain/time.ts';
import { isUnheard } from '../engine/announce.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import type { Poller } from './poller.ts';

/** A poll or a message that is late by this much stops the heartbeat. */
const overdueMs = 60_000;

const lookAgainMs = 5000;

/** The wait after a failed ping, if the interval is longer: the service elsewhere must not alarm for one lost request. */
const againMs = minuteMs;

/** A dead man's switch: pinged only while polls are stored, none is overdue, and every alert reaches somebody. */
export function createHeartbeat(
  { ping, log, committer, state }: DaemonParts,
  poller: Pick<Poller, 'running' | 'nextAt'>,
  startedAt: number,
) {
  let nextAt = startedAt;
  /** Until the first poll is stored, nothing is pinged: a daemon that dies soon after each start must not look alive. */
  let firstPoll: 'awaited' | 'ended' | 'stored' = 'awaited';
  let busy: AbortController | null = null;
  /** Why the last ping was not received; null when it was. */
  let missed: string | null = null;

  async function send(url: Secret, now: number): Promise<void> {
    busy = new AbortController();
    const reason = await ping(url, busy.signal);
    busy = null;
    if (reason !== null) nextAt = Math.min(nextAt, now + againMs);
    if (reason === null && missed !== null) log.info({}, 'the heartbeat is received again');
    if (reason !== null && reason !== missed) log.warn({ reason }, 'the heartbeat is not received');
    missed = reason;
  }

  function isWell(now: number): boolean {
    // At times a schedule asks for no poll soon, such as at night: then there is none to be stored.
    const resting = poller.running === 0 && poller.nextAt > now + overdueMs;
    const isStored = firstPoll === 'stored' || resting;
    if (committer.failing || !isStored || poller.nextAt < now - overdueMs) return false;
    for (const message of state.messages.values()) if (isOverdue(message, now)) return false;
    for (const incident of state.incidents.values()) if (isUnheard(state, incident, now)) return false;
    return true;
  }

  return {
    get nextAt(): number {
      return state.settings.heartbeat === null ? Number.POSITIVE_INFINITY : nextAt;
    },
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
      const well = isWell(now);
      // After a failure the ping is sent as soon as all is well, not after a long interval.
      nextAt = now + (well ? settings.everyMs : Math.min(settings.everyMs, lookAgainMs));
      if (well && busy === null) void send(settings.url, now);
    },
    shift(byMs: number): void {
      nextAt += byMs;
    },
    abandon: () => busy?.abort(),
  };
}

export function isOverdue(message: Notification, now: number): boolean {
  if (message.state !== 'pending' || waitedMs(message, now) <= overdueMs) return false;
  return message.attempts > 0 || message.dueAt < now - overdueMs;
}
