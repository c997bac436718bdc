import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutcomeKind } from '../../src/domain/outcome.ts';
import type { PollRecord } from '../../src/domain/reading.ts';
import type { Rule } from '../../src/domain/rule.ts';
import type { Settings } from '../../src/domain/settings.ts';
import type { RecurringSilence } from '../../src/domain/silence.ts';
import { nextWindow } from '../../src/engine/silencing.ts';
import { AccountReplay } from '../../src/replay/account-replay.ts';
import { countMessages } from '../../src/replay/message-count.ts';
import { rulesForAccount } from '../../src/rules/rules-for-account.ts';
import { cronCalendar } from '../../src/system/calendar.ts';
import {
  authFailedRule,
  belowRule,
  currencyRule,
  dropRule,
  factsNoon,
  idleRule,
  minuteMs,
  negativeRule,
  runwayRule,
  staleRule,
  topUpRule,
  units,
} from '../support/account-facts.ts';
import { runMonitor } from '../support/monitor-run.ts';
import { makeAccount, makeRoute, makeSettings } from '../support/settings.ts';

const accounts = ['otp', 'marketing'] as const;

/** Times that fall on, beside and between the polls. */
const someTime = fc.constantFrom(0, 0, minuteMs, 5 * minuteMs, 7 * minuteMs, 20 * minuteMs, 60 * minuteMs);

const timed = (rule: Rule) =>
  fc
    .record({ forMs: someTime, recoverForMs: someTime })
    .map(({ forMs, recoverForMs }): Rule => ({ ...rule, forMs, recoverForMs }));

const hysteresis = fc
  .constantFrom(0, 5, 15)
  .map((amount) => ({ kind: 'amount' as const, micros: units(amount) }));

const someRules = fc
  .tuple(
    hysteresis.chain((it) =>
      timed(
        belowRule({
          id: 'ladder',
          thresholds: { info: units(60), warning: units(40), critical: units(20) },
          hysteresis: it,
        }),
      ),
    ),
    hysteresis.chain((it) =>
      timed(belowRule({ id: 'voip', balance: 'voip', thresholds: { warning: units(30) }, hysteresis: it })),
    ),
    timed(negativeRule({ id: 'negative', hysteresisMicros: units(3) })),
    timed(
      runwayRule({
        id: 'runway',
        thresholds: { warning: 90 * minuteMs, critical: 30 * minuteMs },
        lookbackMs: 60 * minuteMs,
        minimumHistoryMs: 10 * minuteMs,
        minimumHistoryGiven: true,
      }),
    ),
    timed(dropRule({ id: 'drop', by: { kind: 'share', share: 0.3 }, windowMs: 30 * minuteMs })),
    timed(idleRule({ id: 'idle', windowMs: 20 * minuteMs })),
    timed(topUpRule({ id: 'top-up', atLeastMicros: units(10) })),
    timed({ ...currencyRule, id: 'currency' }),
    timed(staleRule({ id: 'stale', afterMs: 12 * minuteMs })),
    timed({ ...authFailedRule, id: 'auth-failed' }),
  )
  .chain((all) => fc.subarray(all, { minLength: 1 }));

interface Step {
  readonly afterMs: number;
  readonly outcome: OutcomeKind;
  readonly sms: number;
  readonly voip: number;
  readonly currency: string;
}

const someOutcome: fc.Arbitrary<OutcomeKind> = fc.oneof(
  { weight: 12, arbitrary: fc.constant('ok' as const) },
  { weight: 1, arbitrary: fc.constantFrom('timeout', 'auth_failed', 'http_error', 'rate_limited') },
);

/** Balances wander around the thresholds, or stay, or jump as a top-up does. */
const someStep: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.oneof(
    { weight: 10, arbitrary: fc.constant(5 * minuteMs) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 20 * minuteMs }).map((half) => 2 * half) },
  ),
  outcome: someOutcome,
  sms: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: -5, max: 75 }) },
    { weight: 2, arbitrary: fc.constant(Number.NaN) },
  ),
  voip: fc.integer({ min: 25, max: 40 }),
  currency: fc.oneof(
    { weight: 30, arbitrary: fc.constant('CNY') },
    { weight: 1, arbitrary: fc.constant('EUR') },
  ),
});

const someRoutes = fc
  .record({
    repeatEveryMs: fc.constantFrom(3 * minuteMs, 30 * minuteMs, 240 * minuteMs),
    groupWaitMs: fc.constantFrom(0, 5000, 6 * minuteMs),
    escalateAfterMs: fc.constantFrom(null, 0, 10 * minuteMs, 31 * minuteMs),
    worstElsewhere: fc.boolean(),
  })
  .map(({ repeatEveryMs, groupWaitMs, escalateAfterMs, worstElsewhere }) => [
    ...(worstElsewhere
      ? [makeRoute({ match: { severity: ['critical'] }, channels: ['pager'], repeatEveryMs })]
      : []),
    makeRoute({
      channels: ['ops'],
      repeatEveryMs,
      groupWaitMs,
      escalate: escalateAfterMs === null ? null : { afterMs: escalateAfterMs, channels: ['boss', 'ops'] },
    }),
  ]);

const someSilences: fc.Arbitrary<RecurringSilence[]> = fc.subarray([
  {
    match: { account: ['otp'] },
    cron: '20 * * * *',
    timezone: 'UTC',
    durationMs: 25 * minuteMs,
    comment: '',
  },
  {
    match: { severity: ['warning'] },
    cron: '*/30 * * * *',
    timezone: 'UTC',
    durationMs: 40 * minuteMs,
    comment: '',
  },
]);

const someCase = fc.record({
  rules: someRules,
  histories: fc.tuple(...accounts.map(() => fc.array(someStep, { minLength: 1, maxLength: 60 }))),
  routes: someRoutes,
  silences: someSilences,
});

/** The accounts never do anything at the same millisecond: in which order they would, nobody promises. */
function pollsOf(steps: readonly Step[], place: number): PollRecord[] {
  let at = factsNoon + place;
  let sms = 70;
  return steps.map((step) => {
    at += step.afterMs;
    // Not a number: the balance is as it was.
    sms = Number.isNaN(step.sms) ? sms : step.sms;
    const { outcome, voip, currency } = step;
    const reading = outcome === 'ok' ? { at, sms: units(sms), voip: units(voip), currency } : null;
    return { at, outcome, reading };
  });
}

function runReplay(
  settings: Settings,
  histories: ReadonlyMap<string, readonly PollRecord[]>,
  times: { from: number; until: number },
) {
  const replays = settings.accounts.map((account) => {
    const replay = new AccountReplay({
      ...account,
      pollIntervalMs: 5 * minuteMs,
      pollGapAt: null,
      rules: rulesForAccount(settings, account),
      watchedSince: times.from,
    });
    for (const poll of histories.get(account.id) ?? []) {
      if (poll.reading !== null) replay.read(poll.reading);
      else if (poll.outcome !== 'ok') replay.fail(poll.at, poll.outcome);
    }
    replay.finish(times.until - 1);
    return replay;
  });
  const changes = replays.flatMap((replay) => replay.changes).sort((left, right) => left.at - right.at);
  const messages = countMessages(
    changes,
    {
      channels: settings.channels.map((channel) => channel.name),
      routes: settings.routes,
      silences: settings.silences,
      windowOf: (silence, at) => nextWindow(cronCalendar, silence, at),
    },
    times.until,
  );
  return { incidents: replays.flatMap((replay) => replay.incidents), messages };
}

type Told =
  | ReturnType<typeof runMonitor>['incidents'][number]
  | ReturnType<typeof runReplay>['incidents'][number];

function describeIncident({ incident, value }: Told) {
  const { account, rule, type, worstSeverity, firedAt, resolvedAt, event } = incident;
  return { account, rule, type, worstSeverity, firedAt, resolvedAt, event, value };
}

const inOrder = (lines: readonly object[]) => lines.map((line) => JSON.stringify(line)).sort();

function compare(it: {
  readonly rules: readonly Rule[];
  readonly histories: readonly (readonly Step[])[];
  readonly routes: Settings['routes'];
  readonly silences: Settings['silences'];
}) {
  const settings = makeSettings({
    accounts: accounts.map((id) => makeAccount(id)),
    rules: it.rules,
    channels: ['ops', 'boss', 'pager'],
    routes: it.routes,
    silences: it.silences,
  });
  const histories = new Map(
    accounts.map((id, index) => [id as string, pollsOf(it.histories[index] ?? [], index)]),
  );
  const polls = [...histories]
    .flatMap(([account, records]) => records.map((poll) => ({ account, poll })))
    .sort((left, right) => left.poll.at - right.poll.at);
  const from = polls[0]?.poll.at ?? factsNoon;
  const until = (polls.at(-1)?.poll.at ?? factsNoon) + 90 * minuteMs;
  const daemon = runMonitor(settings, polls, until);
  const replayed = runReplay(settings, histories, { from, until });
  expect(inOrder(replayed.incidents.map(describeIncident))).toEqual(
    inOrder(daemon.incidents.map(describeIncident)),
  );
  const place = ({ at, channel }: { at: number; channel: string }) => ({ at, channel });
  expect(inOrder(replayed.messages.map(place))).toEqual(inOrder(daemon.messages.map(place)));
}

describe('a replay against the daemon', () => {
  it('finds the same incidents and counts the same messages from the same polls', () => {
    fc.assert(fc.property(someCase, compare), { numRuns: 100 });
  }, 60_000);
});
