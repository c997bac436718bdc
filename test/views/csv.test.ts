import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatCsvLine } from '../../src/views/csv.ts';

describe('a line of CSV', () => {
  it('ends with CRLF and quotes only what needs it', () => {
    expect(formatCsvLine(['at', 'a,b', 'say "hi"', 'two\nlines'])).toBe(
      'at,"a,b","say ""hi""","two\nlines"\r\n',
    );
  });

  it.each([
    ['a formula', '=1+1', "'=1+1"],
    ['a command of a spreadsheet', '@SUM(A1)', "'@SUM(A1)"],
    ['a plus', '+cmd|calc', "'+cmd|calc"],
    ['a minus that begins no number', '-2+3', "'-2+3"],
    ['a formula in full width, as Chinese input has it', '＝1+1', "'＝1+1"],
    ['a leading tab', '\t=1', "'\t=1"],
    ['a negative balance, which stays a number', '-18.383', '-18.383'],
    ['a whole number', '-5', '-5'],
    ['a currency', 'CNY', 'CNY'],
  ])('runs nothing when it is opened: %s', (_name, cell, written) => {
    expect(formatCsvLine([cell])).toBe(`${written}\r\n`);
  });

  it('gives the cells back to a reader of RFC 4180', () => {
    const cell = fc.string().filter((text) => !/^[=+\-@＝＋－＠\t\r\n]/.test(text));
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1 }), (cells) => {
        expect(readCsvLine(formatCsvLine(cells))).toEqual(cells);
      }),
    );
  });
});

/** A second reading of the RFC, written apart from the product. */
function readCsvLine(line: string): string[] {
  const cells: string[] = [];
  let rest = line.slice(0, -2);
  for (;;) {
    const quoted = /^"((?:[^"]|"")*)"/.exec(rest);
    const cell = quoted === null ? (/^[^,]*/.exec(rest)?.[0] ?? '') : (quoted[1] ?? '').replaceAll('""', '"');
    cells.push(cell);
    rest = rest.slice(quoted === null ? cell.length : quoted[0].length);
    if (rest === '') return cells;
    rest = rest.slice(1);
  }
}
