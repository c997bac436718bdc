import type * as z from 'zod';
import type { ForeignTexts } from '../domain/foreign-text.ts';
import type { ChannelSettings } from '../domain/settings.ts';
import type { Channel, ChannelChat, ChannelListener } from '../ports/channel.ts';
import type { Clock } from '../ports/clock.ts';
import type { DocumentedAnswer } from './answers.ts';
import type { DemoReceiver, ReceivedMessage } from './demo-receiver.ts';

/** A sender delivers the messages of one channel. `send` never rejects. */
export type Sender = Pick<Channel, 'send' | 'preview' | 'close'>;

export interface SenderDependencies {
  readonly clock: Clock;
  /** A receiver's words go through this filter before anybody sees them. */
  readonly texts: ForeignTexts;
  /** How long one attempt may take; absent: as long as the kind gives it. */
  readonly timeoutMs?: number;
}

/** A chat whose listener is loaded when it is needed. */
export interface LoadedChat extends Omit<ChannelChat, 'listen'> {
  listen(...answer: Parameters<ChannelChat['listen']>): Promise<ChannelListener>;
}

/**
 * Everything that sets one kind of channel apart from the others. Loading a sender costs time (mostly for a package), and only `openSender`
 * does it: reading and checking a configuration loads none.
 *
 * These are methods, not properties, on purpose: TypeScript compares the parameters of methods both ways, so that a kind that knows its own
 * settings can be in the registry with the others. `kindOf` finds the kind by the type that its own `build` wrote.
 */
export interface ChannelKind<
  Config extends { readonly type: string } = { readonly type: string },
  Own extends ChannelSettings = ChannelSettings,
> extends Pick<Channel, 'threadsBySubject' | 'drawsAlerts' | 'restateEveryMs'> {
  readonly type: string;
  /** Its part of the file, with a description of every key; `type` is a literal. */
  readonly schema: z.ZodObject;
  /** The rules between its keys, as they stand in the file. */
  check?(channel: ChannelDraft): readonly ChannelWarning[];
  build(name: string, config: Config): Own;
  /** The target of messages without its credentials: for `validate`. */
  describe(settings: Own): string;
  /** The keys of a channel to this address, for `init`; null if it is not of this kind. The most certain kind is taken. */
  keysAt?(address: URL): {
    readonly keys: Readonly<Record<string, string>>;
    readonly isCertain: boolean;
    /** A key with a list that the address does not tell. */
    readonly recipients?: { readonly key: string; readonly question: string };
  } | null;
  /** Warnings of things that are allowed but perhaps not meant, each with its key. */
  findWarnings?(settings: Own, house: ChannelSurroundings): readonly ChannelWarning[];
  /** The pace at which the receiver takes messages. The source stands in a comment. */
  pace(settings: Own): Pick<Channel, 'minGapMs' | 'maxConcurrent' | 'paceKey'>;
  openSender(settings: Own, dependencies: SenderDependencies): Promise<Sender>;
  /** Its chat, if the settings ask to hear it, otherwise null. */
  chatOf?(settings: Own, dependencies: SenderDependencies): LoadedChat | null;
  /** False if reports would wake people: then none is sent. */
  readonly takesReports?: boolean;
  /** The answers of its receiver and their meaning, as its page in docs/channels.md lists it. */
  readonly answers: readonly DocumentedAnswer[];
  /** A receiver for the demo, which gets what a person would see; loaded only there. */
  openDemoReceiver(received: (message: ReceivedMessage) => void): Promise<DemoReceiver>;
  /** A receiver in which people press buttons, for those who ask for the kind by name. */
  openDemoChat?(received: (message: ReceivedMessage) => void): Promise<DemoReceiver>;
}

export interface ChannelDraft {
  /** The value at a key; undefined if there is none, or if it could not be resolved. */
  read(key: string): unknown;
  /** The ids that are used to ask for the balances of the accounts. */
  readonly credentials: ReadonlySet<string>;
}

interface ChannelWarning {
  readonly key: string;
  readonly message: string;
}

export interface ChannelSurroundings {
  /** Host names of the providers whose balances are watched. */
  readonly providerHosts: readonly string[];
}
