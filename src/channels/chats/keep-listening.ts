import type { Dispatcher } from 'undici';
import { minuteMs, secondMs } from '../../domain/time.ts';
import { pauseOrEnd } from '../../net/deadline.ts';
import type { ChannelListener, Standing } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';
import { sentences } from '../../wording/phrase.ts';

/** Reasons why a chat is not heard. */
export const unheard = sentences('chatLost', {
  notYet: 'not connected yet',
  lost: 'the connection to {receiver} was lost',
  closed: '{receiver} closed the connection',
  silent: '{receiver} says nothing any more',
  again: '{receiver} asked to connect again ({reason})',
  strange: 'not what {receiver} answers',
  appToken: '{said}: check "appToken": it is an app-level token (xapp-…) with the scope connections:write',
  botToken: '{said}: check "botToken"',
  contested:
    '{said}: another program asks for the updates of this bot, or it has a webhook (deleteWebhook ends that)',
});

const minPauseMs = secondMs;
const maxPauseMs = minuteMs;
/** The time that answers under way have at the end: the process waits a little longer before it ends. */
const finishMs = 5 * secondMs;

/**
 * `listen` hears until its connection ends, and returns the reason. The pauses between connections grow until a connection lasts longer than
 * the pause before it; after one that lasted there is no pause. `answering` ends later than hearing: once `work`, everything that was heard,
 * is done.
 */
export function keepListening(
  { clock, dispatcher }: { readonly clock: Clock; readonly dispatcher: Dispatcher },
  listen: (signal: AbortSignal, connected: () => void, answering: AbortSignal) => Promise<string>,
  work: () => Promise<unknown> = async () => undefined,
): ChannelListener {
  const ending = new AbortController();
  const answering = new AbortController();
  const { signal } = ending;
  let problem: ReturnType<ChannelListener['problem']> = { since: clock.now(), reason: unheard.notYet() };
  let pauseMs = minPauseMs;
  let cancel = (): void => {};

  async function connect(): Promise<void> {
    let connectedAt: number | null = null;
    const connected = (): void => {
      connectedAt ??= clock.monotonic();
      problem = null;
    };
    const reason = await listen(signal, connected, answering.signal);
    if (signal.aborted) return;
    problem = { since: problem?.since ?? clock.now(), reason };
    const lastedMs = connectedAt === null ? 0 : clock.monotonic() - connectedAt;
    if (lastedMs > pauseMs / 2) pauseMs = minPauseMs;
    // Slack ends each connection after some hours. Nobody hears what is pressed until the next one is there.
    cancel = clock.setTimer(lastedMs > maxPauseMs ? 0 : pauseMs, () => void connect());
    pauseMs = Math.min(2 * pauseMs, maxPauseMs);
  }

  void connect();
  return {
    problem: () => problem,
    async close() {
      ending.abort();
      cancel();
      await Promise.race([work(), pauseOrEnd(clock, finishMs, answering.signal)]);
      answering.abort();
      void dispatcher.destroy();
    },
  };
}

/** The acts that a person may do. `actors`: the people who may act; null for everybody in the chat. */
export function standingOf(isOwnChat: boolean, person: string, actors: readonly string[] | null): Standing {
  if (!isOwnChat) return 'elsewhere';
  return actors === null || actors.includes(person) ? 'may act' : 'stranger';
}
