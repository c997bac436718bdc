import type { ForecastBasis } from '../domain/forecast.ts';
import type { Fact } from '../domain/quantity.ts';
import type { Balance } from '../domain/reading.ts';
import type { AccountSpending } from '../spending/account-spending.ts';
import { checkedHours } from '../spending/balance-state.ts';
import { driftOf, levelOf } from '../spending/level.ts';
import type { UsualSpending } from '../spending/profile.ts';
import { countFact, moneyFact, textFact } from './verdict.ts';

export const basisWords: Readonly<Record<ForecastBasis, string>> = {
  'mean-burn': 'average spend (under a day of history)',
  'hour-of-day': 'the hour of the day (under a week of history)',
  'hour-of-week': 'the hour of the week',
};

/** What a forecast is based on: history, usual spending, present level, and past errors. */
export function spendingFacts(spending: AccountSpending, balance: Balance): Fact[] {
  const state = spending.state(balance);
  if (state === null) return [];
  const percent = (share: number): string => `${Math.round(share * 100)} %`;
  return [
    countFact('hours learned', state.hours),
    moneyFact('mean hour', Math.round(state.meanHour)),
    ...profileFacts(spending.usual(balance)),
    textFact('level', `${percent(levelOf(state))} of what is usual at these hours`),
    textFact('drift', `${percent(driftOf(state))} of the profile, over two weeks`),
    ...checkedHours.flatMap((hours, index) =>
      hours < 24
        ? []
        : [
            textFact(
              `forecasts of ${hours / 24}d`,
              `usually off by ${percent(Math.expm1(state.errors[index] ?? 0))}`,
            ),
          ],
    ),
  ];
}

const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

function profileFacts(usual: UsualSpending | null): Fact[] {
  if (usual === null) return [];
  const { hour, week, busiest } = usual;
  return [
    moneyFact('usual in this hour', Math.round(hour)),
    moneyFact('usual in a week', Math.round(week)),
    moneyFact(
      `usual ${days[Math.floor(busiest.slot / 24)]} ${busiest.slot % 24}:00, the busiest hour`,
      Math.round(busiest.hour),
    ),
  ];
}
