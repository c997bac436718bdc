import { kindOf } from '../channels/registry.ts';
import { listSecretTexts } from '../daemon/known-secrets.ts';
import { isLoopbackHost } from '../domain/addresses.ts';
import { formatDuration } from '../domain/duration.ts';
import { currencyCode } from '../domain/money.ts';
import { nearestWord } from '../domain/nearest-word.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import {
  credentialTextOf,
  defaultEntry,
  entriesOf,
  entryOf,
  type ProviderEntry,
  providerKeyOf,
} from '../domain/provider-entry.ts';
import { matches, type Rule } from '../domain/rule.ts';
import { isShortToken, shortTokenAdvice } from '../domain/secret.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import type { Calendar } from '../ports/clock.ts';
import { describeProvider } from '../providers/describe-provider.ts';
import { providerKindOf } from '../providers/registry.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { rulesForAccount } from '../rules/rules-for-account.ts';
import { shortPollMs } from '../schema/schedules.ts';
import { listWords, quoteKey } from '../wording/lists.ts';
import type { Path } from './config-problem.ts';
import { type Draft, itemsAt, leavesBelow, problemAt, valueAt } from './draft.ts';
import { findRouteWarnings } from './find-route-warnings.ts';

/** So many runs show whether a silence ever ends: a week of hourly ones, a year of weekly ones. */
const runsLookedAt = 170;

/** What is allowed but perhaps not meant, in a configuration without errors. Between its parts others may have their turn. */
export function* findWarnings(
  draft: Draft,
  settings: Settings,
  when: { readonly calendar: Calendar; readonly now: number },
): Generator<undefined, ConfigProblem[]> {
  const warnings: ConfigProblem[] = [];
  for (const find of finders) {
    for (const warning of find(draft, settings, when)) warnings.push(warning);
    yield;
  }
  return warnings;
}

/** A silence that begins again before it ends mutes for good, which nobody may have meant. */
function warnOfEndlessSilences(
  draft: Draft,
  settings: Settings,
  { calendar, now }: { readonly calendar: Calendar; readonly now: number },
): ConfigProblem[] {
  return itemsAt(draft, ['silences']).flatMap((path, index) => {
    const silence = settings.silences[index];
    if (silence === undefined) return [];
    let run = calendar.next(silence.cron, silence.timezone, now);
    for (let seen = 0; run !== null && seen < runsLookedAt; seen++) {
      const next = calendar.next(silence.cron, silence.timezone, run);
      if (next === null || next - run > silence.durationMs) return [];
      run = next;
    }
    return [
      problemAt(draft, [...path, 'duration'], 'begins again before it ends: what it matches is never heard'),
    ];
  });
}

function warnOfShortPolls(draft: Draft, settings: Settings): ConfigProblem[] {
  const message = `polling more often than every ${formatDuration(shortPollMs)} puts load on the provider and brings rate limits nearer`;
  const isShort = ({ poll }: AccountSettings): boolean => poll.kind === 'every' && poll.everyMs < shortPollMs;
  const own = settings.accounts.flatMap((account, index) => {
    const path = ['accounts', index, 'poll', 'every'];
    return isShort(account) && valueAt(draft, path) !== undefined ? [problemAt(draft, path, message)] : [];
  });
  const isSharedShort = settings.accounts.some(
    (account, index) => isShort(account) && valueAt(draft, ['accounts', index, 'poll']) === undefined,
  );
  return isSharedShort ? [...own, problemAt(draft, ['poll', 'every'], message)] : own;
}

/** Accounts that share a secret share the guard: together they may want more requests than it lets through. */
function warnOfDemand(draft: Draft, settings: Settings): ConfigProblem[] {
  const demand = new Map<string, { readonly entry: ProviderEntry; perSecond: number }>();
  for (const account of settings.accounts) {
    if (account.poll.kind !== 'every') continue;
    const group = `${providerKeyOf(account)}\n${credentialTextOf(account)}`;
    const known = demand.get(group) ?? { entry: entryOf(settings, account), perSecond: 0 };
    known.perSecond += 1000 / account.poll.everyMs;
    demand.set(group, known);
  }
  const over = [...demand.values()].filter(({ entry, perSecond }) => perSecond > entry.maxRequestsPerSecond);
  return [...new Set(over.map(({ entry }) => entry))].map((entry) =>
    problemAt(
      draft,
      [...entryPath(entry), 'maxRequestsPerSecond'],
      `accounts that share one ${entry.words.keyName} ask for more polls per second than this allows: they will be polled later than configured`,
    ),
  );
}

/** What a kind says of itself that the operator should know: how sure it is, and how often polling makes sense. */
function warnOfProviders(draft: Draft, settings: Settings): ConfigProblem[] {
  return entriesOf(settings).flatMap((entry) => {
    const used = settings.accounts.flatMap((account, index) =>
      account.provider === entry.name ? [{ account, index }] : [],
    );
    if (used.length === 0) return [];
    const kind = providerKindOf(entry);
    const shortestEveryMs = entry.shortestEveryMs ?? 0;
    const { caution } = describeProvider(kind);
    const tooOften = used.filter(
      ({ account: { poll } }) => poll.kind === 'every' && poll.everyMs < shortestEveryMs,
    );
    return [
      ...requestLeaves(draft, entry).flatMap((leaf) =>
        draft.isInterpolated(leaf)
          ? [
              problemAt(
                draft,
                leaf,
                'a secret belongs into `credentials` of an account, and here as {{credentials.name}}',
              ),
            ]
          : [],
      ),
      ...(caution === null ? [] : [problemAt(draft, [...entryPath(entry), 'type'], caution)]),
      ...tooOften.map(({ index }) =>
        problemAt(
          draft,
          valueAt(draft, ['accounts', index, 'poll']) === undefined
            ? ['accounts', index]
            : ['accounts', index, 'poll', 'every'],
          `is polled more often than every ${formatDuration(shortestEveryMs)}, which shows nothing new or is refused`,
        ),
      ),
    ];
  });
}

/** Where the texts of its requests stand. */
function requestLeaves(draft: Draft, entry: ProviderEntry): readonly Path[] {
  const { requestKey } = providerKindOf(entry);
  return requestKey === undefined ? [] : leavesBelow(draft, [...entryPath(entry), requestKey]);
}

function entryPath({ name }: ProviderEntry): Path {
  return name === defaultEntry ? [name] : ['providers', name];
}

function warnOfRules(draft: Draft, settings: Settings): ConfigProblem[] {
  const watched = new Map<string, AccountSettings[]>(settings.rules.map(({ id }) => [id, []]));
  for (const account of settings.accounts)
    for (const { id } of rulesForAccount(settings, account)) watched.get(id)?.push(account);
  return itemsAt(draft, ['rules']).flatMap((path, index) => {
    const rule = settings.rules[index];
    if (rule === undefined) return [];
    const accounts = watched.get(rule.id) ?? [];
    const unused = accounts.length === 0 ? [{ path: [], message: whyUnused(rule, settings) }] : [];
    const doubtful = ruleKindOf(rule).warn?.(rule, accounts) ?? [];
    return [...unused, ...doubtful].map((problem) =>
      problemAt(draft, [...path, ...problem.path], problem.message),
    );
  });
}

function whyUnused({ balance, match }: Rule, { accounts }: Settings): string {
  const matched = accounts.filter(({ id: account, labels }) => matches(match, { account, labels }));
  if (matched.length === 0 || balance === null) return 'this rule watches no account';
  const known = [...new Set(matched.flatMap(({ balances }) => balances.map(({ id }) => id)))];
  const meant = nearestWord(balance, known);
  return `this rule watches no account: none that it matches has the balance ${quoteKey(balance)}; ${meant === null ? `there is ${listWords(known.slice(0, 10), 'and')}` : `did you mean ${quoteKey(meant)}?`}`;
}

function warnOfChannels(draft: Draft, settings: Settings): ConfigProblem[] {
  const providerHosts = [
    ...new Set(baseUrlsOf(settings).map((baseUrl) => URL.parse(baseUrl)?.hostname ?? '')),
  ];
  return settings.channels.flatMap((channel) =>
    (kindOf(channel).findWarnings?.(channel, { providerHosts }) ?? []).map(({ key, message }) =>
      problemAt(draft, ['channels', channel.name, key], message),
    ),
  );
}

function warnOfOpenDoors(draft: Draft, settings: Settings): ConfigProblem[] {
  const warnings: ConfigProblem[] = [];
  if (baseUrlsOf(settings).some(isUnencrypted)) {
    warnings.push(
      problemAt(
        draft,
        ['provider', 'allowInsecureHttp'],
        'secrets of accounts travel unencrypted over http://',
      ),
    );
  }
  const { server } = settings;
  if (server?.token && isShortToken(server.token)) {
    warnings.push(problemAt(draft, ['server', 'token'], shortTokenAdvice));
  }
  if (server !== null && server.token === null && !isLoopbackHost(server.host)) {
    warnings.push(
      problemAt(
        draft,
        ['server', 'allowUnauthenticated'],
        'everybody who reaches the server can silence alerts',
      ),
    );
  }
  return warnings;
}

const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

function warnOfCurrencies(draft: Draft, { accounts }: Settings): ConfigProblem[] {
  return accounts.flatMap(({ currency }, index) => {
    if (currency === null || currencies.has(currencyCode(currency))) return [];
    const meant = nearestWord(currencyCode(currency), currencies);
    const advice = meant === null ? '' : `; did you mean ${quoteKey(meant)}?`;
    return [problemAt(draft, ['accounts', index, 'currency'], `is not a currency code of ISO 4217${advice}`)];
  });
}

/** Shells, Windows and other programs write variables so; here such a text is the secret itself. */
const foreignPlaceholder =
  /(?:^|[/:@?=&])(?:\$[A-Z_][A-Z0-9_]*|\$\([A-Z_][A-Z0-9_]*\)|%[A-Z_][A-Z0-9_]{2,}%)(?=$|[/:@?&])/i;

function warnOfDoubtfulSecrets(draft: Draft, settings: Settings): ConfigProblem[] {
  // What the schemas made a secret is one, under whatever key it stands.
  const secrets = new Set(listSecretTexts(settings));
  const problems: ConfigProblem[] = [];
  // One path for all: most of tens of thousands of values are in order, and need none of their own.
  const path: (string | number)[] = [];
  const warn = (message: string) => problems.push(problemAt(draft, [...path], message));
  const doubt = (secret: string): void => {
    if (foreignPlaceholder.test(secret) && !draft.isInterpolated(path))
      warn(
        `looks like a forgotten placeholder and is taken as it stands; a variable is written \${env:NAME}`,
      );
    if (secret !== secret.trim()) warn('begins or ends with a space, which is taken as it stands');
  };
  const look = (value: object): void => {
    for (const key of Object.keys(value)) {
      const child: unknown = Reflect.get(value, key);
      path.push(Array.isArray(value) ? Number(key) : key);
      if (typeof child === 'object' && child !== null) look(child);
      else if (typeof child === 'string' && secrets.has(child)) doubt(child);
      path.pop();
    }
  };
  look(Object(draft.value));
  return problems;
}

function baseUrlsOf({ accounts }: Settings): readonly string[] {
  return [...new Set(accounts.flatMap(({ baseUrl }) => baseUrl ?? []))];
}

function isUnencrypted(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && !isLoopbackHost(url.hostname);
}

const finders = [
  warnOfShortPolls,
  warnOfDemand,
  warnOfProviders,
  warnOfRules,
  findRouteWarnings,
  warnOfEndlessSilences,
  warnOfChannels,
  warnOfOpenDoors,
  warnOfCurrencies,
  warnOfDoubtfulSecrets,
] as const;
