import * as z from 'zod';
import { keyOf } from '../../domain/json.ts';
import { maxRequestsPerSecondLimit } from '../../domain/provider-entry.ts';
import { minuteMs, secondMs } from '../../domain/time.ts';
import { providerKinds, providerSchemas } from '../../providers/registry.ts';
import { linkAddress } from '../../schema/addresses.ts';
import { flag, shape } from '../../schema/shapes.ts';
import { duration } from '../../schema/texts.ts';
import { payDays } from '../../schema/times.ts';
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

/** One entry: its type decides which keys it takes; without one it is of the default kind. */
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
