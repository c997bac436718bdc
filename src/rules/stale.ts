import type { ItemAccount } from '../domain/message.ts';
import { defaultEntry } from '../domain/provider-entry.ts';
import { duration, instant, listFacts } from '../domain/quantity.ts';
import type { Rule } from '../domain/rule.ts';
import { formatDuration, minuteMs, secondMs } from '../domain/time.ts';
import { duration as durationKey } from '../schema/texts.ts';
import { phrases, say, sentences } from '../wording/phrase.ts';
import { sayValue, type WordingFrame } from '../wording/quantity-wording.ts';
import { type AccountFacts, outcomeFact, verdict } from './evaluation.ts';
import { stalenessFigures } from './figures.ts';
import { type InputOf, type RuleKind, severityKey } from './kind.ts';
import { wholeSeconds } from './words.ts';

export interface StaleRule extends Rule {
  readonly type: 'stale';
  /** Null: three times the account's poll interval, at least two minutes. */
  readonly afterMs: number | null;
}

const pollsMissed = 3;
const shortestAfterMs = 2 * minuteMs;

const says = phrases('stale', {
  subject: 'no readings',
  none: 'no reading',
  firing: 'no reading for {duration}',
  resolved: 'readings are back',
  recovery: 'Resolved: readings arrive again.',
  address: 'its configured address',
  refused: 'Replace the access key: the provider refuses the present one.',
  limited:
    'The provider limits the rate of requests. See what else uses this key, or poll less often ("poll.every"); lowwater backs off by itself.',
  timeout:
    'The provider does not answer in time. Look at its status page and at the network of this host; a longer {key} helps when it is merely slow.',
  clock:
    'The clock of this host is off, and the provider refuses requests of another time. Set the clock (chronyd, systemd-timesyncd): polls succeed by themselves then. The key is not what is refused.',
  postpaid:
    'The account is paid after use: it has no balance to watch. Remove it from the configuration, or make it a prepaid account.',
  errors: 'The provider answers with errors. Look at its status page, and give its support the reason above.',
  invalid:
    'The provider answers, but not as its interface says. Check that {address} is its address and not that of a proxy or a sign-in page.',
  check: 'Check that lowwater is running and that the poll schedule of this account is as intended.',
  pushed: 'Check that what pushes the readings of this account runs, and that its token is valid.',
  insecure:
    'The secure connection fails. Check the clock of this host and the provider’s certificate; a private authority comes by NODE_EXTRA_CA_CERTS.',
  unknownHost: 'The provider’s host name is not found. Check {address} and the name servers of this host.',
  closed:
    'The provider’s host refuses connections. Check {address}, firewalls, and the provider’s status page.',
  unreachable:
    'The connection to the provider fails. Check the network and proxy settings of this host, and the provider’s status page.',
});

const told = sentences('stale', {
  describes: 'no balance read for {duration} ({severity})',
  describesPolls: 'no balance read for 3 poll intervals, at least 2m ({severity})',
  notWith: 'It would not fire yet with "after" longer than {duration}.',
});

const keys = {
  severity: severityKey.default('warning'),
  after: durationKey(
    'Fires when the balance could not be read for this long. Default: the time of three polls, at least 2m.',
    { minMs: secondMs },
  ).optional(),
};

export const stale: RuleKind<StaleRule, InputOf<typeof keys>> = {
  type: 'stale',
  summary: 'An account that cannot be read.',
  keys,
  needsReading: false,
  builtInId: 'stale',
  staleness: 'symptom',
  build: (input) => ({ afterMs: input.after ?? null }),
  warn: (rule, accounts) =>
    accounts.some(({ poll }) => poll.kind === 'every' && poll.everyMs >= (rule.afterMs ?? Infinity))
      ? [
          {
            path: ['after'],
            message:
              'is not longer than the poll interval of every account: it can fire between two good polls',
          },
        ]
      : [],
  describe: ({ afterMs, severity }) =>
    afterMs === null
      ? told.describesPolls({ severity })
      : told.describes({ duration: formatDuration(afterMs), severity }),
  /** Breached after `after` without an `ok`, or after three polls if there never was one. Time in which nobody watched does not count. */
  evaluate(rule, facts, firing) {
    const ageMs = watchedAge(facts);
    const afterMs = staleAfter(rule, facts.pollGapMs);
    // Only a reading resolves it: a longer `after` in an edited file does not mean that the account can be read.
    const unanswered = firing !== null && facts.outcome !== 'ok';
    // Without any reading, the account may never have been configured correctly.
    const never = rule.afterMs === null && facts.reading === null && facts.consecutiveFailures >= pollsMissed;
    const isStale = unanswered || never || ageMs >= afterMs;
    return verdict(isStale ? rule.severity : null, duration(ageMs), duration(afterMs));
  },
  isSurelyOk: (rule, facts) =>
    facts.outcome === 'ok' && watchedAge(facts) < staleAfter(rule, facts.pollGapMs),
  dueAt: (rule, facts) => facts.readSince + facts.unwatchedMs + staleAfter(rule, facts.pollGapMs),
  factsBehind: (rule, facts) =>
    listFacts({
      'not read for': duration(watchedAge(facts)),
      'stale after': duration(staleAfter(rule, facts.pollGapMs)),
      'poll interval': duration(facts.pollGapMs),
      [facts.reading === null ? 'watched since' : 'last read at']: instant(facts.readSince),
      'not watched': duration(facts.unwatchedMs),
      'last outcome': outcomeFact(facts.outcome),
    }),
  wouldNotFire: (rule, _facts, evaluation) => {
    const ageMs = evaluation.value?.unit === 'duration' ? evaluation.value.ms : (rule.afterMs ?? 0);
    return told.notWith({ duration: wholeSeconds(ageMs, 'up') });
  },
  subject: says.subject,
  firing(item, frame) {
    const duration = sayValue(item, frame);
    return duration === null ? say(says.none, frame) : say(says.firing, { duration }, frame);
  },
  resolved: (_item, frame) => say(says.resolved, frame),
  recovery: () => says.recovery,
  figures: stalenessFigures,
  advice: ({ account }, frame) => [adviceFor(account, frame)],
};

/** The age from which a reading no longer counts as current, if no rule says otherwise. */
export function usuallyStaleAfter(pollGapMs: number): number {
  return Math.max(pollsMissed * pollGapMs, shortestAfterMs);
}

/**
 * Whether the account counts as read at an instant: not while polls fail, nor once its newest reading is old (nothing is pushed, or nobody watched).
 * A rule's own `after` + `for` counts if shorter, unless it would end between two good polls. A clock that was set back makes no reading last longer.
 */
export function isReadAt(facts: AccountFacts, at: number): boolean {
  const own = facts.rules.flatMap((rule) =>
    isStaleRule(rule) && rule.afterMs !== null ? rule.afterMs + rule.forMs : [],
  );
  const bounds = own.filter((firesAfterMs) => firesAfterMs > facts.pollGapMs);
  const untilMs = Math.min(usuallyStaleAfter(facts.pollGapMs), ...bounds);
  const isPast = at >= facts.readSince + Math.min(0, facts.unwatchedMs) + untilMs;
  return facts.outcome === 'ok' && facts.reading !== null && !isPast;
}

function isStaleRule(rule: Rule): rule is StaleRule {
  return rule.type === 'stale';
}

function staleAfter(rule: StaleRule, pollGapMs: number): number {
  return rule.afterMs ?? usuallyStaleAfter(pollGapMs);
}

function watchedAge(facts: AccountFacts): number {
  return Math.max(0, facts.now - facts.readSince - facts.unwatchedMs);
}

function adviceFor(account: ItemAccount | null, frame: WordingFrame): string {
  const { outcome = null, provider = defaultEntry, words } = account ?? {};
  const address = words?.addressKey == null ? say(says.address, frame) : `"${words.addressKey}"`;
  const key = `"${provider === defaultEntry ? provider : `providers.${provider}`}.timeout"`;
  if (outcome === 'network_error') return networkAdvice(account?.failure ?? '', address, frame);
  if (outcome === 'invalid_response') return say(says.invalid, { address }, frame);
  if (outcome === 'api_error' && /clock is off/.test(account?.failure ?? '')) return say(says.clock, frame);
  if (outcome === 'api_error' && /is not prepaid/.test(account?.failure ?? ''))
    return say(says.postpaid, frame);
  if (outcome === 'timeout') return say(says.timeout, { key }, frame);
  if (account?.polled === false) return say(says.pushed, frame);
  return say(adviceByOutcome[outcome ?? 'ok'], frame);
}

const adviceByOutcome = {
  auth_failed: says.refused,
  rate_limited: says.limited,
  http_error: says.errors,
  api_error: says.errors,
  ok: says.check,
} as const;

function networkAdvice(failure: string, address: string, frame: WordingFrame): string {
  if (/certificate|TLS|SSL/i.test(failure)) return say(says.insecure, frame);
  if (/DNS|name|resolve/i.test(failure)) return say(says.unknownHost, { address }, frame);
  if (/refused/i.test(failure)) return say(says.closed, { address }, frame);
  return say(says.unreachable, frame);
}
