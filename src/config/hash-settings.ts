import { createHmac } from 'node:crypto';
import type { ConfigurationParts } from '../cluster/compare-configurations.ts';
import { inSlices } from '../daemon/slices.ts';
import { parseAddress } from '../domain/addresses.ts';
import { entryText } from '../domain/provider-entry.ts';
import { mapEach } from '../domain/reading.ts';
import { Secret } from '../domain/secret.ts';
import type { PostgresSettings, Settings } from '../domain/settings.ts';

/** The accounts of one slice, which takes a few milliseconds. */
const accountsAtOnce = 1000;

/**
 * A digest that shows whether two processes have the same configuration, secrets included. It reveals nothing about the secrets: its key is
 * how a daemon signs in to the database. Daemons may differ in where they listen and what they are called.
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

/** The parts of the settings by name, each with a digest that reveals nothing: `compareConfigurations` compares them. */
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

/** The settings that daemons share. Each entry is replaced by its text, because its compiled form may contain itself. */
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
