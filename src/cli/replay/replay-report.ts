import type { Settings } from '../../domain/settings.ts';
import type { ReplayResult } from '../../replay/replay-result.ts';
import type { Output } from '../terminal/output.ts';
import type { Traces } from './account-trace.ts';

export interface ReplayReport {
  readonly result: ReplayResult;
  /** What to draw; null where nothing is drawn. */
  readonly traces: Traces | null;
  readonly settings: Settings;
  readonly now: number;
  readonly stdout: Output;
}
