import type { Message } from '../domain/message.ts';

/** Recipients who refused a message for good. */
interface Refused {
  readonly recipients: readonly string[];
  /** Recipients who refused it for now. */
  readonly others: readonly string[];
  readonly refusal: string | undefined;
}

interface Wait {
  readonly afterMs?: number;
  /** The receiver takes no other message before that either. */
  readonly isForAll?: boolean;
}

/** The end of sending one message. `reason` names the cause without quoting an address that is a credential. */
export type Delivery =
  | {
      readonly kind: 'delivered';
      /** Refused for good, while the rest was taken: mail addresses, or names of parts, which are shown to people. */
      readonly refusedRecipients?: readonly string[];
      /** Why, if the receiver said so. */
      readonly refusal?: string;
      /** Refused for now, while the rest was taken: these are tried again alone. */
      readonly owed?: Wait & { readonly recipients: readonly string[]; readonly reason: string };
      /** The receiver's answer, for people. */
      readonly said?: string;
      /** The receiver's name for the message, if later ones can refer to it. */
      readonly receipt?: string;
    }
  /** `unknown`: it may have arrived although nothing says so. `refused`: it surely did not. */
  | (Wait & {
      readonly kind: 'retry';
      readonly certainty: 'refused' | 'unknown';
      /** A message that gets this answer is given up after so many attempts. */
      readonly tries?: number;
      readonly reason: string;
      /** Nobody took it, and these refused it for good: the others are tried again alone. */
      readonly refused?: Refused;
    })
  | { readonly kind: 'dead'; readonly reason: string };

/** The reason why a message did not reach everybody, with who missed it; null when it did. */
export function whyMissed(delivery: Delivery): string | null {
  if (delivery.kind === 'delivered') return wordMissed(delivery);
  const { recipients, refusal } = (delivery.kind === 'retry' ? delivery.refused : undefined) ?? {};
  const refused = wordMissed({ refusedRecipients: recipients, refusal });
  return refused === null ? delivery.reason : `${delivery.reason}; ${refused}`;
}

/** The recipients who missed a message that others took, and why; null when everybody has it. */
export function wordMissed({
  refusedRecipients = [],
  refusal,
  owed,
}: {
  readonly refusedRecipients?: readonly string[] | undefined;
  readonly refusal?: string | undefined;
  readonly owed?: { readonly recipients: readonly string[]; readonly reason: string };
}): string | null {
  const because = (reason: string | undefined): string => (reason === undefined ? '' : ` (${reason})`);
  const missed = [
    ...(refusedRecipients.length === 0
      ? []
      : [`refused for ${refusedRecipients.join(', ')}${because(refusal)}`]),
    ...(owed === undefined ? [] : [`not taken for ${owed.recipients.join(', ')}${because(owed.reason)}`]),
  ];
  return missed.length === 0 ? null : missed.join('; ');
}

/** A place where messages go. Never rejects. */
export interface Channel {
  readonly name: string;
  /** Messages of an incident are one thread, identified by the subject. */
  readonly threadsBySubject?: boolean;
  /** Draws the balances that its alerts are about: readings of days are gathered before it is given a message. */
  readonly drawsAlerts?: boolean;
  /** The receiver forgets what is not repeated: what fires is sent again this often. */
  readonly restateEveryMs?: number;
  /** The number of messages that may be under way at once, 1 by default; never two about one incident: an end would overtake its beginning. */
  readonly maxConcurrent?: number;
  /** The least time between the starts of two messages. */
  readonly minGapMs: number;
  /** Channels with the same key share that time: they send to one receiver. A key may be a secret. */
  readonly paceKey?: string;
  send(message: Message, signal: AbortSignal): Promise<Delivery>;
  /** The message as text, without any credential. */
  preview(message: Message): Promise<string>;
  /** The chat in which people press and write; absent when nobody asked for it. */
  readonly chat?: ChannelChat;
  close(): Promise<void>;
}

/** Whether something happened in a channel's own chat, and was done by somebody who may act there. */
export type Standing = 'may act' | 'stranger' | 'elsewhere';

export interface ChannelChat {
  /** Channels with the same bot are heard by one connection, which brings what happens in the chats of all. May be a secret. */
  readonly bot: string;
  /** The topic in the chat in which its messages stand: of several channels with one chat, that of the topic is asked first. */
  readonly topic?: string | undefined;
  standing(heard: Pick<Heard, 'chat' | 'alias' | 'person'>): Promise<Standing>;
  listen(answer: (heard: Heard) => Promise<ChatAnswer>): ChannelListener;
}

/** Something that a person pressed or wrote, for a bot. */
export interface Heard {
  /** The same if the receiver sends it again. */
  readonly id: string;
  readonly person: { readonly id: string; readonly name: string };
  /** The receiver's name for the chat. */
  readonly chat: string;
  /** Another name that a configuration may give the chat. */
  readonly alias?: string;
  /** The beginning of a command in this chat; absent when none is needed. */
  readonly prefix?: string;
  /** The topic in the chat in which it was pressed or written. */
  readonly topic?: string | undefined;
  /** When it was written, milliseconds since 1970; absent when the receiver does not say. */
  readonly at?: number;
  readonly said:
    | { readonly kind: 'button'; readonly data: string }
    | { readonly kind: 'text'; readonly text: string; readonly isEdited?: boolean }
    /** A form that an answer asked to be filled in. */
    | { readonly kind: 'form'; readonly data: string; readonly amount: string; readonly by: string };
}

/** The same, with the one of lowwater's channels that it belongs to. */
export interface ChatEvent extends Heard {
  readonly channel: string;
  readonly standing: Standing;
}

export interface ChatAnswer {
  readonly text: string;
  /** Whether everybody in the chat sees it: what somebody did is for all, the answer to a question only for the person who asked. */
  readonly isPublic: boolean;
  /** The questions, if the receiver can show a form. */
  readonly form?: {
    readonly title: string;
    readonly data: string;
    readonly amount: { readonly label: string; readonly value: string };
    readonly by: { readonly label: string; readonly value: string; readonly isOptional: boolean };
    readonly send: string;
  };
}

/** Never rejects. */
export type AnswerChat = (event: ChatEvent) => Promise<ChatAnswer>;

export interface ChannelListener {
  /** Why nothing is heard, and since when; null while the channel hears. */
  problem(): { readonly since: number; readonly reason: string } | null;
  /** Hears nothing more; resolves once what was heard is answered, within seconds. */
  close(): Promise<void>;
}
