import { type Incident, mapNotified } from '../domain/alert.ts';
import type { AccountState, Reading } from '../domain/reading.ts';

/** A reading as an account's row has held it since 0.1.0: its balances are keys next to its instant and its currency. */
type StoredReading = { readonly at: number; readonly currency: string } & Readonly<
  Record<string, number | string>
>;

export type StoredAccount = Omit<AccountState, 'reading' | 'previous'> & {
  readonly reading: StoredReading | null;
  readonly previous: StoredReading | null;
};

export function accountToBody(state: AccountState): StoredAccount {
  return { ...state, reading: flatten(state.reading), previous: flatten(state.previous) };
}

export function accountFromBody(stored: StoredAccount): AccountState {
  return { ...stored, reading: restore(stored.reading), previous: restore(stored.previous) };
}

function flatten(reading: Reading | null): StoredReading | null {
  return reading && { at: reading.at, ...reading.balances, currency: reading.currency };
}

function restore(stored: StoredReading | null): Reading | null {
  if (stored === null) return null;
  const { at, currency, ...amounts } = stored;
  const balances: Record<string, number> = {};
  for (const [balance, micros] of Object.entries(amounts))
    if (typeof micros === 'number') balances[balance] = micros;
  return { at, balances, currency };
}

/** An incident as its row holds it: what channels were notified of is under `told`, the name that 0.1.0 gave it. Tests are not stored. */
export type StoredIncident = Omit<Incident, 'notified' | 'test'> & { readonly told: Incident['notified'] };

export function incidentToBody({ notified, ...rest }: Incident): StoredIncident {
  return { ...rest, told: notified };
}

/** Adds fields that older versions did not store. Their acknowledgements count as notified, so that no late message is sent. */
export function incidentFromBody({ told, ...rest }: StoredIncident): Incident {
  const acknowledgedAt = rest.acknowledgement?.at ?? null;
  const incident = { ...rest, eased: rest.eased ?? null, notified: told };
  return mapNotified(incident, (last) => ({
    ...last,
    ...(Object.hasOwn(last, 'acknowledgedAt') ? {} : { acknowledgedAt }),
  }));
}
