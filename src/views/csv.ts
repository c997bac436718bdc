import { formatMicros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import type { BalanceDefinition, Reading } from '../domain/reading.ts';
import { isoText } from '../domain/time.ts';

/**
 * One CSV line as in RFC 4180, with its CRLF. A cell that a spreadsheet would take for a formula (it begins
 * with `= + - @`, also in full width, a tab or a line break, and is no number) gets an apostrophe in front, so that opening an
 * export runs nothing.
 */
export function formatCsvLine(cells: readonly string[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`;
}

const formulaStart = /^[=+\-@＝＋－＠\t\r\n]/;
const plainNumber = /^-?\d+(?:\.\d+)?$/;
const needsQuotes = /[",\r\n]/;

function formatCell(cell: string): string {
  const safe = formulaStart.test(cell) && !plainNumber.test(cell) ? `'${cell}` : cell;
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The header of an account's history as CSV, which a replay reads. */
export function historyHeader(balances: readonly BalanceDefinition[]): string {
  return formatCsvLine(['at', ...balances.map(({ id }) => id), 'currency']);
}

/** One reading under `historyHeader`: ISO 8601 in UTC, amounts with every digit; empty for a balance that it does not have. */
export function formatHistoryLine(
  { at, balances, currency }: Reading,
  columns: readonly BalanceDefinition[],
): string {
  const amounts = columns.map(({ id }) => {
    const micros = ownOf(balances, id);
    return micros === undefined ? '' : formatMicros(micros);
  });
  return formatCsvLine([isoText(at), ...amounts, currency]);
}
