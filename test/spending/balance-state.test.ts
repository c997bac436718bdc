import { expect, test } from 'vitest';
import { BalanceState, readSpending, writeSpending } from '../../src/spending/balance-state.ts';
import type { PeriodSums } from '../../src/spending/periods.ts';
import { unspendable } from '../../src/spending/silence.ts';

/** The stored numbers, in the order in which they lie in the bytes: the format of version 12. */
const columns = `
  spent seenMs meanHour hours peak clipped usualBefore
  actual expected driftActual driftExpected holidayActual holidayExpected
  blockSpent blockSeen blockHours blocks topUps
  smallestFall silent silentMs usualSilence usualFall
  runDay runMicros runHour runHours runDays
  shiftSince shiftedAt shiftedBy shiftsFrom isShiftLearned
  offSince offSide offHours offSpent offUsual recentSpent recentUsual
  slowHours slowSpent slowUsual slowFrom
  more.sum more.since more.spent more.expected more.top more.usualTop more.excused
  less.sum less.since less.spent less.expected less.top less.usualTop less.excused`
  .trim()
  .split(/\s+/);

const arrays =
  `bins said came errors widths topUpAmounts topUpFrom runDates runAmounts runBegins runLengths weeks cameHours`.split(
    ' ',
  );

/** Each number is its place among the columns; each array holds its place among the arrays. */
function numbered(): BalanceState {
  const state = new BalanceState();
  for (const [index, column] of columns.entries()) {
    const [name = '', inner] = column.split('.');
    if (inner === undefined) Object.assign(state, { [name]: index });
    else Object.assign(Reflect.get(state, name), { [inner]: index });
  }
  for (const [index, name] of arrays.entries()) Reflect.get(state, name).fill(index);
  return state;
}

const last = { account: 'otp', at: 0, balances: { sms: 1 }, currency: 'CNY' };
const sum: PeriodSums['day'] = { startsAt: 0, endsAt: 0, knownSince: 0, watchedFrom: 0, spent: { sms: 0 } };
const sums: PeriodSums = { day: sum, week: sum, month: sum, quarter: sum };

function write(states: readonly (BalanceState | null)[]): Buffer {
  return Buffer.from(writeSpending({ timezone: 'UTC', last, sums, states }));
}

test('what is stored of a balance has its numbers and its arrays in this order, no matter how the code names them', () => {
  const bytes = write([numbered()]);
  const from = 7 + bytes.readUInt16LE(5);
  expect(bytes[0]).toBe(12);
  expect(columns.map((_, index) => bytes.readDoubleLE(from + 8 * index))).toEqual([...columns.keys()]);
  const state = new BalanceState(Uint8Array.from(bytes.subarray(from)).buffer);
  expect(bytes.subarray(from)).toHaveLength(state.bytes.length);
  for (const [index, name] of arrays.entries())
    expect(new Set(Reflect.get(state, name))).toEqual(new Set([index]));
});

test.each([
  ['one fall', 1, 0],
  ['nine falls', 9, 0],
  ['a hundred falls', 100, 210],
])('less than the smallest of many falls is never spent: after %s', (_, falls, expected) => {
  const state = new BalanceState();
  Object.assign(state, { hours: 400, meanHour: (falls * 210) / 400, usualFall: 210, smallestFall: 210 });
  expect(unspendable(state)).toBe(expected);
});

test('it is read back as it was written, with a balance that never fell between others', () => {
  const read = readSpending(write([numbered(), null, numbered()]));
  expect(read?.states).toEqual([numbered(), null, numbered()]);
});

test('bytes of another version, shorter ones and those with a flipped bit are learned from history again', () => {
  const bytes = write([numbered()]);
  const older = Buffer.from(bytes);
  older[0] = 7;
  const damaged = Buffer.from(bytes);
  damaged[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  expect([older, damaged, bytes.subarray(0, 6)].map(readSpending)).toEqual([null, null, null]);
});
