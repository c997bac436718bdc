import * as z from 'zod';
import { secondMs } from '../../domain/time.ts';
import { steps } from '../../rules/ladder.ts';
import { linkAddress, plainAddress } from '../../schema/addresses.ts';
import { labelRecord } from '../../schema/matchers.ts';
import { shape } from '../../schema/shapes.ts';
import { amount, duration, id, oneLine, secret } from '../../schema/texts.ts';
import { holidays, pollSchema, timezone, weekend } from '../../schema/times.ts';

const labels = labelRecord(z.string({ error: 'must be a string' })).describe(
  'Labels that rules, routes and silences can match.',
);

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
  labels: labels.optional(),
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
      'How far below zero the provider lets it go: it is empty there, and not before. "provider": as its answers say, 0 until then.',
    )
    .prefault(0),
  leadTime: duration('How long a payment takes to arrive: messages then say by when to pay.', {
    minMs: secondMs,
  }).optional(),
}).describe('One account at the provider.');
