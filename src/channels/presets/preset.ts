import * as z from 'zod';

/** A value of JSON whose strings may hold `{{key of the configuration}}` or `{{field of the message}}`. */
const template = z.json();

const request = z.strictObject({
  /** Begins with the channel's address; what else is filled in is encoded for its place. */
  url: z.string(),
  headers: z.record(z.string(), z.string()).default({}),
  /** User and password. */
  basic: z.tuple([z.string(), z.string()]).optional(),
  /** `{"$tone": {…}}` stands for a value by the message's tone. What is filled with nothing is left out. */
  json: template.optional(),
  form: z.record(z.string(), z.string()).optional(),
});

/** When an answer fits: by its status, by what stands at a path of its JSON, or both. */
const answer = z.strictObject({
  answer: z.string(),
  status: z.array(z.int()).optional(),
  path: z.string().optional(),
  /** One of these stands there; without it, anything but null. */
  equals: z.array(z.union([z.string(), z.number(), z.boolean()])).optional(),
  note: z.string().exactOptional(),
  source: z.string().exactOptional(),
  /** An answer of this kind, as the documentation shows it. */
  example: z.strictObject({ status: z.int(), body: z.union([template, z.string()]).default('') }),
});

const key = z.strictObject({
  description: z.string(),
  /** `address`: where the receiver is; `credential`: such an address that is a credential; `people`: a list of texts. */
  kind: z.enum(['address', 'credential', 'secret', 'text', 'people']).default('text'),
  pattern: z.string().optional(),
  allowed: z.string().optional(),
  default: z.string().optional(),
  optional: z.boolean().default(false),
  example: z.string(),
});

/** A receiver that takes messages over HTTP, as data: one file each in this folder. */
export const presetSchema = z.strictObject({
  type: z.string(),
  name: z.string(),
  /** For docs/channels.md, in Markdown. */
  guide: z.array(z.string()),
  source: z.string(),
  /** `documented`: by the receiver's own pages; `derived`: by other programs that send to it. */
  certainty: z.enum(['documented', 'derived']),
  keys: z.record(z.string(), key),
  /** The key of the receiver's address. */
  address: z.string(),
  /** A key with a list: the message is sent once for each of its values. */
  each: z.string().optional(),
  /** Host names by which `init` knows the address. */
  hosts: z.string().optional(),
  minGapMs: z.int(),
  /** `brief`: the headline, what to do and a link, for receivers that count by the character. */
  style: z.enum(['whole', 'brief']).default('whole'),
  /** What names cannot do by then: `backslash` escapes Markdown, `look-alike` is for markup without an escape. */
  escape: z.enum(['none', 'backslash', 'look-alike']).default('none'),
  /** An `@` would mention people. */
  breaksMentions: z.boolean().default(false),
  limits: z.strictObject({
    headline: z.int().default(250),
    text: z.int(),
    unit: z.enum(['bytes', 'characters']),
  }),
  send: request.optional(),
  /** An incident tool: alerts open, are acknowledged and close under one key. */
  incident: z.strictObject({ open: request, acknowledge: request.optional(), close: request }).optional(),
  yes: answer,
  no: z.array(
    answer.extend({
      means: z.enum(['refused', 'unknown', 'dead']),
      remedy: z.string().exactOptional(),
      waitMs: z.int().exactOptional(),
      tries: z.int().exactOptional(),
    }),
  ),
  /** Where the answer's words stand, and where the seconds to wait. */
  quote: z.string(),
  wait: z.string().optional(),
  /** Each message costs money: it must not come from a balance that is watched. */
  spendsBalance: z.boolean().default(false),
});

export type Preset = z.output<typeof presetSchema>;
export type PresetRequest = z.output<typeof request>;
export type PresetKey = z.output<typeof key>;
export type PresetAnswer = z.output<typeof answer>;
export type PresetTemplate = z.output<typeof template>;

/** Throws where the data does not hold what a preset needs. */
export function readPreset(data: unknown): Preset {
  // Compiled parsing pays for data of many; each file is read once.
  return presetSchema.parse(data, { jitless: true });
}
