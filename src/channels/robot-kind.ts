import * as z from 'zod';
import type { Message } from '../domain/message.ts';
import type { Secret } from '../domain/secret.ts';
import type { ChannelSettings } from '../domain/settings.ts';
import { shape } from '../schema/shapes.ts';
import type { AnswerTable } from './answers.ts';
import { hostOf, keysAtHost } from './describe-address.ts';
import type { ChannelKind } from './kind.ts';
import type { Mention } from './mention.ts';
import type { Attempt } from './post-sender.ts';

/** What renders and signs for a robot, loaded when the first channel of its kind is opened. */
export interface Robot {
  /** The message as a body, and where the robot needs one a second body that mentions people. */
  render(message: Message, mention: Mention): readonly object[];
  /** Signs a body at the moment of sending. Absent where the address alone is the credential. */
  sign?(order: {
    readonly url: string;
    readonly body: string;
    readonly key: Secret;
    readonly now: number;
  }): Attempt;
  /** Of the demo's receiver: its path, its name, and what it answers as the real one does. */
  readonly demo: {
    readonly path: string;
    readonly title: string;
    readonly answer: { readonly status: number; readonly body: string };
  };
}

interface RobotKeys {
  readonly webhookUrl: z.ZodType<Secret>;
  readonly secret?: z.ZodOptional<z.ZodType<Secret>>;
  readonly mention: z.ZodType<Mention | undefined>;
}

interface RobotConfig {
  readonly type: string;
  readonly webhookUrl: Secret;
  readonly secret?: Secret | undefined;
  readonly mention?: Mention | undefined;
}

interface RobotSettings extends ChannelSettings {
  readonly webhookUrl: Secret;
  readonly secret: Secret | null;
  readonly mention: Mention;
}

/** A kind of channel whose receiver takes JSON at one address that is its credential, and may check a signature. */
export function robotKind(kind: {
  readonly type: string;
  readonly description: string;
  readonly keys: RobotKeys;
  /** Host names by which `init` knows the receiver. */
  readonly hosts: RegExp;
  /** The least time between two messages. */
  readonly minGapMs: (mention: Mention) => number;
  readonly answers: AnswerTable;
  readonly load: () => Promise<Robot>;
}): ChannelKind<RobotConfig, RobotSettings> {
  const signs = kind.keys.secret !== undefined;
  return {
    type: kind.type,
    schema: shape({ type: z.literal(kind.type).meta({ description: kind.description }), ...kind.keys }),
    build: (name, { type, webhookUrl, secret = null, mention = {} }) => ({
      type,
      name,
      place: webhookUrl,
      webhookUrl,
      secret,
      mention,
    }),
    keysAt: keysAtHost(kind.hosts),
    describe: ({ webhookUrl, secret }) =>
      signs ? `${hostOf(webhookUrl)}, ${secret === null ? 'unsigned' : 'signed'}` : hostOf(webhookUrl),
    pace: ({ webhookUrl, mention }) => ({ minGapMs: kind.minGapMs(mention), paceKey: webhookUrl.reveal() }),
    answers: kind.answers.rows,
    async openSender({ webhookUrl, secret: key, mention }, dependencies) {
      const [{ render, sign }, { openPostSender }] = await Promise.all([
        kind.load(),
        import('./post-sender.ts'),
      ]);
      return openPostSender({
        ...dependencies,
        address: webhookUrl,
        table: kind.answers,
        render: (message) =>
          render(message, mention).map((body, index) => ({
            name: index === 0 ? 'the message' : 'the mention',
            body: JSON.stringify(body),
          })),
        prepare: ({ body }, { now }) => {
          const url = webhookUrl.reveal();
          return key === null || sign === undefined ? { url, body } : sign({ url, body, key, now });
        },
      });
    },
    async openDemoReceiver() {
      const [{ demo }, { receivePosts }, { readCard }] = await Promise.all([
        kind.load(),
        import('./listen-on-loopback.ts'),
        import('./read-card.ts'),
      ]);
      return receivePosts({
        channel: (origin) => ({ type: kind.type, webhookUrl: `${origin}${demo.path}` }),
        show: (body) => ({ title: demo.title, lines: readCard(JSON.parse(body)) }),
        answer: demo.answer,
      });
    },
  };
}
