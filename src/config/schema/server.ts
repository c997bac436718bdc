import * as z from 'zod';
import { parseNetwork } from '../../net/network.ts';
import { hostAddress } from '../../schema/addresses.ts';
import { flag, shape, wholeNumber } from '../../schema/shapes.ts';
import { oneLine, optionalSecret } from '../../schema/texts.ts';

const someNetworks = 'give IP addresses or networks, such as ["127.0.0.1", "10.0.0.0/8"]';
const networkAddress = z
  .string({ error: someNetworks })
  .refine((text) => parseNetwork(text) !== null, { error: someNetworks });

export const server = shape({
  host: oneLine('Address to listen on. Other machines reach only addresses that are not loopback.').prefault(
    '127.0.0.1',
  ),
  port: wholeNumber('Port to listen on; 0 takes a free one.', { min: 0, max: 65535 }).default(8080),
  publicUrl: hostAddress(
    'Address of the page as people reach it, without a path: messages link to it, for acknowledging too.',
  ).optional(),
  token: optionalSecret(
    'Token for page and API. An empty one stands for none. Links in messages survive a restart only with one.',
  ).optional(),
  viewerToken: optionalSecret(
    'A second token that may look at everything and change nothing, for a screen in an office. Only together with `token`.',
  ).optional(),
  trustedProxy: shape({
    addresses: z
      .array(networkAddress, { error: someNetworks })
      .min(1, { error: someNetworks })
      .meta({ description: 'Addresses of the proxy; nobody else is believed.' }),
    header: z
      .string()
      .regex(/^[A-Za-z0-9-]{1,100}$/, { error: 'give the name of a header, such as "Remote-User"' })
      .transform((name) => name.toLowerCase())
      .meta({
        description:
          'The header in which it names who is signed in, such as `Remote-User` or `X-Auth-Request-Email`.',
      }),
  })
    .meta({
      description:
        'A reverse proxy that signs people in: acknowledgements, silences and the audit carry the name that it gives.',
    })
    .optional(),
  allowUnauthenticated: flag('Listen beyond this machine without a token.').default(false),
  openMetrics: flag('Give /metrics without the token also beyond this machine.').default(false),
});
