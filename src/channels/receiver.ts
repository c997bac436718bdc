import * as z from 'zod';
import type { Message } from '../domain/message.ts';
import type { Secret } from '../domain/secret.ts';
import type { ChannelSettings } from '../domain/settings.ts';
import type { HttpAnswer } from '../net/http-answer.ts';
import type { ChannelChat, ChannelListener, Standing } from '../ports/channel.ts';
import type { SenderDependencies } from './kind.ts';
import type { Mention } from './mention.ts';
import type { Attempt, PostedPart } from './post-sender.ts';

/** A value of JSON whose strings may hold `{{key of the configuration}}` or `{{field of the message}}`. */
export const template = z.json();

/** When an answer fits: by its status, by the value at a path of its JSON, or both. */
const answer = z.strictObject({
  answer: z.string(),
  status: z.array(z.union([z.int(), z.literal('2xx')])).optional(),
  path: z.string().optional(),
  /** The value is one of these; when absent, it is anything except null. */
  equals: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
  /** The value is a whole number, and none of these. */
  except: z.array(z.int()).optional(),
  note: z.string().exactOptional(),
  source: z.string().exactOptional(),
  /** An answer of this kind, as the documentation shows it. */
  example: z.strictObject({ status: z.int(), body: z.union([template, z.string()]).optional() }),
});

const key = z.strictObject({
  description: z.string(),
  /** `address`: the receiver's; `credential`: an address that is a credential; `people`: a list; `flag`: true or false. `text` when absent. */
  kind: z.enum(['address', 'credential', 'secret', 'text', 'people', 'mention', 'flag']).optional(),
  pattern: z.string().optional(),
  allowed: z.string().optional(),
  default: z.string().optional(),
  optional: z.boolean().optional(),
  example: z.string().optional(),
  /** The owner of a credential's address, in a sentence; when absent, the receiver's name. */
  receiver: z.string().optional(),
  /** A rewriting of an address before it is used: an old API answers an address that names no version. */
  sentTo: z.strictObject({ from: z.string(), to: z.string() }).optional(),
  /** Host names that are refused for a credential, and why. */
  refuses: z.strictObject({ hosts: z.string(), message: z.string() }).optional(),
});

const answersKeys = {
  name: z.string(),
  calledInAnswers: z.string().optional(),
  source: z.string(),
  address: z.string(),
  yes: answer,
  no: z.array(
    answer.extend({
      means: z.enum(['refused', 'unknown', 'dead']),
      remedy: z.string().exactOptional(),
      waitMs: z.int().exactOptional(),
      tries: z.int().exactOptional(),
    }),
  ),
  /** The words for any other success, if the usual words do not fit. */
  strange: z.strictObject({ answer: z.string(), remedy: z.string() }).optional(),
  /** The paths of the words to quote, with blanks between; of paths with `|` between, the first with a value counts. Empty for plain text. */
  quote: z.string(),
  /** The place of the seconds to wait: in the body, or in a header. */
  wait: z.string().optional(),
  waitHeader: z.string().optional(),
};

export const receiverKeys = {
  ...answersKeys,
  type: z.string(),
  description: z.string().optional(),
  keys: z.record(z.string(), key),
  signingKey: z.string().optional(),
  /** A key with a list: the message is sent once for each of its values. */
  each: z.string().optional(),
  /** Host names by which `init` knows the address. */
  hosts: z.string().optional(),
  minGapMs: z.int(),
  /** The gap if the channel mentions people: such a message is two. */
  minGapMsWithMention: z.int().optional(),
  /** The warning at an address that is not encrypted, if the usual words do not fit. */
  unencrypted: z.string().optional(),
  /** The quiet way for reports and good news to a receiver that wakes people; null if it has none, so that they are not sent. */
  quietly: z.string().nullable().optional(),
  /** Optional keys of which one must be given; examples have the first. */
  needsOneOf: z.array(z.string()).optional(),
  /** Each message costs money: it must not come from a balance that is watched. */
  spendsBalance: z.boolean().optional(),
};

export const answersSchema = z.strictObject(answersKeys);
export const receiverSchema = z.strictObject(receiverKeys);

/** A receiver of messages by POST, as data: its keys, how fast it takes messages, and what its answers mean. */
export type Receiver = z.input<typeof receiverSchema>;
export type ReceiverAnswers = z.input<typeof answersSchema>;
export type ReceiverKey = z.input<typeof key>;
export type ReceiverAnswer = z.input<typeof answer>;

export interface PostSettings extends ChannelSettings {
  readonly address: Secret;
  /** Values by the name of the key; an empty text for a key that was left out. */
  readonly keys: Readonly<Record<string, Secret | string>>;
  readonly recipients: readonly string[] | null;
  readonly mention: Mention;
}

/** The renderer for one receiver; loaded when the first of its channels is opened. */
export interface PostCode<Part extends PostedPart = PostedPart> {
  render(message: Message, settings: PostSettings): readonly Part[];
  /** Fills in what is a secret or depends on the time. Absent if the body goes to the address as it is. */
  prepare?(
    part: Part,
    settings: PostSettings,
    attempt: { readonly id: string; readonly now: number },
  ): Attempt;
  show?(json: unknown): readonly string[];
  /** Called with each answer before it is classified. True if the next try goes elsewhere. */
  heard?(answer: HttpAnswer, settings: PostSettings): boolean;
}

/** The listener to the chat of a receiver; loaded when a channel listens. */
export interface PostChat {
  standing(
    settings: PostSettings,
    heard: Parameters<ChannelChat['standing']>[0],
    dependencies: SenderDependencies,
  ): Promise<Standing>;
  listen(
    settings: PostSettings,
    dependencies: SenderDependencies,
    ...answer: Parameters<ChannelChat['listen']>
  ): ChannelListener;
}
