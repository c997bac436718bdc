import { isSameCurrency } from '../../domain/currency.ts';
import { roughDuration } from '../../domain/moment.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Balance } from '../../domain/reading.ts';
import { ladderSteps } from '../../rules/ladder.ts';
import type { AccountView } from '../../views/views.ts';
import { balanceLabel } from '../../wording/balance-wording.ts';
import { Html, html } from '../html.ts';

const width = 120;
const height = 32;
const edge = 3;

/** The last 24 hours of one balance as a small picture with its words; readings in another currency are left out. */
export function drawSparkline(account: AccountView, balance: Balance, now: number): Html {
  const readings = account.day.filter(({ currency }) => isSameCurrency(currency, account.currency ?? ''));
  const first = readings[0];
  const last = readings.at(-1);
  if (first === undefined || last === undefined || readings.length < 2) {
    return html`<span class="soft spark-none">no history yet</span>`;
  }
  const values = readings.map((reading) => reading[balance]);
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  // An account younger than a day fills the picture with what there is.
  const spanMs = Math.max(1, now - first.at);
  const x = (at: number): number => clamp(((at - first.at) / spanMs) * width, 0, width);
  const y = (value: number): number =>
    highest === lowest ? height / 2 : edge + ((highest - value) / (highest - lowest)) * (height - 2 * edge);
  const path = readings
    .map(
      (reading, index) => `${index === 0 ? 'M' : 'L'}${round(x(reading.at))} ${round(y(reading[balance]))}`,
    )
    .join('');
  const threshold = ladderSteps(account.thresholds[balance])
    .map((step) => step.threshold)
    .find((value) => value > lowest && value < highest);
  const words = `${balanceLabel(balance)} balance over ${roughDuration(spanMs)}: from ${formatAmount(first[balance], account.currency)} to ${formatAmount(last[balance], account.currency)}, lowest ${formatAmount(lowest, account.currency)}`;
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${words}">${
    threshold !== undefined && html`<path class="spark-threshold" d="M0 ${round(y(threshold))}H${width}"/>`
  }<path class="spark-line" d="${new Html(path)}"/></svg>`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
