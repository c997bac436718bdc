import { createHmac } from 'node:crypto';
import { inSlices } from '../daemon/slices.ts';
import { entriesOf, entryText } from '../domain/provider-entry.ts';
import { Secret } from '../domain/secret.ts';
import type { PostgresSettings, Settings } from '../domain/settings.ts';

/** So many accounts take a few milliseconds. */
const accountsAtOnce = 1000;

/**
 * Tells whether two processes have the same configuration, secrets included, of which nobody can learn anything from it: its key is
 * the address of the database. Where a daemon listens and what it is called may differ.
 */
export async function hashSettings(
  settings: Settings,
  { url }: Pick<PostgresSettings, 'url'>,
): Promise<string> {
  const { server: _, storage: __, log: ___, accounts, provider, providers, ...shared } = settings;
  const entries = entriesOf({ provider, providers }).map(entryText);
  const hash = createHmac('sha256', url.reveal()).update(textOf({ ...shared, entries }));
  for await (const slice of inSlices(accounts, accountsAtOnce)) hash.update(textOf(slice));
  return hash.digest('hex').slice(0, 32);
}

function textOf(part: unknown): string {
  return JSON.stringify(part, function (this: Record<string, unknown>, name, value: unknown) {
    const held = this[name];
    return held instanceof Secret ? held.reveal() : value;
  });
}
