import * as z from 'zod';
import { isUnencrypted } from '../domain/addresses.ts';
import { maxRetryAfterMs } from '../domain/backoff.ts';
import { parseJson } from '../domain/json.ts';
import { Secret, textBehind } from '../domain/secret.ts';
import { type HttpAnswer, isSuccess } from '../net/http-answer.ts';
import { credentialAddress, plainAddress } from '../schema/addresses.ts';
import { filledList, flag, shape } from '../schema/shapes.ts';
import { secret, textLeaf } from '../schema/texts.ts';
import { listWords } from '../wording/lists.ts';
import { keepSentence } from '../wording/phrase.ts';
import { type AnswerTable, commonAnswers, isWebPage, remedies, strangeSuccess, valueAt } from './answers.ts';
import { hostOf, isAtProvider, keysAtHost } from './describe-address.ts';
import type { ChannelKind } from './kind.ts';
import { type Mention, mentionSchema } from './mention.ts';
import type {
  PostChat,
  PostCode,
  PostSettings,
  Receiver,
  ReceiverAnswer,
  ReceiverAnswers,
  ReceiverKey,
} from './receiver.ts';

interface PostConfig {
  readonly type: string;
  readonly mention?: Mention | undefined;
  readonly [key: string]: unknown;
}

/** A kind of channel whose receiver takes JSON or a form by POST: `receiver` describes it, `load` loads its renderer. */
export function postKind(
  receiver: Receiver,
  load: () => Promise<PostCode>,
  loadChat?: () => Promise<PostChat>,
  openDemoChat?: NonNullable<ChannelKind['openDemoChat']>,
): ChannelKind<PostConfig, PostSettings> {
  const { type, name, source, keys, address, signingKey } = receiver;
  const table = answerTable(receiver);
  const {
    description = `Messages by ${name} (${source}).`,
    unencrypted = 'messages and keys travel unencrypted over http://',
    quietly,
  } = receiver;
  return {
    type,
    schema: shape({
      type: z.literal(type).describe(description),
      ...Object.fromEntries(Object.entries(keys).map(([key, data]) => [key, keySchema(name, data)])),
    }),
    build(channel, config) {
      const texts = Object.keys(keys).map((key) => [key, textOf(config[key])] as const);
      const isHidden = (key: string): boolean => ['secret', 'credential'].includes(keys[key]?.kind ?? '');
      const values = texts.map(([key, text]) => {
        const rewritten = keys[key]?.sentTo;
        const sent = rewritten === undefined ? text : text.replace(new RegExp(rewritten.from), rewritten.to);
        return [key, isHidden(key) ? new Secret(sent) : sent] as const;
      });
      const recipients = receiver.each === undefined ? undefined : config[receiver.each];
      // The people who may act there are no part of the place.
      const isPlace = (key: string): boolean =>
        key !== signingKey && (key === receiver.each || !['flag', 'people'].includes(keys[key]?.kind ?? ''));
      const places = texts.flatMap(([key, text]) => (isPlace(key) && text !== '' ? [text] : []));
      return {
        type,
        name: channel,
        place: new Secret(places.join(' ')),
        address: new Secret(textOf(config[address])),
        keys: Object.fromEntries(values),
        recipients: Array.isArray(recipients) ? recipients.map(String) : null,
        mention: config.mention ?? {},
      };
    },
    describe: (settings) =>
      [
        hostOf(settings.address),
        ...Object.entries(keys).flatMap(([key, { kind = 'text' }]) => {
          const value = textBehind(settings.keys[key]);
          if (key === signingKey) return value === '' ? 'unsigned' : 'signed';
          const named = `${key} ${value}`;
          const shown: Partial<Record<typeof kind, string>> = { flag: key, text: named, people: named };
          return value === '' ? [] : (shown[kind] ?? []);
        }),
        ...(quietly === undefined
          ? []
          : [quietly === null ? 'no reports and no good news' : `reports and good news as ${quietly}`]),
      ].join(', '),
    ...(receiver.hosts === undefined ? {} : { keysAt: keysAtHost(new RegExp(receiver.hosts)) }),
    findWarnings: (settings, house) => {
      const key = address;
      const sameAccount =
        'is the provider whose balances are watched: where it is the same account, an alert that it is empty reaches nobody';
      return [
        ...(isUnencrypted(settings.address.reveal()) ? [{ key, message: unencrypted }] : []),
        ...(receiver.spendsBalance && isAtProvider(settings.address, house)
          ? [{ key, message: sameAccount }]
          : []),
      ];
    },
    check({ read, credentials }) {
      const given = receiver.needsOneOf?.filter((key) => read(key) !== undefined);
      const [missing = '', ...others] = given?.length === 0 ? (receiver.needsOneOf ?? []) : [];
      if (missing !== '') return [{ key: missing, message: `is missing; or give ${listWords(others)}` }];
      return Object.keys(keys)
        .filter((key) => receiver.spendsBalance && credentials.has(String(read(key))))
        .slice(0, 1)
        .map((key) => ({
          key,
          message:
            'is that of an account whose balance is watched: when it is empty, nothing pays for the alert. Use another account',
        }));
    },
    pace: ({ place, mention }) => ({
      minGapMs:
        (Object.keys(mention).length === 0 ? null : receiver.minGapMsWithMention) ?? receiver.minGapMs,
      paceKey: place.reveal(),
    }),
    answers: table.rows,
    takesReports: quietly !== null,
    async openSender(settings, dependencies) {
      const [{ openPostSender }, { render, prepare, heard }] = await Promise.all([
        import('./post-sender.ts'),
        load(),
      ]);
      return openPostSender({
        ...dependencies,
        table,
        address: settings.address,
        render: (message) => render(message, settings),
        ...(heard && { heard: (answer: HttpAnswer) => heard(answer, settings) }),
        prepare: (part, attempt) =>
          prepare?.(part, settings, attempt) ?? { url: settings.address.reveal(), body: part.body },
      });
    },
    ...(openDemoChat && { openDemoChat }),
    chatOf: (settings, dependencies) =>
      loadChat === undefined || !listens(settings)
        ? null
        : {
            bot: `${settings.address.reveal()} ${textBehind(settings.keys.botToken)}`,
            topic: textBehind(settings.keys.messageThreadId) || undefined,
            standing: async (heard) => (await loadChat()).standing(settings, heard, dependencies),
            listen: async (answer) => (await loadChat()).listen(settings, dependencies, answer),
          },
    async openDemoReceiver(received) {
      const [{ receivePosts }, { show = linesOf }] = await Promise.all([
        import('./demo-receiver.ts'),
        load(),
      ]);
      const { status, body = '' } = receiver.yes.example;
      return receivePosts({
        channel: (origin) => ({ type, ...exampleKeys(receiver, origin) }),
        received: (sent) => received({ title: name, lines: show(parseJson(sent), sent) }),
        answer: { status, body: typeof body === 'string' ? body : JSON.stringify(body) },
      });
    },
  };
}

/** The keys of a channel as in the examples, with another origin in the address. */
export function exampleKeys(receiver: Receiver, origin?: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(receiver.keys).flatMap(([key, { kind, example = '', optional }]) => {
      if (key !== receiver.address)
        return optional && key !== receiver.needsOneOf?.[0]
          ? []
          : [[key, kind === 'people' ? [example] : example]];
      const { pathname, search } = new URL(example);
      return [[key, origin === undefined ? example : `${origin}${pathname}${search}`]];
    }),
  );
}

function linesOf(json: unknown, sent: string): readonly string[] {
  return json === undefined
    ? [...new URLSearchParams(sent)].flatMap(([field, value]) => `${field}: ${value}`.split('\n'))
    : JSON.stringify(json, null, 2).split('\n');
}

function textOf(value: unknown): string {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' ? value : value === true ? 'true' : '';
}

function keySchema(name: string, key: ReceiverKey): z.ZodType {
  const { description, kind = 'text', pattern = '', refuses, example = '' } = key;
  const { allowed = 'must be a string on one line, not empty' } = key;
  const isSecret = kind === 'secret';
  const leaf = textLeaf<string | Secret>({
    description,
    allowed,
    ...(isSecret ? { isSecret } : { examples: [example] }),
    read: (text) =>
      text === '' || /\p{Cc}/u.test(text) || !new RegExp(pattern, 'u').test(text)
        ? null
        : { value: isSecret ? new Secret(text) : text },
  });
  const schemas = {
    address: () => plainAddress(description),
    credential: () =>
      credentialAddress(description, key.receiver ?? name).refine(
        (address) =>
          refuses === undefined ||
          !new RegExp(refuses.hosts).test(URL.parse(address.reveal())?.hostname ?? ''),
        { error: refuses?.message },
      ),
    secret: () => (key.allowed === undefined ? secret(description) : leaf),
    text: () => leaf,
    flag: () => flag(description),
    people: () => filledList(description, leaf, `${allowed}, in a list`),
    mention: () => mentionSchema({ description, allowed, pattern: new RegExp(pattern) }),
  } as const;
  const schema: z.ZodType = schemas[kind]();
  if (key.default !== undefined) return z.prefault(schema, key.default);
  return key.optional ? schema.optional() : schema;
}

export function answerTable(receiver: ReceiverAnswers): AnswerTable {
  const { name, calledInAnswers = name, yes, no, source, quote, wait, waitHeader } = receiver;
  const said = [...no, receiver.strange].flatMap((row) => row?.remedy ?? []);
  for (const text of calledInAnswers.startsWith('the ') ? [calledInAnswers, ...said] : said)
    keepSentence('receiverFile', text);
  const strange = receiver.strange ?? {
    answer: 'another 2xx, or a web page',
    remedy: remedies.another({ receiver: name, key: receiver.address }),
  };
  return {
    receiver: calledInAnswers,
    quote: (answer) => quoteAnswer(answer, quote),
    readWait: (answer) =>
      readSeconds(wait === undefined ? answer.headers[waitHeader ?? ''] : valueAt(answer, wait)),
    rows: [
      {
        ...yes,
        means: 'delivered',
        fits: (answer) => fitsOf(yes)(answer) && !isWebPage(answer),
        source: yes.source ?? source,
      },
      ...no.map((row) => ({ ...row, fits: fitsOf(row), source: row.source ?? source })),
      strangeSuccess({ ...strange, source }),
      ...commonAnswers,
    ],
  };
}

function quoteAnswer(answer: HttpAnswer, paths: string): string {
  if (paths === '') return parseJson(answer.body) === undefined && !isWebPage(answer) ? answer.body : '';
  const words = paths.split(' ').map((choice) =>
    choice
      .split('|')
      .map((path) => valueAt(answer, path))
      .find((value) => typeof value === 'string' || typeof value === 'number'),
  );
  return words[0] === undefined ? '' : words.filter((word) => word !== undefined).join(' ');
}

function fitsOf({ status, path, equals, except }: ReceiverAnswer): (answer: HttpAnswer) => boolean {
  return (answer) => {
    const isStatus = status?.some((each) => (each === '2xx' ? isSuccess(answer) : each === answer.status));
    if (isStatus === false) return false;
    if (path === undefined) return true;
    const value = valueAt(answer, path);
    if (except !== undefined)
      return typeof value === 'number' && Number.isInteger(value) && !except.includes(value);
    return equals === undefined
      ? value !== undefined && value !== null
      : equals.some((each) => each === value);
  };
}

/** Whether the configuration asks to hear the chat. */
export function listens({ keys }: PostSettings): boolean {
  return textBehind(keys.listen) === 'true';
}

/** A wait that an answer gives in seconds, converted to milliseconds, at most an hour. */
export function readSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  if (typeof seconds !== 'number' || !(seconds > 0)) return null;
  return Math.min(Math.ceil(seconds * 1000), maxRetryAfterMs);
}
