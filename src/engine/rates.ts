import { parseJson } from '../domain/json.ts';
import { currencyCode, formatMicros } from '../domain/money.ts';
import { faultOfDay, isAhead, type Money, type Rates, worthOf } from '../domain/one-sum.ts';
import { listFacts, text } from '../domain/quantity.ts';
import type { Outcome } from '../domain/reading.ts';
import type { RatesSource } from '../domain/settings.ts';
import { dayMs, isoDay } from '../domain/time.ts';
import { sentences } from '../wording/phrase.ts';
import { noteTrouble } from './self-alerts.ts';
import type { MonitorState } from './state.ts';

/** The last rates that were read. */
const ratesNote = 'rates';
/** Older rates are stale. None are published on a weekend, nor around Easter. */
const staleMs = 7 * dayMs;
/** Amounts are read to the millionth: a smaller rate would have fewer than four digits. */
const leastMicros = 1000;

const told = sentences('rates', {
  noneNewer: 'the source has no newer ones',
  tooSmall: 'the rate of {currency} is {rate}; it must be at least {least}',
  older: 'the source has those of {date}, older than those in force',
  noneOf: 'the rates of {base} have none of money.currency, {currency}',
});

/** The currency and the rates that make sums one now; null when no currency is set for them. */
export function moneyOf({
  settings: { money },
  notes,
}: Pick<MonitorState, 'settings' | 'notes'>): Money | null {
  if (money === null || money.source === null) return money;
  // Only `takeRates` writes this note, and `shapes.ts` checks it.
  const stored = parseJson(notes.get(ratesNote)?.value ?? '') as Rates | null;
  const isOfUse = stored?.inverted === money.source.inverted && isKnown(money.currency, stored);
  return { ...money, rates: isOfUse ? stored : null };
}

/**
 * Takes in the answer of the source of rates; true if it gave usable ones. Those in force stay until better ones come. An unusable answer
 * is reported at once, a source that does not answer once the rates are old.
 */
export function takeRates(state: MonitorState, source: RatesSource, outcome: Outcome, now: number): boolean {
  const { currency = '' } = state.settings.money ?? {};
  const isAnswered = outcome.kind === 'ok' || outcome.kind === 'invalid_response';
  const known = moneyOf(state)?.rates ?? null;
  const read = outcome.kind === 'ok' ? readRates(outcome, { source, currency, known, now }) : outcome.reason;
  const isTaken = typeof read !== 'string';
  if (isTaken) state.notes.write(ratesNote, JSON.stringify(read));
  const { rates = null } = moneyOf(state) ?? {};
  const isOld = rates === null || now > Date.parse(rates.date) + staleMs + source.everyMs;
  const facts = listFacts({ 'rates in use': rates && text(rates.date) });
  if (isOld || (isAnswered && !isTaken))
    noteTrouble(state, 'rates', isTaken ? told.noneNewer() : read, now, facts);
  else if (isTaken) noteTrouble(state, 'rates', null, now);
  return isTaken;
}

/** Ends the alert and forgets the rates if the settings no longer name a source. */
export function followRates(state: MonitorState, now: number): void {
  if (state.settings.money?.source != null) return;
  noteTrouble(state, 'rates', null, now);
  if (state.notes.has(ratesNote)) state.notes.delete(ratesNote);
}

/** Rates by which sums can be made, or a clause that says why they cannot. */
function readRates(
  { answer, facts }: Extract<Outcome, { kind: 'ok' }>,
  order: {
    readonly source: RatesSource;
    readonly currency: string;
    readonly known: Rates | null;
    readonly now: number;
  },
): Rates | string {
  const { source, currency, known, now } = order;
  const { date = isoDay(now, 'UTC') } = facts ?? {};
  const fault = faultOfDay(date) ?? (isAhead(date, now) ? 'must not lie in the future' : null);
  if (fault !== null) return `the day of the rates, ${JSON.stringify(date)}, ${fault}`;
  const all = Object.entries(answer.balances);
  const bad = all.find(([, micros]) => micros < leastMicros);
  if (bad !== undefined)
    return told.tooSmall({
      currency: currencyCode(bad[0]),
      rate: formatMicros(bad[1]),
      least: formatMicros(leastMicros),
    });
  const amounts = Object.fromEntries(all.map(([id, micros]) => [currencyCode(id), formatMicros(micros)]));
  const rates = { date, base: currencyCode(answer.currency), amounts, inverted: source.inverted };
  // Rates of a clock that was ahead give way.
  if (known !== null && date < known.date && !isAhead(known.date, now)) return told.older({ date });
  return isKnown(currency, rates) ? rates : told.noneOf({ base: rates.base, currency });
}

function isKnown(currency: string, rates: Rates): boolean {
  return worthOf(currencyCode(currency), rates) !== null;
}
