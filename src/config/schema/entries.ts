import * as z from 'zod';
import { keyOf } from '../../domain/json.ts';
import { maxRequestsPerSecondLimit } from '../../domain/provider-entry.ts';
import { minuteMs, secondMs } from '../../domain/time.ts';
import { providerKinds, providerSchemas } from '../../providers/registry.ts';
import { steps } from '../../rules/ladder.ts';
import { linkAddress, plainAddress } from '../../schema/addresses.ts';
import { labelRecord } from '../../schema/matchers.ts';
import { flag, shape } from '../../schema/shapes.ts';
import { amount, duration, id, oneLine, secret } from '../../schema/texts.ts';
import { holidays, payDays, pollSchema, timezone, weekend } from '../../schema/times.ts';
import { didYouMean } from '../../wording/lists.ts';

const sharedKeys = {
  timeout: duration('Time for one whole request.', { minMs: 100, maxMs: 5 * minuteMs }).prefault('10s'),
  maxRequestsPerSecond: z
    .number({ error: `must be a number above 0, at most ${maxRequestsPerSecondLimit}` })
    .gt(0, { error: 'must be above 0' })
    .max(maxRequestsPerSecondLimit, { error: `must be at most ${maxRequestsPerSecondLimit}` })
    .describe(
      'Limit for all accounts that share their credentials. Default 1, or less where the provider allows less.',
    )
    .optional(),
  allowInsecureHttp: flag(
    'Allow http:// to a host that is not this machine. The secrets are then sent unencrypted.',
  ).default(false),
  topUpUrl: linkAddress('Where to pay, for accounts that name no address of their own.').optional(),
  payDays: payDays.optional(),
  backoff: shape({
    initial: duration('First pause after the provider says that there were too many requests.', {
      minMs: secondMs,
    }).prefault('30s'),
    max: duration('Longest such pause.', { minMs: secondMs }).prefault('1h'),
  })
    .superRefine(({ initial, max }, context) => {
      if (initial <= max) return;
      const problem =
        initial === 30 * secondMs
          ? { path: ['max'], message: 'must not be shorter than initial (30s by default)' }
          : { path: ['initial'], message: 'must not be longer than max (1h by default)' };
      context.addIssue({ code: 'custom', ...problem });
    })
    .describe('Pauses after rate limiting: each is twice the one before.')
    .prefault({}),
};

const [first, ...others] = providerSchemas.map((schema) => shape({ ...schema.shape, ...sharedKeys }));
if (first === undefined) throw new Error('there is no kind of provider');

/** One entry: its type decides which keys it takes. Without a type it is of the default kind. */
export const providerSchema = z.discriminatedUnion('type', [first, ...others], {
  error: (issue) =>
    issue.code === 'invalid_union' ? describeType(keyOf(issue.input, 'type')) : 'must be an object in braces',
});

export type ProviderInput = z.output<typeof providerSchema>;

function describeType(type: unknown): string {
  const types = providerKinds.map((kind) => kind.type);
  const meant = typeof type === 'string' ? didYouMean(type, types) : null;
  return `is no type of provider; ${meant === null ? '' : `${meant} `}"lowwater providers" lists them`;
}

export const account = shape({
  id: id('Names the account everywhere. Unique.'),
  name: oneLine('Name for people. Default: the id.').optional(),
  provider: id('Its entry of `providers`. Default: `provider`.').optional(),
  authSecret: secret(
    `The API key, of an account of the default kind. Write \${env:NAME} or \${file:/path} rather than the key itself.`,
  ).optional(),
  credentials: z
    .record(
      z.string(),
      secret(`One of the credentials that its provider asks for. Write \${env:NAME} or \${file:/path}.`),
      { error: 'must be an object of credentials' },
    )
    .describe('What its provider asks for; such as `lowwater providers twilio` lists them.')
    .optional(),
  baseUrl: plainAddress(
    'Base address for this account; else that of `provider`. Of the default kind.',
  ).optional(),
  currency: oneLine(
    'Currency that the balances must be in, such as "CNY"; compared without case, and RMB is CNY. Another one is an alert.',
  ).optional(),
  labels: labelRecord(z.string({ error: 'must be a string' }))
    .describe('Labels that rules, routes and silences can match.')
    .optional(),
  thresholds: z
    .record(
      z.string(),
      steps((word) => amount(`Under this balance the alert of this account is ${word}.`)),
      { error: 'must be an object with thresholds for each balance' },
    )
    .describe(
      'Its own thresholds by balance and severity, such as {"sms": {"warning": 200}}: each stands in place of the one of that severity in the rule of type `below` that watches the balance.',
    )
    .optional(),
  topUpUrl: linkAddress(
    'Where to pay for this account: the first link of messages about its balance.',
  ).optional(),
  runbookUrl: linkAddress('What to do when an alert of this account fires.').optional(),
  note: oneLine('One line for whoever is woken; it stands in every message about the account.').optional(),
  poll: pollSchema.optional(),
  timezone: timezone.optional(),
  holidays: holidays
    .describe(
      'Days on which its customers spend as on the last day of the weekend, besides those at the top of the file.',
    )
    .optional(),
  weekend: weekend.describe('Its weekend, instead of the one at the top of the file.').optional(),
  creditLimit: z
    .union(
      [
        z.literal('provider').transform(() => null),
        amount('An amount that is not negative.', { sign: 'not-negative' }),
      ],
      { error: 'must be an amount that is not negative, or "provider" for what its answers say' },
    )
    .describe(
      'How far below zero the provider lets its balances in money go: they are empty there, and not before. "provider": as its answers say, 0 until then.',
    )
    .prefault(0),
  leadTime: duration('How long a payment takes to arrive: messages then say by when to pay.', {
    minMs: secondMs,
  }).optional(),
}).describe('One account at the provider.');
