import { kindOf } from '../channels/registry.ts';
import { listSecretTexts } from '../daemon/known-secrets.ts';
import { isLoopbackHost, isUnencrypted } from '../domain/addresses.ts';
import { currencyCode } from '../domain/money.ts';
import { isAhead } from '../domain/one-sum.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { accountsAtOnce, type Parts } from '../domain/parts.ts';
import {
  credentialTextOf,
  entriesOf,
  entryOf,
  type ProviderEntry,
  providerKeyOf,
} from '../domain/provider-entry.ts';
import { matchesEverything } from '../domain/rule.ts';
import { isShortToken, shortTokenAdvice } from '../domain/secret.ts';
import type { AccountSettings, Settings } from '../domain/settings.ts';
import { dayMs, formatDuration } from '../domain/time.ts';
import { describeProvider } from '../providers/describe-provider.ts';
import { providerKindOf } from '../providers/registry.ts';
import { shortPollMs } from '../schema/times.ts';
import { didYouMean } from '../wording/lists.ts';
import { writtenSecrets } from './build-settings.ts';
import { demandEncryption } from './checks/check-keys.ts';
import type { CronCheck } from './checks/check-schedules.ts';
import { type Draft, entryPosition, Position } from './draft.ts';
import { warnOfLabels, warnOfMetricLabels, warnOfRules } from './rule-warnings.ts';

/** A finder that looks at each account yields between parts. */
type Finder = (file: Position, settings: Settings, when: CronCheck) => Parts<void> | void;

const finders: readonly Finder[] = [
  warnOfRates,
  warnOfShortPolls,
  warnOfDemand,
  warnOfProviders,
  warnOfPushed,
  warnOfUnsent,
  warnOfRules,
  warnOfGaps,
  warnOfUnused,
  warnOfReports,
  warnOfLabels,
  warnOfMetricLabels,
  warnOfEndlessSilences,
  warnOfChannels,
  warnOfOpenDoors,
  warnOfCurrencies,
  warnOfDoubtfulSecrets,
];

/** Runs that are looked at to see whether a silence ever ends: a week of hourly ones, three years of weekly ones. */
const runsLookedAt = 170;

/** Warnings of things allowed but perhaps not meant, in a valid configuration. Yields between parts, so that other work has its turn. */
export function* findWarnings(draft: Draft, settings: Settings, when: CronCheck): Parts<ConfigProblem[]> {
  const warnings: ConfigProblem[] = [];
  for (const find of finders) {
    yield* find(new Position(draft, warnings), settings, when) ?? [];
    yield;
  }
  return warnings;
}

/** A silence that begins again before it ends mutes for good, which nobody may have meant. */
function warnOfEndlessSilences(file: Position, { silences }: Settings, { calendar, now }: CronCheck): void {
  for (const [index, { cron, timezone, durationMs }] of silences.entries()) {
    let run = calendar.next(cron, timezone, now);
    let isEndless = true;
    for (let seen = 0; isEndless && run !== null && seen < runsLookedAt; seen++) {
      const next = calendar.next(cron, timezone, run);
      isEndless = next !== null && next - run <= durationMs;
      run = next;
    }
    if (isEndless)
      file
        .at('silences', index, 'duration')
        .report('begins again before it ends: what it matches is never heard');
  }
}

/** The pause between polls; null for a schedule, and if readings are pushed. */
function intervalOf(settings: Settings, account: AccountSettings): number | null {
  return account.poll.kind === 'every' && entryOf(settings, account).polled ? account.poll.everyMs : null;
}

function warnOfShortPolls(file: Position, settings: Settings): void {
  const message = `polling more often than every ${formatDuration(shortPollMs)} puts load on the provider and brings rate limits nearer`;
  const shared = new Set<string>();
  for (const [index, account] of settings.accounts.entries()) {
    const every = intervalOf(settings, account);
    if (every === null) continue;
    const own = file.at('accounts', index, 'poll');
    for (const [key, ms] of Object.entries({ every, nearEmpty: account.nearEmptyMs })) {
      if (ms === null || ms >= shortPollMs) continue;
      if (own.value === undefined) shared.add(key);
      else own.at(key).report(message);
    }
  }
  for (const key of shared) file.at('poll', key).report(message);
}

/** Accounts that share a secret share the guard: together they may need more requests than it lets through. */
function warnOfDemand(file: Position, settings: Settings): void {
  const demand = new Map<string, { readonly entry: ProviderEntry; perSecond: number }>();
  for (const account of settings.accounts) {
    const everyMs = intervalOf(settings, account);
    if (everyMs === null) continue;
    const group = `${providerKeyOf(account)}\n${credentialTextOf(account)}`;
    const known = demand.get(group) ?? { entry: entryOf(settings, account), perSecond: 0 };
    known.perSecond += 1000 / everyMs;
    demand.set(group, known);
  }
  const over = [...demand.values()].filter(({ entry, perSecond }) => perSecond > entry.maxRequestsPerSecond);
  for (const entry of new Set(over.map(({ entry }) => entry)))
    entryPosition(file, entry.name)
      .at('maxRequestsPerSecond')
      .report(
        `accounts that share one ${entry.words.keyName} ask for more polls per second than this allows: they will be polled later than configured`,
      );
}

/** Facts about a kind that the operator should know: how certain it is, and how often polling makes sense. */
function warnOfProviders(file: Position, settings: Settings): void {
  const used = Map.groupBy(settings.accounts.entries(), ([, { provider }]) => provider);
  for (const entry of entriesOf(settings)) {
    const accounts = used.get(entry.name) ?? [];
    if (accounts.length === 0) continue;
    const kind = providerKindOf(entry);
    const position = entryPosition(file, entry.name);
    const { caution } = describeProvider(kind);
    const leaves = (kind.requestKeys ?? []).flatMap((key) => position.at(key).leaves());
    for (const leaf of leaves.filter((each) => each.isFilled || writtenSecrets(each).length > 0))
      leaf.report('a secret belongs into `credentials` of an account, and here as {{credentials.name}}');
    if (caution !== null) position.at('type').report(caution);
    for (const [index, { poll }] of accounts)
      if (poll.kind === 'every') warnOfNeedlessPolls(file.at('accounts', index), poll.everyMs, entry);
  }
}

/** Allowed, as in 0.3.0: earlier pushed readings can still be asked for. */
function warnOfPushed(file: Position, settings: Settings): void {
  if (settings.server !== null) return;
  for (const [index, account] of settings.accounts.entries())
    if (!entryOf(settings, account).polled)
      file
        .at('accounts', index, 'provider')
        .report('its readings are pushed, and "server": null switches off what takes them');
}

const requestsOf = (entry: Position) => [entry.at('request'), entry.at('token', 'request')];
const unencrypted = 'secrets of accounts travel unencrypted over http://';

function warnOfUnencrypted(entry: Position): void {
  const allowed = entry.at('allowInsecureHttp');
  for (const url of requestsOf(entry).map((request) => request.at('url'))) {
    if (!isUnencrypted(url.text ?? '')) continue;
    if (allowed.value === true) allowed.report(unencrypted);
    else url.report(`is never asked: ${demandEncryption(allowed)}`);
  }
}

function warnOfPlaceless(row: Position): void {
  for (const key of row.has('path') ? [] : ['equals', 'in'])
    if (row.has(key)) row.at(key).report('is not looked at: it needs `path`');
}

/**
 * Allowed, as in 0.3.0: of two authorizations only one is sent, nothing goes over http:// to another machine, and a value without a place has
 * no effect.
 */
function warnOfUnsent(file: Position, settings: Settings): void {
  const entries = entriesOf(settings).map((entry) => entryPosition(file, entry.name));
  for (const entry of entries) {
    warnOfUnencrypted(entry);
    for (const row of entry.at('errors').items()) warnOfPlaceless(row);
  }
  for (const request of entries.flatMap(requestsOf)) {
    const headers = request.at('headers');
    for (const name of request.has('basic') || request.has('bearer') ? headers.keys() : [])
      if (/^authorization$/i.test(name))
        headers.at(name).report('is not sent: `basic` or `bearer` takes its place');
  }
}

function warnOfNeedlessPolls(account: Position, everyMs: number, { shortestEveryMs }: ProviderEntry): void {
  if (shortestEveryMs === null || everyMs >= shortestEveryMs) return;
  const position = account.has('poll') ? account.at('poll', 'every') : account;
  position.report(
    `is polled more often than every ${formatDuration(shortestEveryMs)}, which shows nothing new or is refused`,
  );
}

function warnOfChannels(file: Position, { channels, accounts }: Settings): void {
  const hosts = accounts.flatMap(({ baseUrl }) =>
    baseUrl === null ? [] : (URL.parse(baseUrl)?.hostname ?? ''),
  );
  const providerHosts = [...new Set(hosts)];
  for (const channel of channels)
    for (const { key, message } of kindOf(channel).findWarnings?.(channel, { providerHosts }) ?? [])
      file.at('channels', channel.name, key).report(message);
}

function warnOfOpenDoors(file: Position, settings: Settings): void {
  const { accounts, server } = settings;
  // Hardly any of tens of thousands of addresses has to be parsed.
  const open = accounts.filter(({ baseUrl }) => baseUrl?.startsWith('http:') && isUnencrypted(baseUrl));
  for (const entry of new Set(open.map((account) => entryOf(settings, account))))
    entryPosition(file, entry.name).at('allowInsecureHttp').report(unencrypted);
  if (server === null) return;
  if (server.token !== null && isShortToken(server.token))
    file.at('server', 'token').report(shortTokenAdvice);
  if (server.token === null && !isLoopbackHost(server.host))
    file.at('server', 'allowUnauthenticated').report('everybody who reaches the server can silence alerts');
}

function warnOfCurrencies(file: Position, { accounts }: Settings): void {
  const currencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));
  for (const [index, { currency }] of accounts.entries()) {
    if (currency === null || currencies.has(currencyCode(currency))) continue;
    const meant = didYouMean(currencyCode(currency), currencies);
    const advice = meant === null ? '' : `; ${meant}`;
    file.at('accounts', index, 'currency').report(`is not a currency code of ISO 4217${advice}`);
  }
}

/** The form of variables in shells, Windows and other programs: here such a text is taken as the secret itself. */
const foreignPlaceholder =
  /(?:^|[/:@?=&])(?:\$[A-Z_][A-Z0-9_]*|\$\([A-Z_][A-Z0-9_]*\)|%[A-Z_][A-Z0-9_]{2,}%)(?=$|[/:@?&])/i;

/** Looks for every value that the schemas made a secret, whichever key it has. Yields between thousands of accounts. */
function* warnOfDoubtfulSecrets(file: Position, { accounts, ...others }: Settings): Parts<void> {
  const ofAll = new Set(listSecretTexts(others));
  for (const key of file.keys()) if (key !== 'accounts') lookForSecrets(file.at(key), ofAll);
  for (const [index, account] of accounts.entries()) {
    if (index % accountsAtOnce === 0) yield;
    lookForSecrets(file.at('accounts', index), new Set(listSecretTexts(account)));
  }
}

function lookForSecrets(position: Position, secrets: ReadonlySet<string>): void {
  for (const [key, child] of Object.entries(Object(position.value))) {
    const below = (): Position => position.at(Array.isArray(position.value) ? Number(key) : key);
    if (typeof child === 'object' && child !== null) lookForSecrets(below(), secrets);
    else if (typeof child === 'string' && secrets.has(child)) doubt(below(), child);
  }
}

function doubt(position: Position, secret: string): void {
  if (foreignPlaceholder.test(secret) && !position.isFilled)
    position.report(
      `looks like a forgotten placeholder and is taken as it stands; a variable is written \${env:NAME}`,
    );
  if (secret !== secret.trim()) position.report('begins or ends with a space, which is taken as it stands');
}

const staleRatesMs = 92 * dayMs;

function warnOfRates(file: Position, { money }: Settings, { now }: CronCheck): void {
  const ageMs = now - Date.parse(money?.rates?.date ?? '');
  const date = file.at('money', 'rates', 'date');
  if (ageMs > staleRatesMs) date.report(`is ${Math.floor(ageMs / dayMs)} days ago: sums are at old rates`);
  if (isAhead(money?.rates?.date ?? '', now))
    date.report('lies in the future: the date is wrong, or the clock of this machine is');
}

/** Warns of alerts that no route matches, and of routes that no alert can reach. */
function warnOfGaps(file: Position, { routes }: Settings): void {
  const list = file.at('routes');
  if (list.items().length === 0) return;
  const catchAll = routes.findIndex((route) => matchesEverything(route.match) && !route.continue);
  if (catchAll === -1 && !routes.some((route) => matchesEverything(route.match)))
    list.report('an alert that no route matches goes to every channel; end with a route without match');
  if (catchAll !== -1 && catchAll < routes.length - 1)
    list
      .at(catchAll + 1)
      .report('is never reached: the route before it takes everything and does not continue');
}

function warnOfUnused(file: Position, { routes, reports, channels }: Settings): void {
  const used = new Set([
    ...routes.flatMap((route) => [...route.channels, ...(route.escalate?.channels ?? [])]),
    ...reports.flatMap((report) => report.channels),
  ]);
  for (const { name } of channels)
    if (!used.has(name)) file.at('channels', name).report('no route and no report uses this channel');
}

function warnOfReports(file: Position, { reports, channels }: Settings): void {
  const refusing = channels.filter((channel) => kindOf(channel).takesReports === false);
  for (const [index, report] of reports.entries())
    for (const [place, name] of report.channels.entries())
      if (refusing.some((channel) => channel.name === name))
        file.at('reports', index, 'channels', place).report('gets no reports: they would wake people there');
}
