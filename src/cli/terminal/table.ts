import { cleanText } from '../../domain/plain-text.ts';
import { cutToWidth, displayWidth, padToWidth } from './display-width.ts';
import { layoutWidth, type Output } from './output.ts';

export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** 1 is dropped last. Columns without a rank are never dropped. */
  readonly rank?: number;
  /** How narrow the column may become before another one is dropped; without it the column is never cut. */
  readonly minWidth?: number;
  /** Made by ourselves with spaces that matter, such as a sparkline: written as it is. Everything else is cleaned. */
  readonly drawn?: true;
  /** Colours the finished cell. */
  readonly paint?: (row: Row, cell: string) => string;
}

const gap = '  ';

/** Code points. */
const maxCellLength = 500;

/**
 * Rows under a line of headers, two spaces apart. On a terminal the least important columns are left out first, then long
 * texts are cut; for a pipe or a file everything is written in full.
 */
export function formatTable<Row>(order: {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly output: Pick<Output, 'isTerminal' | 'columns' | 'style'>;
}): string {
  const { rows, output } = order;
  const width = layoutWidth(output);
  const measured = order.columns.map((column) => measure(column, rows));
  const shown = width === null ? measured : fitWidth(measured, width);
  const header = shown.map(({ column, width: cell }) =>
    padToWidth(cutToWidth(column.header, cell), cell, column.align),
  );
  const lines = [output.style.dim(header.join(gap).trimEnd())];
  rows.forEach((row, index) => {
    lines.push(
      shown
        .map((column) => drawCell(column, row, index))
        .join(gap)
        .trimEnd(),
    );
  });
  return `${lines.join('\n')}\n`;
}

interface Measured<Row> {
  readonly column: Column<Row>;
  readonly cells: readonly string[];
  readonly width: number;
}

function measure<Row>(column: Column<Row>, rows: readonly Row[]): Measured<Row> {
  const cells = rows.map((row) =>
    column.drawn ? column.value(row) : cleanText(column.value(row), maxCellLength),
  );
  const width = cells.reduce(
    (widest, cell) => Math.max(widest, displayWidth(cell)),
    displayWidth(column.header),
  );
  return { column, cells, width };
}

function drawCell<Row>({ column, cells, width }: Measured<Row>, row: Row, index: number): string {
  const cell = padToWidth(cutToWidth(cells[index] ?? '', width), width, column.align);
  return column.paint === undefined ? cell : column.paint(row, cell);
}

function fitWidth<Row>(columns: readonly Measured<Row>[], width: number): Measured<Row>[] {
  let kept = [...columns];
  while (totalWidth(kept, narrowest) > width) {
    const dropped = leastImportant(kept);
    if (dropped === null) break;
    kept = kept.filter((column) => column !== dropped);
  }
  for (let excess = totalWidth(kept, fullWidth) - width; excess > 0; ) {
    const widest = widestThatShrinks(kept);
    if (widest === null) break;
    kept = kept.map((column) => (column === widest ? { ...column, width: column.width - 1 } : column));
    excess -= 1;
  }
  return kept;
}

function totalWidth<Row>(
  columns: readonly Measured<Row>[],
  widthOf: (column: Measured<Row>) => number,
): number {
  return columns.reduce((sum, column) => sum + widthOf(column), gap.length * Math.max(0, columns.length - 1));
}

function fullWidth<Row>(column: Measured<Row>): number {
  return column.width;
}

function narrowest<Row>({ column, width }: Measured<Row>): number {
  return Math.min(width, column.minWidth ?? width);
}

function leastImportant<Row>(columns: readonly Measured<Row>[]): Measured<Row> | null {
  return columns.reduce<Measured<Row> | null>((least, candidate) => {
    if (candidate.column.rank === undefined) return least;
    return least?.column.rank !== undefined && least.column.rank >= candidate.column.rank ? least : candidate;
  }, null);
}

function widestThatShrinks<Row>(columns: readonly Measured<Row>[]): Measured<Row> | null {
  return columns.reduce<Measured<Row> | null>((widest, candidate) => {
    if (candidate.width <= narrowest(candidate)) return widest;
    return widest !== null && widest.width >= candidate.width ? widest : candidate;
  }, null);
}
