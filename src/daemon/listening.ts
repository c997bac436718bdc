import { minuteMs } from '../domain/time.ts';
import { noteTrouble } from '../engine/self-alerts.ts';
import type {
  AnswerChat,
  Channel,
  ChannelChat,
  ChannelListener,
  ChatAnswer,
  Heard,
} from '../ports/channel.ts';
import { sentences } from '../wording/phrase.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

const told = sentences('lostChats', { of: '{channel}: {reason}', both: '{first}; {next}' });

/** A chat that cannot be heard for longer is reported on the other channels. */
const patienceMs = 10 * minuteMs;

interface HeardChannel {
  readonly name: string;
  readonly chat: ChannelChat;
}

/** Listens to the chats of channels while this daemon owns the accounts. No poll and no message waits for it. */
export class Listening {
  readonly #parts: Pick<DaemonParts, 'state'>;
  readonly #closed: () => void;
  /** The number of closing listeners that still answer the last event. */
  #closing = 0;
  #answer: AnswerChat | null = null;
  #open: readonly { readonly names: readonly string[]; readonly listener: ChannelListener }[] = [];
  /** Since when a channel hears nothing, by name. A new configuration does not reset it. */
  readonly #lostSince = new Map<string, number>();

  constructor(parts: Pick<DaemonParts, 'state'>, closed: () => void) {
    this.#parts = parts;
    this.#closed = closed;
  }

  get running(): number {
    return this.#closing;
  }

  /** `answer` executes what people ask for. */
  begin(answer: AnswerChat, channels: readonly Channel[]): void {
    this.#answer = answer;
    this.adopt(channels);
  }

  /** Applies the channels of a new configuration. */
  adopt(channels: readonly Channel[]): void {
    this.stop();
    const answer = this.#answer;
    if (answer === null) return;
    const heard = channels.flatMap(({ name, chat }) => (chat === undefined ? [] : [{ name, chat }]));
    for (const name of this.#lostSince.keys())
      if (!heard.some((channel) => channel.name === name)) this.#lostSince.delete(name);
    this.#open = [...Map.groupBy(heard, ({ chat }) => chat.bot).values()].flatMap((sharing) => {
      const listener = sharing[0]?.chat.listen((event) => answerFor(sharing, event, answer));
      return listener === undefined ? [] : [{ names: sharing.map(({ name }) => name), listener }];
    });
  }

  /** Each channel that listens, with the reason why it hears nothing, if it does not. */
  states(): readonly { readonly name: string; readonly problem: ReturnType<ChannelListener['problem']> }[] {
    return this.#open.flatMap(({ names, listener }) => {
      const problem = listener.problem();
      return names.map((name) => {
        const since = this.#lostSince.get(name);
        return { name, problem: problem && { ...problem, since: since ?? problem.since } };
      });
    });
  }

  /** A reported problem is over only when all chats are heard again. A listener that has just started does not count as heard. */
  check(now: number): void {
    if (this.#answer === null) return;
    const lost = this.states().flatMap(({ name, problem }) => {
      if (problem === null) this.#lostSince.delete(name);
      else this.#lostSince.set(name, problem.since);
      return problem === null ? [] : [{ name, ...problem }];
    });
    const long = lost
      .filter(({ since }) => now - since > patienceMs)
      .map(({ name, reason }) => told.of({ channel: name, reason }));
    const problem = long.length === 0 ? null : long.reduce((first, next) => told.both({ first, next }));
    if (lost.length === 0 || problem !== null) noteTrouble(this.#parts.state, 'hearing', problem, now);
  }

  /** After a clock change, an earlier loss has lasted as long as before. A loss that began during the change begins now. */
  shift(byMs: number, now: number): void {
    for (const { name, problem } of this.states()) {
      const since = this.#lostSince.get(name);
      if (problem !== null) this.#lostSince.set(name, since === undefined ? now : since + byMs);
    }
  }

  stop(): void {
    for (const { listener } of this.#open) void this.#close(listener);
    this.#open = [];
  }

  async #close(listener: ChannelListener): Promise<void> {
    this.#closing += 1;
    await listener.close();
    this.#closing -= 1;
    this.#closed();
  }
}

/** Of the channels that share a bot, picks the one with the event's chat and topic; else one where the person may act. */
async function answerFor(
  sharing: readonly HeardChannel[],
  heard: Heard,
  answer: AnswerChat,
): Promise<ChatAnswer> {
  const all = await Promise.all(
    sharing.map(async ({ name, chat }) => ({
      ...heard,
      channel: name,
      standing: await chat.standing(heard),
    })),
  );
  const own = all.filter(
    ({ standing }, index) => standing !== 'elsewhere' && sharing[index]?.chat.topic === heard.topic,
  );
  const events = own.length > 0 ? own : all;
  const event =
    events.find(({ standing }) => standing === 'may act') ??
    events.find(({ standing }) => standing === 'stranger') ??
    events[0];
  return event === undefined ? { text: '', isPublic: false } : answer(event);
}
