import * as z from 'zod';
import { receiverKeys, template } from '../receiver.ts';

const request = z.strictObject({
  /** `POST` when absent. */
  method: z.literal('PUT').optional(),
  /** Begins with the channel's address; everything else that is filled in is encoded for its place. */
  url: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  /** User and password. */
  basic: z.tuple([z.string(), z.string()]).optional(),
  /** `{"$tone": {…}}` stands for a value by the message's tone. A member without a value is left out. */
  json: template.optional(),
  form: z.record(z.string(), z.string()).optional(),
});

/** Ways to keep names from being markup: `backslash` and `marked` escape Markdown, `look-alike` is for markup without an escape. */
const literalWay = z.enum(['backslash', 'marked', 'look-alike']);

/** A receiver that takes messages over HTTP and needs no code, as data: one file each in this folder. */
export const presetSchema = z.strictObject({
  ...receiverKeys,
  /** For docs/channels.md, in Markdown. */
  guide: z.array(z.string()),
  /** `documented`: by the receiver's own pages; `derived`: by other programs that send to it. */
  certainty: z.enum(['documented', 'derived']),
  /** `whole` when absent; `brief`: the headline, what to do and a link, for receivers that count by the character. */
  style: z.enum(['whole', 'brief']).optional(),
  /** Fields in which the receiver draws markup; `text` holds for the details too. */
  escape: z.strictObject({ headline: literalWay.optional(), text: literalWay.optional() }).optional(),
  /** Whether an `@` would mention people. */
  breaksMentions: z.boolean().optional(),
  limits: z.strictObject({
    headline: z.int().optional(),
    text: z.int(),
    unit: z.enum(['bytes', 'characters']),
  }),
  send: request.optional(),
  /** Alerts open, are acknowledged and close under a key. Without `raise`, an alert that got worse opens another key. */
  incident: z
    .strictObject({
      open: request,
      raise: z.record(z.string(), request).optional(),
      acknowledge: request.optional(),
      close: request,
    })
    .optional(),
});

export type Preset = z.input<typeof presetSchema>;
export type PresetRequest = z.input<typeof request>;
export type PresetTemplate = z.input<typeof template>;
