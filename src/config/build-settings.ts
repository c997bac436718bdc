import { buildChannel } from '../channels/registry.ts';
import { keyOf } from '../domain/json.ts';
import { currencyCode } from '../domain/money.ts';
import { accountsAtOnce, type Parts } from '../domain/parts.ts';
import { defaultEntry, entryOf, type ProviderEntry } from '../domain/provider-entry.ts';
import type { Route } from '../domain/route.ts';
import { Secret } from '../domain/secret.ts';
import type { AccountSettings, PollSchedule, Settings, StorageSettings } from '../domain/settings.ts';
import { dayMs } from '../domain/time.ts';
import { everyChannel } from '../engine/decide.ts';
import type { EntryProblem } from '../providers/kind.ts';
import { providerKindOf } from '../providers/registry.ts';
import { buildBuiltInRules, withBalance } from '../rules/rules-for-account.ts';
import { once } from '../schema/shapes.ts';
import { type Draft, entryPositions, Position } from './draft.ts';
import { databaseFile, type Reading } from './read-draft.ts';
import type { ConfigInput } from './schema/config.ts';
import { type ProviderInput, providerSchema } from './schema/entries.ts';

const defaultPollMs = 300_000;

interface Surroundings extends Reading {
  readonly draft: Draft;
}

/** Builds the settings. Yields between thousands of accounts, so that other work has its turn. */
export function* buildSettings(config: ConfigInput, around: Surroundings): Parts<Settings> {
  const file = new Position(around.draft);
  const entries = readEntries(file).map(({ name, entry }): [string, ProviderEntry] => {
    if (entry === null) throw new Error(`the provider ${name} passed the checks with problems`);
    return [name, entry];
  });
  const { provider, ...providers } = Object.fromEntries(entries);
  if (provider === undefined) throw new Error('there is no default entry');
  const accounts: AccountSettings[] = [];
  for (const [index, account] of config.accounts.entries()) {
    if (index % accountsAtOnce === 0) yield;
    const entry = entryOf({ provider, providers }, { provider: account.provider ?? defaultEntry });
    const { accountKeys } = providerKindOf(entry);
    const key = accountKeys?.credential ?? 'credentials';
    const keyFrom = file.at('accounts', index, key).source;
    accounts.push({ ...buildAccount(account, entry, config), keyFrom });
  }
  yield;
  const rules = config.rules.map((rule, index) =>
    withBalance({ ...rule, written: file.at('rules', index).value }, accounts),
  );
  return {
    provider,
    providers,
    accounts,
    rules: [...rules, ...buildBuiltInRules(rules, accounts)],
    channels: Object.entries(config.channels).map(([name, channel]) => {
      const from = file.at('channels', name).source;
      return { ...buildChannel(name, channel), ...(from === null ? {} : { valuesFrom: from }) };
    }),
    routes: buildRoutes(config),
    silences: config.silences.map(({ duration: durationMs, timezone = config.timezone, ...silence }) => ({
      ...silence,
      timezone,
      durationMs,
    })),
    reports: config.reports.map(({ timezone = config.timezone, ...report }) => ({ ...report, timezone })),
    server: config.server && {
      publicUrl: null,
      token: null,
      viewerToken: null,
      trustedProxy: null,
      ...config.server,
    },
    heartbeat:
      config.heartbeat === undefined ? null : { url: config.heartbeat.url, everyMs: config.heartbeat.every },
    storage: buildStorage(config, around),
    log: config.log,
    money: buildMoney(config, file),
    payDays: config.payDays ?? null,
    timezone: config.timezone,
    language: config.language,
  };
}

function buildMoney(config: ConfigInput, file: Position): Settings['money'] {
  if (config.money === undefined) return null;
  const { currency, rates } = config.money;
  const { date = '', provider: _, every: everyMs = dayMs, inverted = false, ...values } = rates;
  const { entry } = readRatesEntry(file);
  if (entry === null) {
    const amounts = Object.fromEntries(
      Object.entries(values).map(([code, rate]) => [currencyCode(code), String(rate)]),
    );
    return { currency, rates: { date, base: currency, amounts, inverted }, source: null };
  }
  const asked = { id: entry.name, creditLimit: null, poll: { every: everyMs } };
  const account = { ...buildAccount(asked, entry, config), keyFrom: null };
  return { currency, rates: null, source: { entry, account, everyMs, inverted } };
}

/** The entry from which rates are read; none if the rates are in the file. */
export function readRatesEntry(file: Position): ReadEntry {
  const position = file.at('money', 'rates', 'provider');
  return position.value === undefined ? { entry: null, problems: [] } : readEntry('rates', position);
}

function buildStorage({ storage, cluster }: ConfigInput, around: Surroundings): StorageSettings {
  const { path, postgres, retention: retentionMs } = storage;
  if (postgres === undefined) return { path: databaseFile(path, around), retentionMs };
  const { node = null, advertise = null, lease: leaseMs, aloneFor: aloneForMs, announceTakeovers } = cluster;
  return {
    postgres: { url: postgres.url, node, advertise, leaseMs, aloneForMs, announceTakeovers },
    retentionMs,
  };
}

function buildAccount(
  account: ConfigInput['accounts'][number],
  entry: ProviderEntry,
  config: ConfigInput,
): Omit<AccountSettings, 'keyFrom'> {
  const { accountKeys } = providerKindOf(entry);
  const { id, name = id, currency = null, labels = {}, topUpUrl = entry.topUpUrl, note = null } = account;
  const { authSecret, credentials = {}, runbookUrl = null, leadTime: leadTimeMs = null } = account;
  const { timezone = config.timezone, weekend = config.weekend, poll = config.poll, thresholds } = account;
  const own = 'baseUrl' in entry && typeof entry.baseUrl === 'string' ? entry.baseUrl : null;
  return {
    id,
    name,
    provider: entry.name,
    credentials:
      accountKeys === undefined || authSecret === undefined
        ? credentials
        : { [accountKeys.credential]: authSecret },
    baseUrl: accountKeys === undefined ? null : (account.baseUrl ?? own),
    ...(accountKeys === undefined && entry.address !== undefined ? { entryAddress: entry.address } : {}),
    balances: entry.balances,
    currency,
    labels,
    ...(thresholds === undefined ? {} : { thresholds }),
    topUpUrl,
    runbookUrl,
    note,
    poll: buildPoll(poll, config.timezone),
    nearEmptyMs: poll?.nearEmpty ?? null,
    timezone,
    holidays: [...config.holidays, ...(account.holidays ?? [])],
    ...(weekend === undefined ? {} : { weekend }),
    creditLimitMicros: account.creditLimit,
    leadTimeMs,
  };
}

function buildPoll(poll: ConfigInput['poll'], timezone: string): PollSchedule {
  if (poll?.cron !== undefined) return { kind: 'cron', cron: poll.cron, timezone: poll.timezone ?? timezone };
  return { kind: 'every', everyMs: poll?.every ?? defaultPollMs };
}

/** Without routes, everything goes to every channel. An empty list means the same: it must not silence anything. */
function buildRoutes(config: ConfigInput): Route[] {
  if (config.routes.length === 0) return [everyChannel(Object.keys(config.channels))];
  return config.routes.map(
    ({ match = {}, repeatEvery: repeatEveryMs = null, groupWait: groupWaitMs, escalate, ...route }) => ({
      ...route,
      match,
      repeatEveryMs,
      groupWaitMs,
      escalate: escalate === undefined ? null : { afterMs: escalate.after, channels: escalate.channels },
    }),
  );
}

/** An entry of a draft. */
interface ReadEntry {
  /** Null if anything is wrong with it. */
  readonly entry: ProviderEntry | null;
  /** Problems of the entry beyond its shape. */
  readonly problems: readonly EntryProblem[];
}

export function readEntries(file: Position) {
  return entryPositions(file).map((each) => ({ ...each, ...readEntry(each.name, each.position) }));
}

function readEntry(name: string, position: Position): ReadEntry {
  const written = position.value;
  const { data } = providerSchema.safeParse(written ?? {}, once);
  const secretsAt = (key: string) => listSecretsIn(position.at(key));
  const built = data === undefined ? { problems: [] } : buildProvider(name, data, { written, secretsAt });
  return 'problems' in built ? { entry: null, ...built } : { entry: built, problems: [] };
}

/** Shorter texts occur in ordinary words, which would be blacked out. */
const minSecretLength = 6;

/** Secrets in a request or a part of it, except those too short to be one: values of placeholders, and secrets that are written out. */
function listSecretsIn(position: Position): readonly Secret[] {
  const texts = position
    .leaves()
    .flatMap((leaf) => leaf.filling?.from.map(({ text }) => text) ?? writtenSecrets(leaf));
  return texts.filter(({ length }) => length >= minSecretLength).map((text) => new Secret(text));
}

const secretPlace =
  /^(?:bearer|password|authorization|(?:.*[-_])?secret|(?:.*[-_])?(?:api|access|auth)[-_]?(?:key|token))$/i;

/** Secrets that are written out in a request, its address included, and not given as credentials of an account. */
export function writtenSecrets({ path, text }: Position): readonly string[] {
  if (text === null) return [];
  const asked = path.at(-1) === 'url' ? [...(URL.parse(text)?.searchParams ?? [])] : [];
  return [[String(path.at(-1)), text] as const, ...asked].flatMap(([place, written]) =>
    secretPlace.test(place) && written.length >= minSecretLength && !written.includes('{{') ? written : [],
  );
}

/** The settings of a valid entry. `written` is the value in the file; `secretsAt` returns the secrets of requests below a key. */
export function buildProvider(
  name: string,
  config: ProviderInput,
  {
    written,
    secretsAt,
  }: { readonly written: unknown; readonly secretsAt: (key: string) => readonly Secret[] },
): ProviderEntry | { readonly problems: readonly EntryProblem[] } {
  const {
    timeout,
    maxRequestsPerSecond,
    allowInsecureHttp,
    topUpUrl = null,
    payDays = null,
    backoff,
    ...own
  } = config;
  const type = keyOf(own, 'type');
  const typed = { ...own, type: typeof type === 'string' ? type : undefined };
  const kind = providerKindOf(typed);
  const limits = kind.limits(typed);
  return kind.build(
    {
      name,
      type: kind.type,
      timeoutMs: timeout,
      maxRequestsPerSecond: maxRequestsPerSecond ?? limits.requestsPerSecond ?? 1,
      shortestEveryMs: limits.shortestEveryMs ?? null,
      credentialNames: kind.credentials(typed).map((credential) => credential.name),
      allowInsecureHttp,
      topUpUrl,
      payDays,
      backoff: { initialMs: backoff.initial, maxMs: backoff.max },
      written,
      secrets: (kind.requestKeys ?? []).flatMap(secretsAt),
    },
    typed,
  );
}
