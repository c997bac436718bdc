import { nextTurn } from '../../daemon/slices.ts';
import { dayMs, isoText } from '../../domain/time.ts';
import { forecastsOf, judgeForecasts, type PastForecast } from '../../replay/forecasts.ts';
import type { AccountPast } from '../../replay/past.ts';
import { cronCalendar } from '../../system/calendar.ts';
import type { CommandContext } from '../context.ts';
import type { Output } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';

type Row = ReturnType<typeof judgeForecasts>[number] & { readonly account: string };

/** Prints the forecast at each reading as JSON, in parts, or a table of how good the forecasts were. */
export async function printForecasts(
  { stdout, signal }: CommandContext,
  order: {
    readonly pasts: readonly AccountPast[];
    readonly update: (fraction: number) => void;
    readonly json: boolean;
  },
): Promise<void> {
  const { pasts, json, update } = order;
  const rows: Row[] = [];
  let separator = '\n';
  const write = async (account: string, part: readonly PastForecast[]): Promise<void> => {
    if (part.length === 0) return;
    const forecasts = part.map((each) => JSON.stringify(forecastJson(account, each)));
    await stdout.write(separator + forecasts.join(',\n'));
    separator = ',\n';
  };
  if (json) await stdout.write('{"forecasts":[');
  for (const [index, past] of pasts.entries()) {
    const account = past.account.id;
    const found: (readonly PastForecast[])[] = [];
    for await (const part of forecastsOf(past, cronCalendar)) {
      // Signals are checked between the parts.
      await nextTurn();
      if (signal.aborted) return;
      if (json) await write(account, part);
      else found.push(part);
    }
    const all = found.flat();
    for (const { id: balance } of past.account.balances)
      rows.push(...judgeForecasts(all, balance).map((quality) => ({ account, ...quality })));
    update((index + 1) / pasts.length);
  }
  await stdout.write(json ? '\n]}\n' : formatQuality(rows, stdout));
}

function forecastJson(account: string, { reading, balance, forecast }: PastForecast) {
  const instant = (at: number | null | undefined) => (at == null ? null : isoText(at));
  return {
    account,
    balance,
    at: isoText(reading.at),
    emptyAt: instant(forecast?.emptyAt),
    earliest: instant(forecast?.earliest),
    latest: instant(forecast?.latest),
    basis: forecast?.basis ?? null,
  };
}

function formatQuality(rows: readonly Row[], output: Output): string {
  if (rows.length === 0)
    return 'No forecast can be held against what came yet: that takes a balance that falls for a few days.\n';
  const percent = (share: number): string =>
    Number.isFinite(share) ? `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %` : 'not predicted';
  const table = formatTable<Row>({
    columns: [
      { header: 'ACCOUNT', value: (row) => row.account },
      { header: 'BALANCE', value: (row) => row.balance },
      { header: 'AHEAD', value: (row) => `${row.aheadMs / dayMs} d`, align: 'right' },
      { header: 'FORECASTS', value: (row) => String(row.count), align: 'right' },
      { header: 'USUALLY OFF BY', value: (row) => percent(row.medianError), align: 'right' },
      { header: 'INTERVAL HELD', value: (row) => percent(row.held), align: 'right' },
    ],
    rows,
    output,
  });
  return `${table}\nOff by: the middle of |predicted − true| / true. The 80 % range should hold for 80 % of them.\n`;
}
