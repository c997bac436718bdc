import { isSameCurrency } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { amountOf, type Balance, type Reading, unitOf } from '../../domain/reading.ts';
import { minuteMs } from '../../domain/time.ts';
import { ladderSteps } from '../../rules/ladder.ts';
import type { AccountView } from '../../views/views.ts';
import { Html, html } from '../../wording/html.ts';
import { sayDuration } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { balanceLabel, sayAmount, sayBalance } from '../../wording/quantity-wording.ts';
import type { Frame } from './words.ts';

const says = phrases('sparkline', {
  none: 'no history yet',
  course: '{balance} over {span}: from {first} to {last}, lowest {lowest}',
});

const width = 120;
const height = 32;
const edge = 3;
const maxStepMs = 15 * minuteMs;
const shortestStepMs = 1_000;

/**
 * The last 24 hours of one balance as a small picture with its words. Readings in another currency are left out.
 *
 * The bottom is where the balance counts as empty (or the lowest value, if that is below), and the top is the day's highest. All
 * pictures have the same scale, in shares of the balance, so a balance that hardly moves is a flat line. Time goes in steps of a
 * quarter of an hour (less for a young account). Within a step the picture stays, unless the newest reading differs visibly.
 */
export function drawSparkline(account: AccountView, balance: Balance, frame: Frame): Html {
  const { now } = frame;
  const readings = account.day.filter(
    ({ currency, balances }) =>
      isSameCurrency(currency, account.currency ?? '') && ownOf(balances, balance) !== undefined,
  );
  const oldest = readings[0];
  if (oldest === undefined || readings.length < 2)
    return html`<span class="soft spark-none">${say(says.none, frame)}</span>`;
  const stepMs = stepOf(now - oldest.at);
  const from = Math.floor(oldest.at / stepMs) * stepMs;
  const until = Math.ceil(now / stepMs) * stepMs;
  const steps = lastOfSteps(readings, stepMs);
  const values = steps.map((reading) => amountOf(reading, balance));
  const emptyMicros = ownOf(account.runways, balance)?.emptyMicros ?? 0;
  const top = Math.max(...values, emptyMicros + 1);
  const bottom = Math.min(...values, emptyMicros);
  const x = (at: number): number => round(((at - from) / Math.max(stepMs, until - from)) * width);
  const y = (value: number): number => round(edge + ((top - value) / (top - bottom)) * (height - 2 * edge));
  const [before, newest] = steps.slice(-2);
  const isStill =
    steps.length > 2 &&
    newest !== undefined &&
    before !== undefined &&
    newest.at >= until - stepMs &&
    Math.abs(y(amountOf(newest, balance)) - y(amountOf(before, balance))) < 1;
  const shown = isStill ? steps.slice(0, -1) : steps;
  const points = shown.map(
    (reading) => `${x(Math.floor(reading.at / stepMs) * stepMs)} ${y(amountOf(reading, balance))}`,
  );
  const threshold = ladderSteps(ownOf(account.thresholds, balance) ?? {})
    .map((step) => step.threshold)
    .find((value) => value > bottom && value < top);
  const amounts = shown.map((reading) => amountOf(reading, balance));
  const words = { ...frame, currency: unitOf(account, balance) };
  const label = say(
    says.course,
    {
      balance: sayBalance(balanceLabel(balance, account.balances), frame),
      span: sayDuration(until - from, frame),
      first: sayAmount(amounts[0] ?? 0, words),
      last: sayAmount(amounts.at(-1) ?? 0, words),
      lowest: sayAmount(Math.min(...amounts), words),
    },
    frame,
  );
  return html`<svg class="spark" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">${
    threshold !== undefined && html`<path class="spark-threshold" d="M0 ${y(threshold)}H${width}"/>`
  }<path class="spark-line" d="${new Html(`M${points.join('L')}`)}"/></svg>`;
}

/** Less than a hundred steps per picture: more cannot be seen. For an account younger than a day, its history fills the picture. */
function stepOf(spanMs: number): number {
  let stepMs = maxStepMs;
  while (spanMs < 48 * stepMs && stepMs > shortestStepMs) stepMs /= 2;
  return stepMs;
}

function lastOfSteps(readings: readonly Reading[], stepMs: number): readonly Reading[] {
  return readings.filter((reading, index) => {
    const next = readings[index + 1];
    return next === undefined || Math.floor(next.at / stepMs) !== Math.floor(reading.at / stepMs);
  });
}

function round(value: number): number {
  return Math.round(value * 2) / 2;
}
