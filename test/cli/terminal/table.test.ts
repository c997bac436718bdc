import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createStyle } from '../../../src/cli/terminal/output.ts';
import { type Column, formatTable } from '../../../src/cli/terminal/table.ts';
import { displayWidth } from '../../../src/cli/terminal/text.ts';

interface Row {
  readonly name: string;
  readonly amount: string;
  readonly note: string;
}

const columns: readonly Column<Row>[] = [
  { header: 'NAME', value: ({ name }) => name, minWidth: 6 },
  { header: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
  { header: 'NOTE', value: ({ note }) => note, rank: 1 },
];

/** A terminal of so many columns; null is a pipe. */
function outputOf(width: number | null) {
  return { isTerminal: width !== null, columns: width ?? 80, style: createStyle(false) };
}

describe('a table', () => {
  it('lines columns up and ends no line with blanks', () => {
    const rows = [
      { name: 'OTP', amount: '5.00', note: '' },
      { name: 'Marketing', amount: '1200.50', note: 'paused' },
    ];
    expect(formatTable({ columns, rows, output: outputOf(null) })).toBe(
      ['NAME        AMOUNT  NOTE', 'OTP           5.00', 'Marketing  1200.50  paused', ''].join('\n'),
    );
  });

  it('leaves out the least important column before it cuts a name', () => {
    const rows = [{ name: 'Marketing', amount: '1200.50', note: 'paused for the holidays' }];
    expect(formatTable({ columns, rows, output: outputOf(20) })).toBe(
      'NAME        AMOUNT\nMarketing  1200.50\n',
    );
  });

  it('cuts names with an ellipsis when nothing else can go, and never cuts an amount', () => {
    const rows = [{ name: 'Marketing', amount: '1200.50', note: '' }];
    expect(formatTable({ columns, rows, output: outputOf(16) })).toContain('Market…');
    expect(formatTable({ columns, rows, output: outputOf(5) })).toContain('1200.50');
  });

  it('writes everything in full where no terminal is', () => {
    const rows = [{ name: 'x'.repeat(300), amount: '1', note: 'y' }];
    expect(formatTable({ columns, rows, output: outputOf(null) })).toContain('x'.repeat(300));
  });

  it('takes escape sequences out of names, so that no name can draw on the terminal', () => {
    const rows = [{ name: 'a\u001b[2Jb\nc', amount: '1', note: '' }];
    const table = formatTable({ columns, rows, output: outputOf(80) });
    expect(table).not.toContain('\u001b');
    expect(table.split('\n')).toHaveLength(3);
  });

  it('fits any names into any width that holds the parts that are never cut', () => {
    const row = fc.record({
      name: fc.string({ unit: 'grapheme' }),
      amount: fc.constant('12.50'),
      note: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), fc.integer({ min: 16, max: 100 }), (rows, width) => {
        for (const line of formatTable({ columns, rows, output: outputOf(width) }).split('\n')) {
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 100 },
    );
  });
});
