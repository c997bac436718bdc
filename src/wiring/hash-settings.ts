import { createHmac } from 'node:crypto';
import { Secret } from '../domain/secret.ts';
import type { PostgresSettings, Settings } from '../domain/settings.ts';

/**
 * Tells whether two processes have the same configuration, secrets included, of which nobody can learn anything from it: its key is
 * the address of the database. Where a daemon listens and what it is called may differ.
 */
export function hashSettings(settings: Settings, { url }: Pick<PostgresSettings, 'url'>): string {
  const { server: _, storage: __, log: ___, ...shared } = settings;
  const text = JSON.stringify(shared, function (this: Record<string, unknown>, name, value: unknown) {
    const held = this[name];
    return held instanceof Secret ? held.reveal() : value;
  });
  return createHmac('sha256', url.reveal()).update(text).digest('hex').slice(0, 32);
}
