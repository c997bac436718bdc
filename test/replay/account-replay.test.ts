import { describe, expect, it } from 'vitest';
import type { Rule } from '../../src/domain/rule.ts';
import { AccountReplay } from '../../src/replay/account-replay.ts';
import {
  belowRule,
  factsNoon,
  minuteMs,
  negativeRule,
  readingAt,
  runwayRule,
  staleRule,
  topUpRule,
  units,
} from '../support/account-facts.ts';

const low = belowRule({
  id: 'low',
  thresholds: { warning: units(50) },
  hysteresis: { kind: 'amount', micros: 0 },
});
const ladder = belowRule({
  id: 'ladder',
  thresholds: { info: units(60), warning: units(40), critical: units(20) },
  hysteresis: { kind: 'amount', micros: units(10) },
});

function emptyReplay(rules: readonly Rule[]): AccountReplay {
  return new AccountReplay({
    id: 'otp',
    name: 'OTP',
    labels: {},
    currency: 'CNY',
    pollIntervalMs: 5 * minuteMs,
    pollGapAt: null,
    rules,
    watchedSince: null,
  });
}

/** One reading every five minutes from noon on; null is a poll that failed. */
function replayOf(rules: readonly Rule[], balances: readonly (number | null)[]): AccountReplay {
  const replay = emptyReplay(rules);
  balances.forEach((sms, index) => {
    if (sms === null) replay.fail(factsNoon + index * 5 * minuteMs, 'timeout');
    else replay.read(readingAt(index * 5, sms));
  });
  replay.finish(factsNoon + Math.max(0, balances.length - 1) * 5 * minuteMs);
  return replay;
}

/** `low warning 5–15 50`: rule, worst severity, minutes after noon, value it fired with. */
function story(rules: readonly Rule[], balances: readonly (number | null)[]): string[] {
  const minutes = (at: number) => Math.round(((at - factsNoon) / minuteMs) * 100) / 100;
  return replayOf(rules, balances).incidents.map(({ incident, value }) => {
    const end = incident.resolvedAt === null ? '' : minutes(incident.resolvedAt);
    const amount = value?.unit === 'money' ? ` at ${value.micros / 1_000_000}` : '';
    return `${incident.rule} ${incident.worstSeverity} ${minutes(incident.firedAt)}–${end}${amount}${incident.event ? ' event' : ''}`;
  });
}

describe('what a rule would have said of the past', () => {
  it.each<[name: string, rules: readonly Rule[], balances: readonly (number | null)[], expected: string[]]>([
    ['never low, nothing said', [low], [90, 80, 51, 50, 90], []],
    ['fires below the threshold, resolves at it', [low], [60, 49, 48, 50], ['low warning 5–15 at 49']],
    ['stays open at the end', [low], [60, 49, 48], ['low warning 5– at 49']],
    ['is low from the first reading on', [low], [10, 60], ['low warning 0–5 at 10']],
    [
      'a ladder is one incident with its worst severity',
      [ladder],
      [70, 55, 35, 15, 35, 80],
      ['ladder critical 5–25 at 55'],
    ],
    ['hysteresis holds it', [ladder], [70, 59, 61, 69, 70], ['ladder info 5–20 at 59']],
    [
      '`for` fires at its own instant, between two polls',
      [{ ...low, forMs: 7 * minuteMs }],
      [60, 40, 40, 40],
      ['low warning 12– at 40'],
    ],
    ['`for` that is not over says nothing', [{ ...low, forMs: 7 * minuteMs }], [60, 40, 60], []],
    [
      '`for` does not run out while the account cannot be read',
      [{ ...low, forMs: 7 * minuteMs }],
      [60, 40, null, null, 60],
      [],
    ],
    [
      '`recoverFor` resolves at its own instant',
      [{ ...low, recoverForMs: 7 * minuteMs }],
      [40, 60, 60, 60],
      ['low warning 0–12 at 40'],
    ],
    [
      'a relapse goes on with the incident',
      [{ ...low, recoverForMs: 7 * minuteMs }],
      [40, 60, 40, 60, 60, 60],
      ['low warning 0–22 at 40'],
    ],
    [
      'a top-up is an event without an end',
      [topUpRule({ id: 'up', atLeastMicros: units(10) })],
      [20, 29, 39, 30],
      ['up info 10– at 10 event'],
    ],
    [
      'each crossing is an incident, until it flaps',
      [low],
      [60, 40, 60, 40, 60, 40, 60, 40, 60, 60],
      ['low warning 5–10 at 40', 'low warning 15–20 at 40', 'low warning 25– at 40'],
    ],
    [
      'failed polls make it stale, a reading ends that',
      [staleRule({ id: 'stale' })],
      [60, null, null, null, null, 60],
      ['stale warning 15–25'],
    ],
  ])('%s', (_name, rules, balances, expected) => {
    expect(story(rules, balances)).toEqual(expected);
  });

  it('leaves a time out in which nobody watched', () => {
    const replay = emptyReplay([staleRule({ id: 'stale' }), { ...low, forMs: 30 * minuteMs }]);
    replay.read(readingAt(0, 40));
    replay.pause(factsNoon + 600 * minuteMs, 595 * minuteMs);
    replay.read(readingAt(600, 40));
    expect(replay.incidents).toEqual([]);
    for (const minute of [605, 610, 615, 620, 625, 630]) replay.read(readingAt(minute, 40));
    expect(replay.incidents.map(({ incident }) => (incident.firedAt - factsNoon) / minuteMs)).toEqual([625]);
  });

  it('judges by readings from before the replay without telling of them', () => {
    const rule = runwayRule({ id: 'runway', thresholds: { warning: 600 * minuteMs } });
    const account = {
      id: 'otp',
      name: 'OTP',
      labels: {},
      currency: 'CNY',
      pollIntervalMs: 5 * minuteMs,
      pollGapAt: null,
      rules: [rule],
      watchedSince: null,
    };
    const cold = new AccountReplay(account);
    const warm = new AccountReplay(account);
    for (let minute = 0; minute < 120; minute += 5) warm.remember(readingAt(minute, 100 - minute / 5));
    for (const replay of [cold, warm]) replay.read(readingAt(120, 76));
    expect(cold.incidents).toHaveLength(0);
    expect(warm.incidents).toHaveLength(1);
  });
});

describe('how long before empty an incident came', () => {
  const negative = negativeRule({ id: 'negative' });
  const emptying = (balances: readonly number[], rule: Rule = low) =>
    replayOf([rule], balances).incidents.map(({ incident, empty }) =>
      empty === null ? null : [empty.how, (empty.at - incident.firedAt) / minuteMs],
    );

  it.each<[string, readonly number[], Rule, unknown]>([
    ['the balance reached zero while it fired', [60, 45, 30, 15, 0, -5], low, [['reached', 15]]],
    ['it was empty when it fired', [60, -5, 60], negative, [['reached', 0]]],
    [
      'a top-up saved it: where the burn rate would have led',
      [80, 70, 60, 49, 90],
      low,
      [['projected', 23.709_666_666_666_667]],
    ],
    ['nothing was spent, so nothing tells', [40, 40], low, [null]],
    [
      'a later emptying belongs to a later incident',
      [75, 60, 45, 90, 45, 0],
      low,
      [
        ['projected', 15],
        ['reached', 5],
      ],
    ],
  ])('%s', (_name, balances, rule, expected) => {
    expect(emptying(balances, rule)).toEqual(expected);
  });
});
