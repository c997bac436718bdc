import * as z from 'zod';
import { keyOf, parseJson } from '../../domain/json.ts';
import { Secret } from '../../domain/secret.ts';
import type { ChannelSettings } from '../../domain/settings.ts';
import { type HttpAnswer, jsonOf } from '../../net/http-answer.ts';
import { credentialAddress, plainAddress } from '../../schema/addresses.ts';
import { filledList, shape } from '../../schema/shapes.ts';
import { textLeaf } from '../../schema/texts.ts';
import { strangeSuccess } from '../accept.ts';
import { type AnswerTable, commonAnswers } from '../answers.ts';
import { hostOf, isLoopback, isUnencrypted, keysAtHost } from '../describe-address.ts';
import type { ChannelKind } from '../kind.ts';
import { readSeconds } from '../robot-answers.ts';
import * as files from './all-presets.ts';
import { type Preset, type PresetAnswer, type PresetKey, readPreset } from './preset.ts';
import type { PresetPart } from './preset-parts.ts';

interface PresetConfig {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface PresetSettings extends ChannelSettings {
  readonly address: Secret;
  /** By the name of the key; where it was left out, the empty text. */
  readonly keys: Readonly<Record<string, Secret>>;
  readonly recipients: readonly string[] | null;
}

/** A kind of channel that is made of data. */
export interface PresetKind extends ChannelKind<PresetConfig, PresetSettings> {
  readonly preset: Preset;
}

function presetKind(preset: Preset): PresetKind {
  const { type, name, source, keys, address } = preset;
  const table = tableOf(preset);
  return {
    type,
    preset,
    schema: shape({
      type: z.literal(type).meta({ description: `Messages by ${name} (${source}).` }),
      ...Object.fromEntries(Object.entries(keys).map(([key, data]) => [key, keySchema(name, data)])),
    }),
    build(channel, config) {
      const secrets = Object.fromEntries(
        Object.keys(keys).map((key) => [key, new Secret(textOf(config[key]))]),
      );
      const recipients = preset.each === undefined ? undefined : config[preset.each];
      return {
        type,
        name: channel,
        place: new Secret(
          Object.values(secrets)
            .map((each) => each.reveal())
            .join(' '),
        ),
        address: secrets[address] ?? new Secret(''),
        keys: secrets,
        recipients: Array.isArray(recipients) ? recipients.map(String) : null,
      };
    },
    describe: (settings) =>
      [
        hostOf(settings.address),
        ...Object.entries(keys).flatMap(([key, { kind }]) => {
          const value = settings.keys[key]?.reveal() ?? '';
          return (kind === 'text' || kind === 'people') && value !== '' ? [`${key} ${value}`] : [];
        }),
      ].join(', '),
    ...(preset.hosts === undefined ? {} : { keysAt: keysAtHost(new RegExp(preset.hosts)) }),
    findWarnings: (settings, { providerHosts }) => [
      ...(isUnencrypted(settings.address)
        ? [{ key: address, message: 'messages and keys travel unencrypted over http://' }]
        : []),
      ...(preset.spendsBalance &&
      providerHosts.includes(URL.parse(settings.address.reveal())?.hostname ?? '') &&
      !isLoopback(settings.address)
        ? [
            {
              key: address,
              message:
                'is the provider whose balances are watched: where it is the same account, an alert that it is empty reaches nobody',
            },
          ]
        : []),
    ],
    check: ({ read, credentials }) =>
      Object.keys(keys)
        .filter((key) => preset.spendsBalance && credentials.has(String(read(key))))
        .slice(0, 1)
        .map((key) => ({
          key,
          message:
            'is that of an account whose balance is watched: when it is empty, nothing pays for the alert. Use another account',
        })),
    pace: ({ place }) => ({ minGapMs: preset.minGapMs, paceKey: place.reveal() }),
    answers: table.rows,
    /** Secrets are filled in as a request leaves: what is shown to people holds none. */
    async openSender({ address: to, keys: values, recipients }, dependencies) {
      const [{ openPostSender }, { fillRequest }, { partsOf }] = await Promise.all([
        import('../post-sender.ts'),
        import('./fill-request.ts'),
        import('./preset-parts.ts'),
      ]);
      const fill = ({ request, fields }: PresetPart, fillKey: (key: string, value: Secret) => string) => {
        const own = Object.entries(values).map(([key, value]) => [key, fillKey(key, value)]);
        return fillRequest(request, { ...fields, values: { ...Object.fromEntries(own), ...fields.values } });
      };
      return openPostSender({
        ...dependencies,
        table,
        address: to,
        render: (message) =>
          partsOf(preset, message, recipients).map((part) => ({
            ...part,
            body: fill(part, (key) => `{{${key}}}`).body,
          })),
        prepare: (part) => fill(part, (_, value) => value.reveal()),
      });
    },
    async openDemoReceiver() {
      const { receivePosts } = await import('../listen-on-loopback.ts');
      const { status, body } = preset.yes.example;
      return receivePosts({
        channel: (origin) => ({ type, ...exampleKeys(preset, origin) }),
        show: (sent) => ({ title: name, lines: linesOf(sent) }),
        answer: { status, body: typeof body === 'string' ? body : JSON.stringify(body) },
      });
    },
  };
}

/** The keys of a channel as the examples have them, with another origin in the address. */
export function exampleKeys(preset: Preset, origin?: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(preset.keys).flatMap(([key, { kind, example, optional }]) => {
      if (key !== preset.address) return optional ? [] : [[key, kind === 'people' ? [example] : example]];
      const { pathname, search } = new URL(example);
      return [[key, origin === undefined ? example : `${origin}${pathname}${search}`]];
    }),
  );
}

function linesOf(sent: string): readonly string[] {
  const json = parseJson(sent);
  return json === undefined
    ? [...new URLSearchParams(sent)].flatMap(([field, value]) => `${field}: ${value}`.split('\n'))
    : JSON.stringify(json, null, 2).split('\n');
}

function textOf(value: unknown): string {
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(String).join(', ');
  return typeof value === 'string' ? value : '';
}

function keySchema(name: string, key: PresetKey): z.ZodType {
  const {
    description,
    kind,
    pattern = '',
    allowed = 'must be a string on one line, not empty',
    example,
  } = key;
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
    credential: () => credentialAddress(description, name),
    secret: () => leaf,
    text: () => leaf,
    people: () => filledList(description, leaf, `${allowed}, in a list`),
  } as const;
  const schema: z.ZodType = schemas[kind]();
  if (key.default !== undefined) return z.prefault(schema, key.default);
  return key.optional ? schema.optional() : schema;
}

function tableOf(preset: Preset): AnswerTable {
  const { name, yes, no, source, quote, wait } = preset;
  return {
    receiver: name,
    quote: (answer) => {
      const said = valueAt(answer, quote);
      return typeof said === 'string' || typeof said === 'number' ? String(said) : '';
    },
    ...(wait === undefined ? {} : { readWait: (answer) => readSeconds(valueAt(answer, wait)) }),
    rows: [
      { answer: yes.answer, fits: fitsOf(yes), means: 'delivered', source: yes.source ?? source },
      ...no.map((row) => ({ ...row, fits: fitsOf(row), source: row.source ?? source })),
      strangeSuccess({
        answer: 'another 2xx',
        remedy: `this is not what ${name} answers; check "${preset.address}"`,
        source,
      }),
      ...commonAnswers,
    ],
  };
}

function fitsOf({ status, path, equals }: PresetAnswer): (answer: HttpAnswer) => boolean {
  return (answer) => {
    if (status !== undefined && !status.includes(answer.status)) return false;
    if (path === undefined) return true;
    const value = valueAt(answer, path);
    return equals === undefined
      ? value !== undefined && value !== null
      : equals.some((each) => each === value);
  };
}

/** What stands in the JSON of an answer, by keys with dots between; "" is the whole body as text. */
function valueAt(answer: HttpAnswer, path: string): unknown {
  return path === '' ? answer.body.trim() : path.split('.').reduce<unknown>(keyOf, jsonOf(answer));
}

/** Every receiver that is described by data. */
export const presetKinds: readonly PresetKind[] = Object.values(files).map((data) =>
  presetKind(readPreset(data)),
);
