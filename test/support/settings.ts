import { buildChannel, channelSchema } from '../../src/channels/registry.ts';
import { listSecretTexts } from '../../src/daemon/known-secrets.ts';
import { createForeignTexts, type ForeignTexts } from '../../src/domain/foreign-text.ts';
import type { ProviderEntry } from '../../src/domain/provider-entry.ts';
import { defaultGroupWaitMs, defaultRepeatEveryMs, type Route } from '../../src/domain/route.ts';
import type { Rule } from '../../src/domain/rule.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { AccountSettings, ChannelSettings, Settings } from '../../src/domain/settings.ts';
import {
  accountServiceBalances,
  accountServiceKind,
} from '../../src/providers/account-service/account-service-kind.ts';
import { buildBuiltInRules, withBalance } from '../../src/rules/rules-for-account.ts';
import { dayMs, minuteMs } from './account-facts.ts';

/** Parts of a configuration that a test names; the rest is as a short file would have it. */
export interface SettingsParts extends Partial<Omit<Settings, 'accounts' | 'channels' | 'rules'>> {
  readonly accounts?: readonly (string | AccountSettings)[];
  readonly channels?: readonly (string | ChannelSettings)[];
  /** The built-in rules are added, as the configuration does. */
  readonly rules?: readonly Rule[];
}

export function makeSettings(parts: SettingsParts = {}): Settings {
  const { accounts = ['otp'], channels = ['ops'], rules = [], ...rest } = parts;
  const watched = accounts.map((account) => (typeof account === 'string' ? makeAccount(account) : account));
  const sent = channels.map((channel) => (typeof channel === 'string' ? makeChannel(channel) : channel));
  return {
    provider: makeProvider(),
    providers: {},
    accounts: watched,
    rules: [...rules.map((rule) => withBalance(rule, watched)), ...buildBuiltInRules(rules, watched)],
    channels: sent,
    routes: [makeRoute({ channels: sent.map(({ name }) => name) })],
    silences: [],
    reports: [],
    server: null,
    heartbeat: null,
    storage: { path: 'unused', retentionMs: 400 * dayMs },
    log: { level: 'silent' },
    money: null,
    payDays: null,
    timezone: 'UTC',
    language: 'en',
    ...rest,
  };
}

/** The default entry. */
export function makeProvider(over: Partial<ProviderEntry> = {}): ProviderEntry {
  const shared = {
    name: 'provider',
    type: accountServiceKind.type,
    timeoutMs: 10_000,
    maxRequestsPerSecond: 20,
    allowInsecureHttp: false,
    backoff: { initialMs: 30_000, maxMs: 3_600_000 },
    topUpUrl: null,
    payDays: null,
    written: null,
    shortestEveryMs: null,
    credentialNames: ['authSecret'],
    secrets: [],
  };
  const entry = accountServiceKind.build(shared, {});
  if ('problems' in entry) throw new Error('the default entry has problems');
  return { ...entry, ...over };
}

export function makeAccount(
  id: string,
  over: Partial<AccountSettings> & { readonly authSecret?: Secret } = {},
): AccountSettings {
  const { authSecret = new Secret(`key-of-${id}`), ...rest } = over;
  return {
    id,
    name: id,
    keyFrom: null,
    balances: accountServiceBalances,
    provider: 'provider',
    credentials: { authSecret },
    baseUrl: 'https://api.example.com',
    currency: 'CNY',
    labels: {},
    topUpUrl: null,
    runbookUrl: null,
    note: null,
    poll: { kind: 'every', everyMs: 5 * minuteMs },
    nearEmptyMs: null,
    timezone: 'UTC',
    holidays: [],
    creditLimitMicros: 0,
    leadTimeMs: null,
    ...rest,
  };
}

export function makeRoute(over: Partial<Route> = {}): Route {
  return {
    match: {},
    channels: ['ops'],
    repeatEveryMs: defaultRepeatEveryMs,
    groupWaitMs: defaultGroupWaitMs,
    escalate: null,
    continue: false,
    mention: true,
    ...over,
  };
}

/** A Slack channel; one called `mail` is a mail channel. */
export function makeChannel(name: string, address = name): ChannelSettings {
  return name === 'mail'
    ? channelOf(name, {
        type: 'email',
        smtpUrl: 'smtps://mail.example.com',
        from: 'ops@example.com',
        to: ['ops@example.com'],
      })
    : channelOf(name, { type: 'slack', webhookUrl: `https://hooks.example.com/${address}` });
}

/** A channel as the configuration builds it from a part of the file. */
export function channelOf(name: string, config: object): ChannelSettings {
  return buildChannel(name, channelSchema.parse(config));
}

/** What hides the secrets of these settings in what a receiver says. */
export function textsAround(settings: object): ForeignTexts {
  return createForeignTexts(listSecretTexts(settings));
}
