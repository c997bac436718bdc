import type { Balance, Reading } from '../domain/reading.ts';
import {
  type BalanceState,
  balanceStateBytes,
  readBalanceState,
  writeBalanceState,
} from './balance-state.ts';
import { type PeriodSums, readSums, sumsBytes, writeSums } from './periods.ts';

/**
 * Versions grow with each change of what the bytes mean. What another version wrote is made anew from history. Version 3 is of the two
 * balances that all accounts had when it was made; version 4 names its balances after the time zone.
 */
const versionOfTwo = 3;
const version = 4;
const balancesOfTwo: readonly Balance[] = ['sms', 'voip'];

const lengthBytes = 2;
const lastAt = 2;

/** What of an account's spending outlives a restart; `Sums` are those of its periods, or the numbers that they are stored as. */
export interface LastingSpending<Sums> {
  readonly timezone: string;
  readonly last: Reading;
  readonly sums: Sums;
  /** In the order of the balances of `last`; null of one that never fell. */
  readonly states: readonly (BalanceState | null)[];
}

/**
 * Version; a bit for each balance whose state follows; instant and balances of the newest reading; the sums of the periods; currency,
 * time zone and (version 4) ids of the balances with their lengths; the states; (version 4) how many balances there are.
 */
export function writeSpending({ timezone, last, sums, states }: LastingSpending<PeriodSums>): Uint8Array {
  const balances = Object.keys(last.balances);
  const isOfTwo = balances.join() === balancesOfTwo.join();
  const texts = [last.currency, timezone, ...(isOfTwo ? [] : [balances.join()])].map(encodeText);
  const present = states.filter((state) => state !== null);
  const sumsAt = lastAt + 8 * (1 + balances.length);
  const textsAt = sumsAt + sumsBytes(balances.length);
  const textBytes = texts.reduce((sum, text) => sum + lengthBytes + text.length, 0);
  const bytes = new Uint8Array(textsAt + textBytes + present.length * balanceStateBytes + (isOfTwo ? 0 : 1));
  const view = new DataView(bytes.buffer);
  view.setUint8(0, isOfTwo ? versionOfTwo : version);
  const held = states.reduce((sum, state, bit) => sum + (state === null ? 0 : 1 << bit), 0);
  view.setUint8(1, held);
  for (const [index, value] of [last.at, ...Object.values(last.balances)].entries())
    view.setFloat64(lastAt + 8 * index, value, true);
  writeSums(sums, view, sumsAt);
  let place = textsAt;
  for (const text of texts) {
    view.setUint16(place, text.length, true);
    bytes.set(text, place + lengthBytes);
    place += lengthBytes + text.length;
  }
  for (const state of present) {
    writeBalanceState(state, view, place);
    place += balanceStateBytes;
  }
  if (!isOfTwo) view.setUint8(place, balances.length);
  return bytes;
}

/** What `writeSpending` wrote; null for bytes of another version, or cut short. */
export function readSpending(bytes: Uint8Array): LastingSpending<readonly number[]> | null {
  const isOfTwo = bytes[0] === versionOfTwo;
  const count = isOfTwo ? balancesOfTwo.length : (bytes.at(-1) ?? 0);
  const sumsAt = lastAt + 8 * (1 + count);
  const textsAt = sumsAt + sumsBytes(count);
  if (bytes.length < textsAt + 2 * lengthBytes || (!isOfTwo && bytes[0] !== version)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const present = view.getUint8(1);
  const currency = readText(bytes, view, textsAt);
  const timezone = readText(bytes, view, currency.endsAt);
  const ids = isOfTwo ? null : readText(bytes, view, timezone.endsAt);
  const balances = ids?.text.split(',') ?? balancesOfTwo;
  const held = balances.filter((_, bit) => (present & (1 << bit)) !== 0);
  const statesAt = (ids ?? timezone).endsAt;
  if (balances.length !== count) return null;
  if (bytes.length !== statesAt + held.length * balanceStateBytes + (isOfTwo ? 0 : 1)) return null;
  const state = (balance: Balance): BalanceState | null => {
    const place = held.indexOf(balance);
    return place < 0 ? null : readBalanceState(view, statesAt + place * balanceStateBytes);
  };
  const amounts = balances.map((balance, index) => [
    balance,
    view.getFloat64(lastAt + 8 * (1 + index), true),
  ]);
  return {
    timezone: timezone.text,
    last: {
      at: view.getFloat64(lastAt, true),
      balances: Object.fromEntries(amounts),
      currency: currency.text,
    },
    sums: readSums(view, sumsAt, count),
    states: balances.map(state),
  };
}

/** Currencies and zones are short; each character is one of UTF-16, so that nothing is lost. */
function encodeText(text: string): Uint8Array {
  const units = Uint16Array.from(text, (character) => character.charCodeAt(0));
  return new Uint8Array(units.buffer);
}

function readText(
  bytes: Uint8Array,
  view: DataView,
  place: number,
): { readonly text: string; readonly endsAt: number } {
  if (place + lengthBytes > bytes.length) return { text: '', endsAt: bytes.length + 1 };
  const length = view.getUint16(place, true);
  const endsAt = place + lengthBytes + length;
  if (endsAt > bytes.length) return { text: '', endsAt };
  let text = '';
  for (let unit = place + lengthBytes; unit < endsAt; unit += 2)
    text += String.fromCharCode(view.getUint16(unit, true));
  return { text, endsAt };
}
