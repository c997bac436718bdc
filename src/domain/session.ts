/** What whoever is signed in may do: a viewer looks, an operator changes things too. */
export type Role = 'operator' | 'viewer';

/** A browser that is signed in. Instants are milliseconds since 1970. */
export interface KnownSession {
  readonly id: string;
  readonly role: Role;
  readonly endsAt: number;
  /** When it was opened or last made longer. */
  readonly usedAt: number;
  /** Address of the client, and what its browser calls itself. */
  readonly from: string;
  readonly agent: string;
}
