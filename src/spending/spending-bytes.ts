import { type Balance, balances, type Reading } from '../domain/reading.ts';
import {
  type BalanceState,
  balanceStateBytes,
  readBalanceState,
  writeBalanceState,
} from './balance-state.ts';
import { type PeriodSums, readSums, sumsBytes, writeSums } from './periods.ts';

/** Grows with each change of what the bytes mean. What another version wrote is made anew from history. */
const version = 4;

const lengthBytes = 2;
const sumsAt = 2 + 3 * 8;
const headBytes = sumsAt + sumsBytes;

/** What of an account's spending outlives a restart; `Sums` are those of its periods, or the numbers that they are stored as. */
export interface LastingSpending<Sums> {
  readonly timezone: string;
  readonly last: Reading;
  readonly sums: Sums;
  readonly states: Readonly<Record<Balance, BalanceState | null>>;
}

/**
 * Version; which balances follow; instant and balances of the newest reading; the sums of the periods; currency and time zone with their lengths;
 * the states.
 */
export function writeSpending({ timezone, last, sums, states }: LastingSpending<PeriodSums>): Uint8Array {
  const texts = [last.currency, timezone].map((text) => encodeText(text));
  const present = balances.filter((balance) => states[balance] !== null);
  const textBytes = texts.reduce((sum, text) => sum + lengthBytes + text.length, 0);
  const bytes = new Uint8Array(headBytes + textBytes + present.length * balanceStateBytes);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, version);
  view.setUint8(
    1,
    balances.reduce((sum, balance, bit) => sum + (states[balance] === null ? 0 : 1 << bit), 0),
  );
  for (const [index, value] of [last.at, last.sms, last.voip].entries())
    view.setFloat64(2 + 8 * index, value, true);
  writeSums(sums, view, sumsAt);
  let place = headBytes;
  for (const text of texts) {
    view.setUint16(place, text.length, true);
    bytes.set(text, place + lengthBytes);
    place += lengthBytes + text.length;
  }
  for (const balance of present) {
    const state = states[balance];
    if (state !== null) writeBalanceState(state, view, place);
    place += balanceStateBytes;
  }
  return bytes;
}

/** What `writeSpending` wrote; null for bytes of another version, or cut short. */
export function readSpending(bytes: Uint8Array): LastingSpending<readonly number[]> | null {
  if (bytes.length < headBytes + 2 * lengthBytes || bytes[0] !== version) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const present = view.getUint8(1);
  const currency = readText(bytes, view, headBytes);
  const timezone = readText(bytes, view, currency.endsAt);
  const held = balances.filter((_, bit) => (present & (1 << bit)) !== 0);
  if (bytes.length !== timezone.endsAt + held.length * balanceStateBytes) return null;
  const state = (balance: Balance): BalanceState | null => {
    const place = held.indexOf(balance);
    return place < 0 ? null : readBalanceState(view, timezone.endsAt + place * balanceStateBytes);
  };
  return {
    timezone: timezone.text,
    last: {
      at: view.getFloat64(2, true),
      sms: view.getFloat64(10, true),
      voip: view.getFloat64(18, true),
      currency: currency.text,
    },
    sums: readSums(view, sumsAt),
    states: { sms: state('sms'), voip: state('voip') },
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
