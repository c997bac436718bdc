import type { Message } from '../domain/message.ts';

/** How sending one message ended. `reason` names the cause without quoting an address that is a credential. */
export type Delivery =
  | {
      readonly kind: 'delivered';
      /** Refused for good, while the rest was taken: mail addresses, or names of parts, which are shown to people. */
      readonly refusedRecipients?: readonly string[];
      /** Why, where the receiver said so. */
      readonly refusal?: string;
      /** Refused for now, while the rest was taken: these are tried again alone. */
      readonly owed?: {
        readonly recipients: readonly string[];
        readonly reason: string;
        readonly afterMs?: number;
      };
      /** What the receiver answered, for people. */
      readonly said?: string;
      /** What the receiver calls the message, where what follows can refer to it. */
      readonly receipt?: string;
    }
  /** `unknown`: it may have arrived although nothing says so. `refused`: it surely did not. */
  | {
      readonly kind: 'retry';
      readonly certainty: 'refused' | 'unknown';
      readonly afterMs?: number;
      /** A message that was answered so is given up after so many attempts. */
      readonly tries?: number;
      readonly reason: string;
    }
  | { readonly kind: 'dead'; readonly reason: string };

/** A place where messages go. Never rejects. */
export interface Channel {
  readonly name: string;
  /** Messages of an incident are one thread, identified by the subject. */
  readonly threadsBySubject?: boolean;
  /** Draws the balances that its alerts are about: readings of days are gathered for it before it is given a message. */
  readonly drawsAlerts?: boolean;
  /** The receiver forgets what is not repeated: what fires is sent again this often. */
  readonly restateEveryMs?: number;
  /** How many may be under way at once, 1 by default; never two about one incident: an end would overtake its beginning. */
  readonly maxConcurrent?: number;
  /** The least time between the starts of two messages. */
  readonly minGapMs: number;
  /** Channels with the same key share that time: they send to one receiver. A key may be a secret. */
  readonly paceKey?: string;
  send(message: Message, signal: AbortSignal): Promise<Delivery>;
  /** What would go out, as text and without any credential. */
  preview(message: Message): Promise<string>;
  close(): Promise<void>;
}
