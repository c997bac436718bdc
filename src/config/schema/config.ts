import * as z from 'zod';
import { channelSchema } from '../../channels/registry.ts';
import { matchesEverything } from '../../domain/rule.ts';
import { logLevels } from '../../domain/settings.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../domain/time.ts';
import { parseNetwork } from '../../net/network.ts';
import { selfAlertTypes } from '../../rules/registry.ts';
import { ruleSchema } from '../../rules/rule-schema.ts';
import { hostAddress, postgresAddress, secretAddress } from '../../schema/addresses.ts';
import { alertMatch } from '../../schema/matchers.ts';
import { choice, filledList, flag, languageKey, shape, wholeNumber } from '../../schema/shapes.ts';
import { duration, id, idForm, idPattern, oneLine, optionalSecret, textLeaf } from '../../schema/texts.ts';
import { cronText, holidays, payDays, pollSchema, timezone, weekend, zone } from '../../schema/times.ts';
import { account, providerSchema } from './entries.ts';

const someNetworks = 'give IP addresses or networks, such as ["127.0.0.1", "10.0.0.0/8"]';
/** Headers for keys are not allowed: the name in the header is stored and sent. */
const headerName = '^(?!(?:[Pp]roxy-)?[Aa]uthorization$|[Cc]ookie$)[A-Za-z0-9-]{1,100}$';
const networkAddress = z
  .string({ error: someNetworks })
  .refine((text) => parseNetwork(text) !== null, { error: someNetworks });

const server = shape({
  host: oneLine('Address to listen on. Other machines reach only addresses that are not loopback.').prefault(
    '127.0.0.1',
  ),
  port: wholeNumber('Port to listen on; 0 takes a free one.', { min: 0, max: 65535 }).default(8080),
  publicUrl: hostAddress(
    'Address of the page as people reach it, without a path: messages link to it, for acknowledging too.',
  ).exactOptional(),
  token: optionalSecret('Token for page and API. An empty one stands for none.').exactOptional(),
  viewerToken: optionalSecret(
    'A second token that may look at everything and change nothing, for a screen in an office. Only together with `token`.',
  ).exactOptional(),
  trustedProxy: shape({
    addresses: z
      .array(networkAddress, { error: someNetworks })
      .min(1, { error: someNetworks })
      .describe('Addresses and networks of proxies alone; nobody else is believed.'),
    header: textLeaf({
      description:
        'The header in which it names who is signed in, such as `Remote-User` or `X-Auth-Request-Email`.',
      allowed: 'give the name of a header that holds a name, and no key, such as "Remote-User"',
      pattern: headerName,
      read: (name) => (new RegExp(headerName, 'i').test(name) ? { value: name.toLowerCase() } : null),
    }),
  })
    .describe(
      'A reverse proxy that signs people in: acknowledgements, silences and the audit carry the name that it gives.',
    )
    .exactOptional(),
  allowUnauthenticated: flag('Listen beyond this machine without a token.').default(false),
  openMetrics: flag('Give /metrics without the token also beyond this machine.').default(false),
});

const channelNames = (description: string) =>
  filledList(
    description,
    z.string({ error: 'must be the name of a channel' }),
    'must be a list with at least one channel',
  );

const route = shape({
  match: alertMatch(
    'Which alerts take this route. All given keys must match. Default: all.',
    selfAlertTypes,
  ).optional(),
  channels: channelNames('Channels that are notified.'),
  repeatEvery: duration(
    'Time between reminders while it fires. Default: by severity, info none, warning 1d, critical 4h.',
    { minMs: secondMs },
  ).optional(),
  groupWait: duration('What becomes due within this time is one message.', { maxMs: 60 * minuteMs }).prefault(
    '5s',
  ),
  escalate: shape({
    after: duration(
      'How long nobody acknowledged since it fired, became worse than ever, or worse than acknowledged.',
      { minMs: secondMs },
    ),
    channels: channelNames('Channels that are notified then.'),
  })
    .describe('Who else is notified when nobody acknowledges.')
    .optional(),
  continue: flag(
    'Look for further matching routes after this one. Of several that name a channel the first says how often it is reminded and how long it gathers; the soonest escalation counts.',
  ).default(false),
  mention: z
    .union([z.boolean(), z.literal('reminders')], { error: 'must be true, false or "reminders"' })
    .describe(
      'Whether the people that a channel names are mentioned: true in all messages but reminders, "reminders" in those too, false never.',
    )
    .default(true),
}).describe('Which alerts go to which channels. The first that matches wins.');

const silence = shape({
  // Leaving something out must not mute all alerts.
  match: alertMatch('Which alerts are muted. At least one key.', selfAlertTypes).refine(
    (match) => !matchesEverything(match),
    { error: 'must name what it mutes: account, provider, currency, rule, severity, labels or not' },
  ),
  cron: cronText.describe('When the silence begins, as a cron expression of five fields.'),
  timezone: timezone.optional(),
  duration: duration('How long it lasts.', { minMs: secondMs }),
  comment: oneLine('Why.', { mayBeEmpty: true }).prefault(''),
}).describe('A silence that comes back.');

const report = shape({
  id: id('Names the report. Unique.'),
  language: languageKey('The language of the report. Default: that of each channel.').optional(),
  cron: cronText.describe('When it is sent, as a cron expression of five fields.'),
  timezone: zone(
    'IANA time zone of its cron expression and of the times in it. Default: the one at the top of the file.',
  ).optional(),
  channels: channelNames('Channels that get it.'),
}).describe('A summary that is sent on a schedule.');

const heartbeat = shape({
  url: secretAddress('Asked for (GET) as long as lowwater works (a dead man’s switch). Kept secret.'),
  every: duration('Time between heartbeats.', { minMs: secondMs }).prefault('1m'),
}).describe('Tells a watchdog elsewhere that lowwater works.');

const storage = shape({
  path: oneLine(
    'The SQLite file; relative to this file. Default lowwater.db in the folder LOWWATER_DATA, else next to this file.',
  ).optional(),
  postgres: shape({
    url: postgresAddress(
      'Address of a database of PostgreSQL 14 or newer, such as postgres://user:password@host:5432/lowwater?sslmode=verify-full. Kept secret.',
    ),
  })
    .describe(
      'A database that several daemons share, in place of the file: one watches the accounts, the others stand by and take over.',
    )
    .optional(),
  retention: duration('How long history is kept, at least 1d.', { minMs: dayMs }).prefault('400d'),
}).describe('The database.');

const cluster = shape({
  node: oneLine(
    'Name of this daemon among those that share the database. Default: the name of the machine.',
  ).optional(),
  advertise: hostAddress(
    'Address at which the other daemons reach the HTTP server of this one: an owner that loses the database asks there whether others still reach it.',
  ).optional(),
  lease: duration(
    'How long a daemon that says nothing keeps the accounts, from 3s to 5m. The shorter, the sooner another takes over, and the sooner a slow network looks like a death.',
    { minMs: 3 * secondMs, maxMs: 5 * minuteMs },
  ).prefault('8s'),
  aloneFor: duration('How long an owner goes on from memory while nobody reaches the database.').prefault(
    '1h',
  ),
  announceTakeovers: flag(
    'Whether channels get a line of severity info when a daemon takes over that was not handed the accounts.',
  ).default(true),
}).describe('For daemons that share a PostgreSQL database.');

const list = <T extends z.ZodType>(what: string, element: T, description: string) =>
  z
    .array(element, {
      error: `must be a list of ${what}${what === 'reports' ? '' : `, or {"files": "${what}.d/*.json"}`}`,
    })
    .describe(description)
    .default([]);

export const rateForm =
  'must be a number above 0, as text, with at most 20 decimals: how much of money.currency one unit is, such as "0.121"';

/** The whole file, as people write it. Conditions across keys are checked in `checks/`. */
export const configSchema = shape({
  $schema: z.string({ error: 'must be a string' }).describe('Where editors find this schema.').optional(),
  provider: providerSchema.describe('The provider of accounts that name no other.').prefault({}),
  providers: z
    .record(z.string().regex(new RegExp(idPattern)), providerSchema, {
      error: (issue) => (issue.code === 'invalid_key' ? idForm : 'must be an object of providers'),
    })
    .describe('Other providers, by name: an account says which is its own by `provider`.')
    .default({}),
  poll: pollSchema.optional(),
  language: languageKey(
    'The language of messages, mails and reports. Log, command line, errors, metrics and API fields are English.',
  ).prefault('en'),
  timezone: zone('IANA time zone of the times in messages, and of cron expressions that name none.').prefault(
    'UTC',
  ),
  weekend: weekend
    .describe(
      'The days of the weekend: forecasts tell them from working days, and with `leadTime` no payment arrives on them. [] where payments arrive every day. Default: Saturday and Sunday.',
    )
    .optional(),
  money: shape({
    currency: oneLine('The currency of sums over several currencies, such as "EUR".'),
    rates: shape({
      date: oneLine('The day of the rates of this file, such as "2026-11-20".').optional(),
      provider: providerSchema
        .describe(
          'Where rates are read from in their place: an http-json entry whose balances are currencies.',
        )
        .optional(),
      every: duration('How often they are read: 1h or more. Default: 1d.', { minMs: hourMs }).optional(),
      inverted: flag(
        'The amounts say how much of each currency one unit of the provider’s `currency` is, as the table of the European Central Bank does. Default: how much of it one unit of each is worth.',
      ).optional(),
    })
      .catchall(z.union([z.string(), z.number()], { error: rateForm }))
      .describe(
        'What one unit of each currency is worth in `currency`, such as {"date": "2026-11-20", "CNY": "0.121"}, or where that is read: {"provider": …}. A sum says the day of its rates, and which currency has none.',
      ),
  })
    .describe('One sum over all currencies. Amounts of accounts are never converted.')
    .optional(),
  payDays: payDays.optional(),
  holidays: holidays
    .describe(
      'Days that count as the last day of the weekend: forecasts expect its spending, and no payment arrives. Dates such as "2026-12-25", countries or regions such as "DE-BY" (public holidays of 2020 to 2040), or a list of both.',
    )
    .default([]),
  accounts: filledList(
    'The accounts to watch. At least one.',
    account,
    'must be a list with at least one account, or {"files": "accounts.d/*.json"}',
  ),
  rules: list(
    'rules',
    ruleSchema,
    'What to watch for. On every account that no rule of that type matches these are watched in any case: a negative SMS balance, a late top-up, staleness, a refused key and, where `currency` is set, another currency.',
  ),
  channels: z
    .record(z.string().regex(new RegExp(idPattern)), channelSchema, {
      error: (issue) => (issue.code === 'invalid_key' ? idForm : 'must be an object of channels'),
    })
    .meta({ description: 'Where messages go, by name. At least one.', minProperties: 1 }),
  routes: list('routes', route, 'Which alerts go where. One that no route matches goes to every channel.'),
  silences: list('silences', silence, 'Silences that come back, such as maintenance windows.'),
  reports: list('reports', report, 'Summaries on a schedule.'),
  server: server
    .nullable()
    .describe('Page, API, health and metrics. null switches all of it off. Default: on 127.0.0.1:8080.')
    .prefault({}),
  heartbeat: heartbeat.optional(),
  storage: storage.prefault({}),
  cluster: cluster.prefault({}),
  log: shape({ level: choice('How much is logged.', logLevels).default('info') })
    .describe('The log.')
    .prefault({}),
});

/** A valid file with defaults filled in, durations in milliseconds and money in millionths. */
export type ConfigInput = z.output<typeof configSchema>;
