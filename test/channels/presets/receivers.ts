import * as z from 'zod';
import type { ReceivedPost } from '../../support/http-receiver.ts';

/** A receiver as its documentation says: where it listens, how it knows the sender, and what it takes. */
export interface StrictReceiver {
  readonly path: RegExp;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, with the limits of the documentation. A form is an object of texts. */
  readonly body: z.ZodType;
  /** Bodies of other addresses below the same server. */
  readonly others?: readonly { readonly path: RegExp; readonly body: z.ZodType }[];
  /** How a receiver that draws markup could be misled. */
  readonly markup?: RegExp;
  /** A field in which it draws none: what is written stands there as it is. */
  readonly plain?: string;
  /** A backslash that it shows, because it takes none before what follows. */
  readonly shownEscape?: RegExp;
}

const text = (max: number) => z.string().min(1).max(max);
const bytes = (max: number) =>
  z
    .string()
    .min(1)
    .refine((value) => Buffer.byteLength(value) <= max);
const url = z.url().optional();

const unescaped = /(?<!\\)[*_~`<>[\]]/;
const mention = /@\w/;
const dedupKey = z.string().regex(/^lowwater\/\S+$/);
const close = z.strictObject({ source: z.literal('lowwater'), note: text(25_000) });

/** One row for each preset. */
export const receivers: Readonly<Record<string, StrictReceiver>> = {
  ntfy: {
    path: /^\/$/,
    body: z.strictObject({
      topic: z.literal('lowwater-8f2c41'),
      title: text(250),
      message: bytes(4096),
      priority: z.int().min(1).max(5),
      click: url,
    }),
  },
  telegram: {
    path: /^\/bot123456789%3AAAF1very-secret_token_of_a_bot_012345\/sendMessage$/,
    body: z.strictObject({
      chat_id: z.literal('-1001234567890'),
      text: text(4096),
      link_preview_options: z.strictObject({ is_disabled: z.literal(true) }),
    }),
    markup: mention,
  },
  discord: {
    path: /^\/api\/webhooks\/1234567890\/very-secret-token\?wait=true$/,
    body: z.strictObject({
      username: z.literal('lowwater'),
      embeds: z.tuple([
        z.strictObject({
          title: text(256),
          description: text(4096),
          url,
          color: z.int().min(0).max(0xffffff),
        }),
      ]),
      allowed_mentions: z.strictObject({ parse: z.array(z.string()).max(0) }),
    }),
    markup: unescaped,
  },
  mattermost: {
    path: /^\/hooks\/very-secret-hook$/,
    body: z.strictObject({ text: text(16_383) }),
    markup: new RegExp(`${unescaped.source}|${mention.source}`),
    // The escapes of the library marked, which draws its messages.
    shownEscape: /\\[^\\`*{}[\]()#+\-.!_>~|]/,
  },
  'google-chat': {
    path: /^\/v1\/spaces\/AAAA\/messages\?key=very-secret&token=very-secret$/,
    body: z.strictObject({ text: text(4096) }),
    markup: /[*~`<>]/,
  },
  pushover: {
    path: /^\/1\/messages\.json$/,
    body: z.strictObject({
      token: z.string().length(30),
      user: z.string().length(30),
      title: text(250),
      message: text(1024),
      priority: z.int().min(-2).max(1),
    }),
  },
  gotify: {
    path: /^\/message$/,
    headers: { 'x-gotify-key': 'AqVerySecretGotify' },
    body: z.strictObject({
      title: text(250),
      message: text(8000),
      priority: z.int().min(0).max(10),
      extras: z.strictObject({
        'client::display': z.strictObject({ contentType: z.literal('text/plain') }),
        'client::notification': z.strictObject({ click: z.strictObject({ url }) }),
      }),
    }),
  },
  opsgenie: {
    path: /^\/v2\/alerts$/,
    headers: { authorization: 'GenieKey eb243592-faa2-4ba2-a551-1afdf565c889' },
    body: z.strictObject({
      message: text(130),
      alias: dedupKey.max(512),
      description: text(15_000),
      source: z.literal('lowwater'),
      entity: text(512),
      priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']),
    }),
    others: [
      { path: /^\/v2\/alerts\/lowwater%2F[^/]+\/acknowledge\?identifierType=alias$/, body: close },
      { path: /^\/v2\/alerts\/lowwater%2F[^/]+\/close\?identifierType=alias$/, body: close },
      { path: /^\/v2\/alerts\/lowwater%2F[^/]+\/notes\?identifierType=alias$/, body: close },
      {
        path: /^\/v2\/alerts\/lowwater%2F[^/]+\/priority\?identifierType=alias$/,
        body: z.strictObject({ priority: z.enum(['P1', 'P2', 'P3', 'P4', 'P5']) }),
      },
    ],
    markup: /[*~`<>]/,
  },
  'incident-io': {
    path: /^\/v2\/alert_events\/http\/01GW2G3V0S59R238FAHPDS1R66$/,
    headers: { authorization: 'Bearer very-secret-alert-source-token' },
    body: z.strictObject({
      title: text(250),
      description: text(10_000),
      deduplication_key: dedupKey,
      status: z.enum(['firing', 'resolved']),
      source_url: url,
      metadata: z.strictObject({ account: z.string() }),
    }),
    plain: 'title',
    markup: unescaped,
  },
  'grafana-irm': {
    path: /^\/oncall\/integrations\/v1\/formatted_webhook\/very-secret\/$/,
    body: z.strictObject({
      alert_uid: dedupKey,
      title: text(250),
      state: z.enum(['alerting', 'ok']),
      message: text(4000),
      link_to_upstream_details: url,
    }),
    markup: /[*~`<>]/,
  },
  goalert: {
    path: /^\/api\/v2\/generic\/incoming$/,
    body: z.strictObject({
      token: z.literal('6f4e0e7c-very-secret-key'),
      summary: bytes(1024),
      details: bytes(6 * 1024),
      dedup: dedupKey.max(512),
      action: z.literal('close').optional(),
    }),
    plain: 'summary',
    markup: unescaped,
  },
  'apprise-api': {
    path: /^\/notify\/very-secret-config-key$/,
    body: z.strictObject({
      title: text(250),
      body: text(32_768),
      type: z.enum(['info', 'success', 'warning', 'failure']),
      format: z.literal('text'),
    }),
  },
  'twilio-sms': {
    path: /^\/2010-04-01\/Accounts\/AC0123456789abcdef0123456789abcdef\/Messages\.json$/,
    headers: {
      authorization: `Basic ${Buffer.from('AC0123456789abcdef0123456789abcdef:0123456789abcdef0123456789abcdef').toString('base64')}`,
    },
    body: z.strictObject({
      To: z.literal('+4915112345678'),
      From: z.literal('+15005550006'),
      Body: text(1600),
    }),
  },
  'sms-gateway': {
    path: /^\/v1\/messages$/,
    body: z.strictObject({ to: z.literal('+4915112345678'), text: text(480) }),
  },
};

/** What the receiver has against a post; empty where it takes it. */
export function problemsOf(receiver: StrictReceiver, post: ReceivedPost): readonly string[] {
  const form = post.headers['content-type'] === 'application/x-www-form-urlencoded';
  const body: unknown = form ? Object.fromEntries(new URLSearchParams(post.body)) : JSON.parse(post.body);
  const { body: schema } = [receiver, ...(receiver.others ?? [])].find(({ path }) =>
    path.test(post.path),
  ) ?? {
    body: z.never(),
  };
  const shape = schema.safeParse(body);
  return [
    ...(shape.success ? [] : [`${post.path}: ${z.prettifyError(shape.error)}`]),
    ...Object.entries(receiver.headers ?? {}).flatMap(([name, value]) =>
      post.headers[name] === value ? [] : [`${name} is ${String(post.headers[name])}`],
    ),
  ];
}

/** Every text of a body by its key, without the addresses that lowwater itself wrote. */
export function textsOf(post: ReceivedPost): readonly (readonly [key: string, text: string])[] {
  const texts: [string, string][] = [];
  JSON.parse(
    post.body.startsWith('{')
      ? post.body
      : JSON.stringify(Object.fromEntries(new URLSearchParams(post.body))),
    (key, value: unknown) => {
      // An escaped text is for people; keys, numbers and links are not.
      if (typeof value === 'string' && /text|title|message|description|details|summary|note/.test(key))
        texts.push([key, value.replaceAll(/https?:\/\/\S+/g, '')]);
      return value;
    },
  );
  return texts;
}
