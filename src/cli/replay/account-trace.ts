import type { Reading } from '../../domain/reading.ts';
import type { AccountSettings, Settings } from '../../domain/settings.ts';
import type { SurveyedPast } from '../../replay/past.ts';
import type { ReplayObserver, ReplayResult } from '../../replay/replay-result.ts';
import { thin } from '../../spending/thin.ts';
import type { Output } from '../terminal/output.ts';

/** More points than a terminal has dots, unless so many accounts are drawn that these would be too many. */
const chartPoints = 2000;
const maxPoints = 200_000;
/** The first, the last and the extremes of both balances. */
const pointsPerStretch = 6;

/** What is kept of the readings of an account during a replay: enough to draw them. */
export interface AccountTrace {
  readonly account: AccountSettings;
  readonly since: number;
  readonly until: number;
  /** Thinned, oldest first. */
  readonly readings: readonly Reading[];
}

/** Keeps what is drawn of all accounts while they are replayed. */
export class Traces implements ReplayObserver {
  readonly #traces = new Map<string, GrowingTrace>();

  begins(accounts: readonly SurveyedPast[]): void {
    const points = Math.min(chartPoints, Math.floor(maxPoints / accounts.length));
    for (const past of accounts) this.#traces.set(past.account.id, new GrowingTrace(past, points));
  }

  read({ settings }: { readonly settings: AccountSettings }, reading: Reading): void {
    this.#traces.get(settings.id)?.take(reading);
  }

  /** Null of an account without a past. */
  of(id: string): AccountTrace | null {
    return this.#traces.get(id)?.finish() ?? null;
  }
}

class GrowingTrace {
  readonly #past: SurveyedPast;
  readonly #stretchMs: number;
  readonly #readings: Reading[] = [];
  #stretch: Reading[] = [];
  #stretchEndsAt = Number.NEGATIVE_INFINITY;

  constructor(past: SurveyedPast, points: number) {
    const stretches = Math.max(1, Math.floor(points / pointsPerStretch));
    this.#past = past;
    this.#stretchMs = (past.lastAt - past.firstAt) / stretches;
  }

  take(reading: Reading): void {
    if (reading.at >= this.#stretchEndsAt) {
      this.#endStretch();
      this.#stretchEndsAt = reading.at + this.#stretchMs;
    }
    this.#stretch.push(reading);
  }

  finish(): AccountTrace {
    this.#endStretch();
    const { account, firstAt, lastAt } = this.#past;
    return { account, since: firstAt, until: lastAt, readings: this.#readings };
  }

  #endStretch(): void {
    this.#readings.push(...thin(this.#stretch, pointsPerStretch));
    this.#stretch = [];
  }
}

export interface ReplayReport {
  readonly result: ReplayResult;
  /** What to draw; null where nothing is drawn. */
  readonly traces: Traces | null;
  readonly settings: Settings;
  readonly now: number;
  readonly stdout: Output;
}
