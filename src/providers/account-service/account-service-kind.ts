import * as z from 'zod';
import type { ProviderEntry } from '../../domain/provider-entry.ts';
import type { BalanceDefinition } from '../../domain/reading.ts';
import { Secret } from '../../domain/secret.ts';
import { plainAddress } from '../../schema/addresses.ts';
import { shape } from '../../schema/shapes.ts';
import type { ProviderKind } from '../kind.ts';
import { balanceEndpoint } from './endpoints.ts';
import { judgeAnswer } from './envelope.ts';

interface AccountServiceEntry extends ProviderEntry {
  /** For accounts that name no address of their own; without a trailing slash. */
  readonly baseUrl: string | null;
}

const schema = shape({
  type: z.literal('account-service').describe('The account service; the default.').optional(),
  baseUrl: plainAddress('Base address; an account may have its own.').optional(),
});

/** The two balances of the interface, in its order: messages and lookups are paid from the first, calls from the other. */
export const accountServiceBalances: readonly BalanceDefinition[] = [
  { id: 'sms', label: 'SMS', alertsBelowZero: true },
  { id: 'voip', label: 'VoIP', checkLabel: 'VOIP', alertsBelowZero: false },
];

/** The messaging and voice account service: an SMS and a VoIP balance in one answer, one secret an account. */
export const accountServiceKind: ProviderKind<z.output<typeof schema>, AccountServiceEntry> = {
  type: 'account-service',
  summary: 'Messaging and voice account service: SMS and VoIP balance.',
  source: { reference: 'its interface document', certainty: 'documented' },
  polled: true,
  accountKeys: { credential: 'authSecret', address: 'baseUrl' },
  schema,
  build: (shared, { baseUrl = null }) => ({
    ...shared,
    baseUrl,
    balances: accountServiceBalances,
    polled: true,
    words: {
      replaceKey: 'Create a new access key in the provider’s dashboard (security, access keys),',
      keyName: 'authSecret',
      addressKey: 'baseUrl',
    },
  }),
  credentials: () => [{ name: 'authSecret', label: 'access key of the dashboard’s security area' }],
  limits: () => ({ documented: '200 requests a second for an account.' }),
  request(entry, { baseUrl, credentials: { authSecret } }) {
    if (authSecret === undefined) return { credential: 'authSecret', reason: 'the authSecret is missing' };
    return {
      method: 'POST',
      url: new Secret(`${(baseUrl ?? entry.baseUrl ?? '').replace(/\/$/, '')}${balanceEndpoint.path}`),
      headers: { 'content-type': 'application/json' },
      body: new Secret(JSON.stringify({ authSecret: authSecret.reveal() })),
    };
  },
  readAnswer: (answer, { texts }) => judgeAnswer(answer, texts),
};
