import type { IncidentMessage, Message, MessageItem } from '../../src/domain/message.ts';
import type { Channel, Delivery } from '../../src/ports/channel.ts';

/**
 * How a channel answers: `up` takes everything, `down` surely refuses for now, `lost` may have taken it,
 * `dead` refuses for good.
 */
export type Mood =
  | 'up'
  | 'down'
  | 'lost'
  | 'dead'
  | { readonly refuses: readonly string[] }
  /** Recipients that it refuses for now, and for how long. */
  | { readonly owes: readonly string[]; readonly afterMs?: number; readonly isForAll?: boolean }
  /** Nobody takes it: these refuse for good, the others for now. */
  | { readonly refusesAll: readonly string[]; readonly others: readonly string[]; readonly afterMs: number }
  /** Answers with something that is not its own. */
  | { readonly strangeTries: number };

export interface Received {
  readonly at: number;
  readonly message: Message;
  readonly mood: Mood;
}

/** A channel that keeps what it was given, and answers as a test says. */
export class RecordingChannel implements Channel {
  readonly name: string;
  readonly threadsBySubject: boolean;
  readonly drawsAlerts: boolean;
  readonly minGapMs = 1000;
  maxConcurrent?: number;
  paceKey?: string;
  restateEveryMs?: number;
  mood: Mood = 'up';
  /** By the message, where it depends on that. */
  moodFor: ((message: Message) => Mood) | null = null;
  /** Whether it says what it calls each message, where that is the first of an incident. */
  namesMessages = false;
  /** Until when answers are held back. */
  hold: Promise<void> | null = null;
  /** Who reads what arrives. */
  reader: ((message: Message) => void) | null = null;
  /** Every attempt, delivered or not. */
  readonly attempts: Received[] = [];
  readonly #now: () => number;
  #read = 0;

  constructor(it: {
    readonly name: string;
    readonly isMail?: boolean;
    readonly now: () => number;
  }) {
    this.name = it.name;
    this.threadsBySubject = it.isMail ?? false;
    this.drawsAlerts = it.isMail ?? false;
    this.#now = it.now;
  }

  async send(message: Message): Promise<Delivery> {
    const { hold } = this;
    const mood = this.moodFor?.(message) ?? this.mood;
    this.attempts.push({ at: this.#now(), message, mood });
    if (hold !== null) await hold;
    if (mood === 'up' || mood === 'lost') this.reader?.(message);
    if (mood === 'up')
      return this.namesMessages
        ? { kind: 'delivered', receipt: `sent ${this.attempts.length}` }
        : { kind: 'delivered' };
    if (mood === 'down') return { kind: 'retry', certainty: 'refused', reason: 'connection refused' };
    if (mood === 'lost') return { kind: 'retry', certainty: 'unknown', reason: 'the connection was lost' };
    if (mood === 'dead') return { kind: 'dead', reason: 'no_service' };
    if ('strangeTries' in mood) {
      return { kind: 'retry', certainty: 'unknown', tries: mood.strangeTries, reason: 'say it in "accept"' };
    }
    if ('refusesAll' in mood) {
      const { refusesAll: recipients, others, afterMs } = mood;
      const refused = { recipients, others, refusal: '550 no such user' };
      return { kind: 'retry', certainty: 'refused', reason: '451 later', afterMs, refused };
    }
    if ('refuses' in mood) return { kind: 'delivered', refusedRecipients: mood.refuses };
    const { owes: recipients, ...wait } = mood;
    return { kind: 'delivered', owed: { recipients, reason: '451 later', ...wait } };
  }

  async preview(message: Message): Promise<string> {
    return wordMessage(message);
  }

  async close(): Promise<void> {}

  /** What arrived. */
  get delivered(): readonly Received[] {
    return this.attempts.filter(
      ({ mood }) =>
        mood === 'up' || (typeof mood === 'object' && !('strangeTries' in mood) && !('refusesAll' in mood)),
    );
  }

  /** What arrived since the last call, in words. */
  news(): string[] {
    const fresh = this.delivered.slice(this.#read);
    this.#read = this.delivered.length;
    return fresh.map(({ message }) => wordMessage(message));
  }
}

/** "otp/sms-low firing critical; …": what a message says, as tables write it. */
export function wordMessage(message: Message): string {
  if (message.kind === 'incidents') return message.items.map(wordItem).join('; ');
  return message.kind === 'report' ? `report ${message.reportId}` : 'test';
}

export function incidentMessage(received: Received | undefined): IncidentMessage {
  if (received?.message.kind !== 'incidents') throw new Error('no message about incidents arrived');
  return received.message;
}

function wordItem(item: MessageItem): string {
  const why =
    item.resolution === null || item.resolution.kind === 'recovered' ? '' : ` (${item.resolution.kind})`;
  return `${item.incident.account}/${item.rule} ${item.kinds.join('+')} ${item.severity}${why}`;
}
