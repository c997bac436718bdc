import * as z from 'zod';
import { type Micros, parseMicros } from '../domain/money.ts';
import { parseDuration } from '../domain/time.ts';
import defaults from './default-scenario.json' with { type: 'json' };

/** A text that is read as a number; `form` describes how it is written. */
function writtenAs(wanted: string, form: string, read: (text: string) => number | null) {
  return z.string(`expected ${wanted}`).transform((text, context): number => {
    const value = read(text);
    if (value === null) context.addIssue(`expected ${form}`);
    return value ?? z.NEVER;
  });
}

const amount = writtenAs(
  'an amount as a string, such as "12.5"',
  'an amount such as "12.5", with at most 6 decimals',
  (text) => (/^-?\d+(?:\.\d{1,6})?$/.test(text) ? parseMicros(text) : null),
);
const duration = writtenAs(
  'a duration as a string, such as "90s"',
  'a duration such as "90s", "5m" or "1h30m"',
  parseDuration,
);

const hour = z.int().min(0).max(24);
const price = amount.refine((micros) => micros >= 0, 'expected a price of 0 or more');
const status = z.int().min(200).max(599);
const balance = z.enum(['sms', 'voip']).default('sms');
const currency = z.string().max(1000);

/** A rate for all hours, or by hour of the day (UTC): `from` one hour `to` another, over midnight if `from` is the later. */
const burn = z
  .union([amount, z.array(z.strictObject({ from: hour, to: hour, perHour: amount }))], {
    error:
      'expected an amount per hour such as "12.5", or a list of { "from": 8, "to": 20, "perHour": "12.5" }',
  })
  .transform(spreadOverHours);

const latency = z
  .union([duration, z.strictObject({ min: duration, max: duration })], {
    error: 'expected a duration such as "20ms", or { "min": "10ms", "max": "40ms" }',
  })
  .transform((given) => (typeof given === 'number' ? { min: given, max: given } : given));

const account = z.strictObject({
  id: z.string().min(1).max(100),
  authSecret: z.string().min(1).max(500),
  sms: amount.prefault('0'),
  voip: amount.prefault('0'),
  currency: currency.default('CNY'),
  burn: z.strictObject({ sms: burn.prefault('0'), voip: burn.prefault('0') }).prefault({}),
});

/** Instants of events count from the start of the simulator, in the scenario's own time (see `speed`). */
const when = {
  at: duration,
  every: duration.refine((ms) => ms > 0, 'expected a duration above 0').optional(),
};
const whileLasting = { ...when, for: duration, account: z.string().optional() };

const event = z.discriminatedUnion('do', [
  z.strictObject({ ...when, do: z.literal('top-up'), account: z.string(), balance, amount }),
  z.strictObject({ ...when, do: z.literal('set-balance'), account: z.string(), balance, amount }),
  z.strictObject({ ...when, do: z.literal('currency'), account: z.string(), currency }),
  z.strictObject({ ...when, do: z.literal('revoke-key'), account: z.string() }),
  z.strictObject({ ...when, do: z.literal('restore-key'), account: z.string() }),
  z.strictObject({
    ...whileLasting,
    do: z.literal('outage'),
    as: z.enum(['http-error', 'hang', 'reset', 'truncated']).default('http-error'),
    status: status.default(503),
  }),
  z.strictObject({
    ...whileLasting,
    do: z.literal('wrong-body'),
    status: status.default(200),
    body: z.json(),
  }),
  z.strictObject({ ...whileLasting, do: z.literal('latency'), latency }),
]);

/** The scenario file of `lowwater simulate` (JSON): the accounts, what they spend, and what happens to them. */
export const scenarioSchema = z
  .strictObject({
    /** The factor by which spending and events run faster than real time. Limits and latency keep real time. */
    speed: z.number().positive().max(1_000_000).default(1),
    /** The scenario's date and time at its start; the real one by default. */
    startAt: z.iso
      .datetime({ offset: true, error: 'expected a date and time such as "2026-11-20T08:00:00Z"' })
      .optional(),
    latency: latency.prefault('0s'),
    /** The spending of one request: messages and lookups from the SMS balance, calls from the VoIP balance. */
    prices: z
      .strictObject({
        message: price.prefault('0.05'),
        lookup: price.prefault('0.01'),
        call: price.prefault('0.2'),
      })
      .prefault({}),
    accounts: z.array(account).min(1),
    events: z.array(event).default([]),
  })
  .superRefine(({ accounts, events }, context) => {
    const refuse = (path: readonly (string | number)[], message: string): void =>
      context.addIssue({ code: 'custom', path: [...path], message });
    const ids = new Set<string>();
    const secrets = new Set<string>();
    for (const [index, { id, authSecret }] of accounts.entries()) {
      if (ids.has(id)) refuse(['accounts', index, 'id'], 'this id is there twice');
      if (secrets.has(authSecret)) refuse(['accounts', index, 'authSecret'], 'this secret is there twice');
      ids.add(id);
      secrets.add(authSecret);
    }
    for (const [index, event] of events.entries()) {
      if (event.account === undefined || ids.has(event.account)) continue;
      const known = [...ids].slice(0, 20).join(', ');
      refuse(['events', index, 'account'], `expected one of the accounts: ${known}`);
    }
  });

export type ScenarioInput = z.input<typeof scenarioSchema>;

/** A scenario as the simulator uses it: defaults filled in, money in millionths, durations in milliseconds. */
export type Scenario = z.output<typeof scenarioSchema>;

export type ScenarioAccount = Scenario['accounts'][number];
export type ScenarioEvent = Scenario['events'][number];

/** Reads parsed JSON as a scenario. Problems name the place and what is allowed there, and quote no value. */
export function parseScenario(
  input: unknown,
):
  | { readonly kind: 'valid'; readonly scenario: Scenario }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] } {
  const read = scenarioSchema.safeParse(input);
  if (read.success) return { kind: 'valid', scenario: read.data };
  return {
    kind: 'invalid',
    problems: read.error.issues.map(
      ({ path, message }) => `${z.core.toDotPath(path) || 'scenario'}: ${message}`,
    ),
  };
}

function spreadOverHours(
  given: Micros | readonly { from: number; to: number; perHour: Micros }[],
): readonly Micros[] {
  const rates = new Array<Micros>(24).fill(typeof given === 'number' ? given : 0);
  if (typeof given === 'number') return rates;
  for (const { from, to, perHour } of given) {
    const hours = from < to ? to - from : 24 - from + to;
    for (let offset = 0; offset < hours; offset += 1) rates[(from + offset) % 24] = perHour;
  }
  return rates;
}

/** The scenario without a file: an hour passes in a minute. It has three accounts, topped up daily; one is negative before each top-up. */
export const defaultScenario: Scenario = scenarioSchema.parse(defaults);
