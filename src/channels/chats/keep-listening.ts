import type { Dispatcher } from 'undici';
import { minuteMs, secondMs } from '../../domain/duration.ts';
import type { ChannelListener, ChatEvent } from '../../ports/channel.ts';
import type { Clock } from '../../ports/clock.ts';

const minPauseMs = secondMs;
const maxPauseMs = minuteMs;

/** `listen` hears until its connection ends, and says why; pauses grow until one lasted as long as the longest. */
export function keepListening(
  { clock, dispatcher }: { readonly clock: Clock; readonly dispatcher: Dispatcher },
  listen: (signal: AbortSignal, connected: () => void) => Promise<string>,
): ChannelListener {
  const ending = new AbortController();
  const { signal } = ending;
  let problem: ReturnType<ChannelListener['problem']> = { since: clock.now(), reason: 'not connected yet' };
  let pauseMs = minPauseMs;
  let cancel = (): void => {};

  async function connect(): Promise<void> {
    let connectedAt: number | null = null;
    const reason = await listen(signal, () => {
      connectedAt ??= clock.monotonic();
      problem = null;
    });
    if (signal.aborted) return;
    problem = { since: problem?.since ?? clock.now(), reason };
    if (connectedAt !== null && clock.monotonic() - connectedAt > maxPauseMs) pauseMs = minPauseMs;
    cancel = clock.setTimer(pauseMs, () => void connect());
    pauseMs = Math.min(2 * pauseMs, maxPauseMs);
  }

  void connect();
  return {
    problem: () => problem,
    close() {
      ending.abort();
      cancel();
      void dispatcher.destroy();
    },
  };
}

/** `actors`: who may act; everybody in the chat where it is null. */
export function standingOf(
  event: { readonly chat: string; readonly person: string },
  own: { readonly chat: string; readonly actors: readonly string[] | null },
): ChatEvent['standing'] {
  if (own.actors !== null && !own.actors.includes(event.person)) return 'stranger';
  return event.chat === own.chat ? 'may act' : 'elsewhere';
}
