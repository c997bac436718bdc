import { minuteMs } from '../domain/duration.ts';
import { noteChats } from '../engine/self-alerts.ts';
import type { AnswerChat, Channel, ChannelListener } from '../ports/channel.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** A chat that is lost for longer is told of on the other channels. */
const patienceMs = 10 * minuteMs;

/** Hears the chats of those channels that listen, while this daemon owns the accounts. No poll and no message waits for it. */
export class Listening {
  readonly #parts: Pick<DaemonParts, 'state'>;
  #answer: AnswerChat | null = null;
  #open: readonly { readonly name: string; readonly listener: ChannelListener }[] = [];

  constructor(parts: Pick<DaemonParts, 'state'>) {
    this.#parts = parts;
  }

  /** `answer` does what people ask for. */
  begin(answer: AnswerChat, channels: readonly Channel[]): void {
    this.#answer = answer;
    this.adopt(channels);
  }

  /** Of a new configuration. */
  adopt(channels: readonly Channel[]): void {
    this.stop();
    const answer = this.#answer;
    if (answer === null) return;
    this.#open = channels.flatMap(({ name, listen }) =>
      listen === undefined ? [] : [{ name, listener: listen(answer) }],
    );
  }

  /** Each channel that listens, and why it hears nothing. */
  states(): readonly { readonly name: string; readonly problem: ReturnType<ChannelListener['problem']> }[] {
    return this.#open.map(({ name, listener }) => ({ name, problem: listener.problem() }));
  }

  check(now: number): void {
    const lost = this.states().flatMap(({ name, problem }) =>
      problem !== null && now - problem.since > patienceMs ? [`${name}: ${problem.reason}`] : [],
    );
    noteChats(this.#parts.state, lost.length === 0 ? null : lost.join('; '), now);
  }

  stop(): void {
    for (const { listener } of this.#open) listener.close();
    this.#open = [];
  }
}
