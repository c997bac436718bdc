import { createHmac } from 'node:crypto';
import type { ConfigurationParts } from '../cluster/compare-configurations.ts';
import { inSlices } from '../daemon/slices.ts';
import { parseAddress } from '../domain/addresses.ts';
import { entryText } from '../domain/provider-entry.ts';
import { mapEach } from '../domain/reading.ts';
import { Secret } from '../domain/secret.ts';
import type { PostgresSettings, Settings } from '../domain/settings.ts';

/** Accounts that take a few milliseconds. */
const accountsAtOnce = 1000;

/**
 * Tells whether two processes have the same configuration, secrets included, of which nobody can learn anything from it: its key is
 * how a daemon signs in to the database. Where a daemon listens and what it is called may differ.
 */
export async function hashSettings(
  settings: Settings,
  { url }: Pick<PostgresSettings, 'url'>,
): Promise<string> {
  const { accounts, ...shared } = comparable(settings);
  const hash = createHmac('sha256', keyOf(url)).update(textOf(shared));
  for await (const slice of inSlices(accounts, accountsAtOnce)) hash.update(textOf(slice));
  return hash.digest('hex').slice(0, 32);
}

/** The parts of the settings by name, each with a digest of which nobody can learn anything: what `compareConfigurations` compares. */
export async function describeParts(
  settings: Settings,
  { url }: Pick<PostgresSettings, 'url'>,
): Promise<ConfigurationParts> {
  const { accounts, rules, channels, ...rest } = comparable(settings);
  const digest = (part: unknown): string =>
    createHmac('sha256', keyOf(url)).update(textOf(part)).digest('hex').slice(0, 12);
  const byAccount: Record<string, string> = {};
  for await (const slice of inSlices(accounts, accountsAtOnce))
    for (const account of slice) byAccount[account.id] = digest(account);
  return {
    accounts: byAccount,
    rules: Object.fromEntries(rules.map((rule) => [rule.id, digest(rule)])),
    channels: Object.fromEntries(channels.map((channel) => [channel.name, digest(channel)])),
    keys: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, digest(value)])),
  };
}

/** The settings that daemons share, with the text of each entry in place of what was compiled of it, which may hold itself. */
function comparable({ server: _, storage: __, log: ___, provider, providers, money, ...rest }: Settings) {
  const source = money?.source && { ...money.source, entry: entryText(money.source.entry) };
  return {
    ...{ ...rest, provider: entryText(provider), providers: mapEach(providers, entryText) },
    money: money && { ...money, source },
  };
}

/** The user, database and password of a connection: daemons may reach one database at different addresses. */
function keyOf(url: Secret): string {
  const parsed = parseAddress(url.reveal());
  return parsed === null ? url.reveal() : `${parsed.username}:${parsed.password}@${parsed.pathname}`;
}

function textOf(part: unknown): string {
  return JSON.stringify(part, function (this: Record<string, unknown>, name, value: unknown) {
    const held = this[name];
    return held instanceof Secret ? held.reveal() : value;
  });
}
