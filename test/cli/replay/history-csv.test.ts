import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHistoryCsv } from '../../../src/cli/replay/history-csv.ts';
import { HistoryFileError } from '../../../src/cli/replay/read-csv.ts';
import { formatMicros } from '../../../src/domain/money.ts';
import type { PackedPolls } from '../../../src/store/runs/packed-polls.ts';
import { formatCsvLine } from '../../../src/views/csv.ts';

const balances = new Map([['', ['sms', 'voip']]]);

const header = 'at,sms,voip,currency';
const noon = Date.UTC(2026, 10, 20, 12);
const reading = { at: noon, balances: { sms: 12_500_000, voip: -1 }, currency: 'CNY' };
const line = '2026-11-20T12:00:00Z,12.5,-0.000001,CNY';

/** The readings by account. */
async function read(...pieces: string[]) {
  return readAs(balances, ...pieces);
}

async function readAs(balancesByAccount: ReadonlyMap<string, readonly string[]>, ...pieces: string[]) {
  const shelves = await readHistoryCsv(Readable.from(pieces), balancesByAccount);
  const readingsOf = (shelf: PackedPolls) =>
    [...shelf.polls(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)]
      .flat()
      .flatMap((poll) => poll.reading ?? []);
  return new Map([...shelves].map(([account, shelf]) => [account, readingsOf(shelf)]));
}

async function problemOf(text: string): Promise<string> {
  const error: unknown = await read(text).catch((thrown: unknown) => thrown);
  if (!(error instanceof HistoryFileError)) throw new Error(`no problem was found in ${text}`);
  return error.message;
}

describe('a file of readings', () => {
  it.each<[name: string, text: string]>([
    ['plain', `${header}\n${line}\n`],
    ['with CRLF', `${header}\r\n${line}\r\n`],
    ['without an end of the last line', `${header}\n${line}`],
    ['with a byte order mark', `\ufeff${header}\n${line}\n`],
    ['with quotes', `"at","sms","voip","currency"\n"2026-11-20T12:00:00Z","12.5","-0.000001","CNY"\n`],
    ['with columns in another order', 'currency,voip,sms,at\nCNY,-0.000001,12.5,2026-11-20T12:00:00Z\n'],
    ['with a header in capitals and spaces', ` At , SMS,voip,Currency\n${line}\n`],
    ['with an offset', `${header}\n2026-11-20T20:00:00+08:00,12.5,-0.000001,CNY\n`],
    ['without seconds', `${header}\n2026-11-20T12:00Z,12.5,-0.000001,CNY\n`],
    ['with milliseconds', `${header}\n2026-11-20T12:00:00.000Z,12.5,-0.000001,CNY\n`],
    ['with an exponent and float noise', `${header}\n2026-11-20T12:00:00Z,1.25e1,-0.0000010000000003,CNY\n`],
    ['with empty lines', `${header}\n\n${line}\n\n`],
  ])('is read %s', async (_name, text) => {
    expect([...(await read(text))]).toEqual([['', [reading]]]);
    // The pieces in which a file arrives do not matter.
    expect([...(await read(...text))]).toEqual([['', [reading]]]);
  });

  it('is read the same in plain lines as by the parser of quotes, in pieces of any size', async () => {
    const oneOf = <T extends string>(...values: T[]) => fc.constantFrom(...values);
    const twoDigits = fc.integer({ min: 0, max: 65 }).map((number) => String(number).padStart(2, '0'));
    const instant = fc
      .tuple(oneOf('2026-11-20', '2026-02-29', '2024-02-29'), twoDigits, twoDigits, twoDigits)
      .chain(([date, hours, minutes, seconds]) =>
        oneOf('Z', '.250Z', '.25Z', '+08:00', '').map(
          (end) => `${date}T${hours}:${minutes}:${seconds}${end}`,
        ),
      );
    const at = fc.oneof(
      { weight: 4, arbitrary: oneOf('2026-11-20T12:00:00Z', '2026-11-20T12:00:00.125Z') },
      instant,
    );
    const amount = fc.oneof(
      fc.integer().map(String),
      fc.double().map(String),
      oneOf(' 1.5 ', '1.', '.5', '-0', '007.10'),
    );
    const row = fc.tuple(at, amount, amount, oneOf('CNY', ' EUR', "'=X", '  '));
    const file = fc.tuple(
      fc.array(row, { maxLength: 6 }),
      oneOf('\n', '\r\n'),
      fc.integer({ min: 1, max: 40 }),
    );
    const outcomeOf = async (pieces: readonly string[]) =>
      read(...pieces).then(
        (found) => [...found],
        (error: unknown) => String(error),
      );
    await fc.assert(
      fc.asyncProperty(file, async ([rows, end, length]) => {
        const plain = [header, ...rows.map((cells) => cells.join())].join(end);
        const quoted = [header, ...rows.map((cells) => cells.map((cell) => `"${cell}"`).join())].join(end);
        const pieces = plain.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
        const expected = await outcomeOf([quoted]);
        expect(await outcomeOf([plain])).toEqual(expected);
        expect(await outcomeOf(pieces)).toEqual(expected);
      }),
    );
  });

  it('is read as if nothing were remembered from line to line: as each line alone', async () => {
    const part = (values: readonly string[]) => fc.constantFrom(...values);
    const at = fc
      .tuple(
        part(['2026-11-20T12', '2026-11-20T13', '2026-02-29T12']),
        part([':00', ':59', ':60']),
        part([':00.000Z', ':59.999Z', ':60.000Z', ':30.5Z', ':00+08:00']),
      )
      .map((parts) => parts.join(''));
    const row = fc.tuple(
      at,
      part(['1', '1.5', '1', '2', '3', 'x']),
      part(['2', '2.000001']),
      part(['CNY', 'EUR']),
    );
    const quick = (minute: string): [string, string, string, string] => [
      `2026-11-20T12${minute}:00.000Z`,
      '1',
      '2',
      'CNY',
    ];
    const outcomeOf = async (text: string, firstLine: number) =>
      read(text).then(
        (found) => found.get('') ?? [],
        (error: unknown) => String(error).replace('line 2:', `line ${firstLine}:`),
      );
    const rows = fc.array(fc.oneof(row, { weight: 3, arbitrary: fc.constant(quick(':07')) }), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(rows, async (drawn) => {
        const lines = drawn.map((cells) => cells.join());
        const alone = await Promise.all(
          lines.map((each, index) => outcomeOf(`${header}\n${each}`, index + 2)),
        );
        const refused = alone.find((each) => typeof each === 'string');
        const sorted = alone.flatMap((each) => (typeof each === 'string' ? [] : each));
        expect(await outcomeOf([header, ...lines].join('\n'), 2)).toEqual(
          refused ?? sorted.sort((left, right) => left.at - right.at),
        );
      }),
      { numRuns: 300, examples: [[[quick(':00'), quick(':60')]]] },
    );
  });

  it('goes over to the parser at the first line with a quote, and names lines as before', async () => {
    const rows = [header, line, '"2026-11-20T12:01:00Z",1,2,CNY', line, '2026-11-20T12:02:00Z,x,2,CNY'];
    expect(await problemOf(rows.join('\n'))).toContain('line 5: sms "x" is not an amount');
    expect((await read(rows.slice(0, 4).join('\n'))).get('')).toHaveLength(3);
    expect(await problemOf(`${header}\n${line}\n${'1'.repeat(10_100)}\n${line}`)).toContain(
      'line 3: the line has more than',
    );
  });

  it('is sorted by time where it is newest first, keeping the order of one instant', async () => {
    const rows = ['12:10,3', '12:05,2', '12:00,1', '12:05,9'].map((cells) => {
      const [at, sms] = cells.split(',');
      return `2026-11-20T${at}:00Z,${sms},0,CNY`;
    });
    const readings = (await read([header, ...rows].join('\n'))).get('') ?? [];
    expect(readings.map(({ balances }) => (balances.sms ?? 0) / 1_000_000)).toEqual([1, 2, 9, 3]);
  });

  it('is told apart by account', async () => {
    const text = `${header},account\n${line},otp\n${line},"marketing"\n${line},otp\n`;
    const counts = [...(await read(text))].map(([account, readings]) => [account, readings.length]);
    expect(counts).toEqual([
      ['otp', 2],
      ['marketing', 1],
    ]);
  });

  it('comes back as it was exported', async () => {
    const someReading = fc.record({
      at: fc.integer({ min: 0, max: 4_000_000_000_000 }),
      balances: fc.record({
        sms: fc.integer({ min: -9e15, max: 9e15 }),
        voip: fc.integer({ min: -1e9, max: 1e9 }),
      }),
      currency: fc.constantFrom('CNY', 'EUR', '=X', '＝X', 'a,b', 'q"q'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(someReading, { minLength: 1, maxLength: 20 }), async (readings) => {
        const sorted = readings.toSorted((left, right) => left.at - right.at);
        const rows = sorted.map(({ at, balances: { sms, voip }, currency }) =>
          formatCsvLine([new Date(at).toISOString(), formatMicros(sms), formatMicros(voip), currency]),
        );
        expect((await read(`${header}\r\n${rows.join('')}`)).get('')).toEqual(sorted);
      }),
      { numRuns: 50 },
    );
  });

  it.each<[name: string, text: string, problem: RegExp]>([
    ['empty', '', /the file is empty; it needs the header at,sms,voip,currency/],
    ['without a header', `${line}\n`, /line 1: no column is called "2026-11-20T12:00:00Z"/],
    ['with a misspelt column', 'at,sms,viop,currency\n', /line 1: .*did you mean "voip"/],
    ['with a column missing', 'at,sms,currency\n', /line 1: the column "voip" is missing/],
    ['with a column twice', 'at,sms,voip,currency,sms\n', /line 1: a column stands there twice/],
    [
      'with too few fields',
      `${header}\n${line}\n2026-11-20T12:00:00Z,1\n`,
      /line 3: 2 fields, the header has 4/,
    ],
    ['with a decimal comma', `${header}\n2026-11-20T12:00:00Z,12,5,0,CNY\n`, /line 2: 5 fields/],
    [
      'with a date alone',
      `${header}\n2026-11-20,1,1,CNY\n`,
      /line 2: at "2026-11-20" is not a valid timestamp; write ISO 8601/,
    ],
    ['with a local time', `${header}\n2026-11-20T12:00:00,1,1,CNY\n`, /line 2: at .* with a zone/],
    [
      'with a year that nobody means',
      `${header}\n0026-11-20T12:00:00Z,1,1,CNY\n`,
      /line 2: the year 26 of at/,
    ],
    [
      'with the 30th of February',
      `${header}\n2026-02-30T12:00:00Z,1,1,CNY\n`,
      /line 2: at .* is not a valid timestamp/,
    ],
    [
      'with words for money',
      `${header}\n2026-11-20T12:00:00Z,lots,1,CNY\n`,
      /line 2: sms "lots" is not an amount/,
    ],
    [
      'with money out of range',
      `${header}\n2026-11-20T12:00:00Z,1,9007199255,CNY\n`,
      /line 2: voip .* ±9007199254/,
    ],
    ['without a currency', `${header}\n2026-11-20T12:00:00Z,1,1,\n`, /line 2: currency "" must have/],
    ['without an account', `${header},account\n${line},\n`, /line 2: no account is named/],
    ['with an open quote', `${header}\n"2026-11-20T12:00:00Z,1,1,CNY\n`, /line 2: a quote is not closed/],
    [
      'with an error after a field of two lines',
      `${header}\n${line.replace('CNY', '"CNY\n"')}\nx\n`,
      /line 4: 1 fields/,
    ],
    [
      'with a time after 24:00',
      `${header}\n2026-11-20T24:00:00Z,1,1,CNY\n2026-11-20T24:30:00Z,1,1,CNY\n`,
      /line 3: at .* is not a valid timestamp/,
    ],
    [
      'with a currency that nobody can see',
      `${header}\n2026-11-20T12:00:00Z,1,1,\u001b[31m\n`,
      /line 2: currency .* must have 1 to 16 visible characters/,
    ],
    ['that is packed', '\u001f\ufffd\b"', /it is no text in UTF-8: unpack it/],
    ['in UTF-16', '\ufffd\ufffda\0t\0', /it is no text in UTF-8: .*save it as "CSV UTF-8"/],
    ['that is no text of lines at all', 'x'.repeat(50_000), /line 1: the line has more than/],
  ])('is refused %s', async (_name, text, problem) => {
    expect(await problemOf(text)).toMatch(problem);
  });
});
