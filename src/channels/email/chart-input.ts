import type { Forecast } from '../../domain/forecast.ts';
import type { Micros } from '../../domain/money.ts';
import type { Ladder } from '../../domain/rule.ts';
import type { Severity } from '../../domain/severity.ts';

/**
 * What a chart shows: one balance over seven days or since its first reading, and where it leads. Instants in
 * milliseconds, money in millionths.
 */
export interface ChartInput {
  /** `SMS balance in CNY`; free of control characters. */
  readonly title: string;
  readonly points: readonly { readonly at: number; readonly value: Micros }[];
  readonly now: number;
  readonly timezone: string;
  readonly thresholds: Ladder<Micros>;
  /** When the balance reaches zero at its present pace; null draws no projection. */
  readonly emptyAt: number | null;
  /** Between which instants that lies, four times in five; null draws no fan. */
  readonly forecast: Pick<Forecast, 'earliest' | 'latest'> | null;
  /** The period of the alert. */
  readonly alert: { readonly from: number; readonly to: number; readonly severity: Severity } | null;
}
