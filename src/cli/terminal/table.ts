import { cleanText } from '../../domain/plain-text.ts';
import { type CommandInput, exitCodes } from '../command.ts';
import { layoutWidth, type Output, printJson } from './output.ts';
import { cutToWidth, displayWidth, padToWidth } from './text.ts';

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** Rank 1 is dropped last. Columns without a rank are never dropped. */
  readonly rank?: number;
  /** The width to which the column may be cut before another one is dropped. Without it the column is never cut. */
  readonly minWidth?: number;
  /** Whether the cell is made here with spaces that matter, such as a sparkline: it is written unchanged. All other cells are cleaned. */
  readonly drawn?: true;
  readonly paint?: (row: Row, cell: string) => string;
}

const gap = '  ';

/** In code points. */
const maxCellLength = 500;

/** On a terminal, the least important columns are dropped first, then long texts are cut. A pipe or a file gets everything. */
export function formatTable<Row>(order: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly output: Pick<Output, 'isTerminal' | 'columns' | 'style'>;
}): string {
  const { columns, rows, output } = order;
  const room = layoutWidth(output);
  const measured = columns.map((column) => measure(column, rows));
  const shown = room === null ? measured : fitWidth(measured, room);
  const draw = (text: string, { column, width }: Measured<Row>): string =>
    padToWidth(cutToWidth(text, width), width, column.align);
  const join = (cells: readonly string[]): string => cells.join(gap).trimEnd();
  const header = output.style.dim(join(shown.map((each) => draw(each.column.header, each))));
  const lines = rows.map((row, index) =>
    join(
      shown.map((each) => {
        const cell = draw(each.cells[index] ?? '', each);
        return each.column.paint?.(row, cell) ?? cell;
      }),
    ),
  );
  return [header, ...lines, ''].join('\n');
}

/** Prints rows as JSON if that was asked for, else as a table, or as a sentence if there are none. Returns the exit code. */
export async function printRows<Row>(
  context: { readonly stdout: Output },
  input: CommandInput,
  list: {
    readonly rows: readonly Row[];
    readonly columns: readonly Column<Row>[];
    /** Printed if there are no rows; absent if there always are some. */
    readonly none?: string;
    readonly json: () => object | Promise<object>;
  },
): Promise<number> {
  const { stdout } = context;
  const { rows, columns, none = '' } = list;
  if (input.flag('json')) await printJson(context, await list.json());
  else await stdout.write(rows.length === 0 ? `${none}\n` : formatTable({ columns, rows, output: stdout }));
  return exitCodes.ok;
}

interface Measured<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  width: number;
  /** The least width that the column may have. */
  readonly least: number;
}

function measure<Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> {
  const cells = rows.map((row) =>
    column.drawn ? column.value(row) : cleanText(column.value(row), maxCellLength),
  );
  const width = cells.reduce((most, cell) => Math.max(most, displayWidth(cell)), displayWidth(column.header));
  return { column, cells, width, least: Math.min(width, column.minWidth ?? width) };
}

function fitWidth<Row>(columns: readonly Measured<Row>[], room: number): readonly Measured<Row>[] {
  let kept = columns;
  const sum = (key: 'width' | 'least'): number =>
    kept.reduce((total, column) => total + column[key], gap.length * (kept.length - 1));
  const rankOf = ({ column }: Measured<Row>): number => column.rank ?? 0;
  while (sum('least') > room) {
    const [dropped] = kept.filter((each) => rankOf(each) > 0).toSorted((a, b) => rankOf(b) - rankOf(a));
    if (dropped === undefined) break;
    kept = kept.filter((column) => column !== dropped);
  }
  for (let excess = sum('width') - room; excess > 0; excess--) {
    const [widest] = kept.filter(({ width, least }) => width > least).toSorted((a, b) => b.width - a.width);
    if (widest === undefined) break;
    widest.width -= 1;
  }
  return kept;
}
