import * as z from 'zod';
import type { ProviderEntry } from '../../domain/provider-entry.ts';
import type { BalanceDefinition } from '../../domain/reading.ts';
import { filledList, flag, shape } from '../../schema/shapes.ts';
import { id, oneLine } from '../../schema/texts.ts';
import type { ProviderKind } from '../kind.ts';

const balance = shape({
  id: id('Names the balance in readings, rules and the API.'),
  label: oneLine('How people call it. Default: the id.').optional(),
  alertsBelowZero: flag('Whether running empty matters: an alert below zero is then built in.').default(true),
});

const schema = shape({
  type: z
    .literal('pushed')
    .describe('Accounts that are not polled: POST /api/v1/accounts/{id}/readings brings their readings.'),
  balances: filledList(
    'What its accounts have. Default: one balance called "balance".',
    balance,
    'must be a list with at least one balance',
  )
    .max(8, { error: 'must have at most 8 balances' })
    .optional(),
});

const oneBalance: readonly BalanceDefinition[] = [{ id: 'balance', label: 'Balance', alertsBelowZero: true }];

export const pushedKind: ProviderKind<z.output<typeof schema>, ProviderEntry> = {
  type: 'pushed',
  summary: 'Accounts whose readings are pushed to lowwater: it asks nobody.',
  source: { reference: 'docs/api.md, pushReading', certainty: 'documented' },
  polled: false,
  schema,
  build: (shared, { balances }) => ({
    ...shared,
    balances: balances?.map(({ label, ...rest }) => ({ ...rest, label: label ?? rest.id })) ?? oneBalance,
    polled: false,
    words: {
      replaceKey: 'See to it that whoever pushes the readings has a valid token,',
      keyName: 'credentials',
      addressKey: null,
    },
  }),
  credentials: () => [],
  limits: () => ({ documented: 'None: readings come when they are pushed, expected each poll.every.' }),
  request: () => ({ credential: 'type', reason: 'the account is not polled: its readings are pushed' }),
  readAnswer: () => ({
    kind: 'invalid_response',
    reason: 'the account is not polled: its readings are pushed',
  }),
};
