import type { Calendar } from '../../domain/ports.ts';
import { balances } from '../../domain/reading.ts';
import type { Settings } from '../../domain/settings.ts';
import { type ForecastQuality, judgeForecasts } from '../../replay/forecast-quality.ts';
import { forecastsOf, type PastForecast } from '../../replay/forecasts.ts';
import type { AccountHistory } from '../../replay/history-replay.ts';
import { isoText } from '../../views/public-json.ts';
import type { CommandContext } from '../context.ts';
import { layoutWidth } from '../terminal/output.ts';
import { formatTable } from '../terminal/table.ts';

interface Order {
  /** Gives each history in turn. */
  readonly live: (each: (history: AccountHistory) => Promise<void>) => Promise<void>;
  readonly calendar: Calendar;
  readonly settings: Settings;
  readonly json: boolean;
}

interface Row extends ForecastQuality {
  readonly account: string;
}

/** Prints what was foretold at each reading as JSON, an account at a time, or how good it was as a table. */
export async function printForecasts(context: CommandContext, order: Order): Promise<void> {
  const { calendar, settings, json } = order;
  const { stdout } = context;
  const rows: Row[] = [];
  let written = 0;
  if (json) await stdout.write('{"forecasts":[');
  await order.live(async (history) => {
    const found = [...forecastsOf(history, { calendar, timezone: settings.timezone })];
    const account = history.account.id;
    if (!json) {
      for (const balance of balances) {
        rows.push(...judgeForecasts(found, balance).map((quality) => ({ account, ...quality })));
      }
    } else if (found.length > 0) {
      const lines = found.map((it) => JSON.stringify(forecastJson(account, it)));
      await stdout.write(`${written === 0 ? '' : ','}\n${lines.join(',\n')}`);
      written += lines.length;
    }
  });
  await stdout.write(json ? '\n]}\n' : formatQuality(rows, context));
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

function formatQuality(rows: readonly Row[], { stdout }: CommandContext): string {
  if (rows.length === 0) {
    return 'No forecast can be held against what came yet: that takes a balance that falls for a few days.\n';
  }
  const percent = (share: number): string =>
    Number.isFinite(share) ? `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %` : 'not foretold';
  const table = formatTable<Row>({
    columns: [
      { header: 'ACCOUNT', value: (row) => row.account },
      { header: 'BALANCE', value: (row) => row.balance },
      { header: 'AHEAD', value: (row) => `${row.aheadMs / 86_400_000} d`, align: 'right' },
      { header: 'FORECASTS', value: (row) => String(row.count), align: 'right' },
      { header: 'USUALLY OFF BY', value: (row) => percent(row.medianError), align: 'right' },
      { header: 'INTERVAL HELD', value: (row) => percent(row.held), align: 'right' },
    ],
    rows,
    width: layoutWidth(stdout),
    style: stdout.style,
  });
  return `${table}\nOff by: the middle of |foretold − true| / true. The interval is to hold four times in five.\n`;
}
