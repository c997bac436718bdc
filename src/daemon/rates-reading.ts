import type { RatesSource } from '../domain/settings.ts';
import { hourMs } from '../domain/time.ts';
import { followRates, takeRates } from '../engine/rates.ts';
import type { DaemonParts } from './daemon-dependencies.ts';

/** The longest wait after a failure. */
const againMs = hourMs;
const notOwnerMs = 1000;

/** Reads rates from their source, at a start, after a reload, and as often as the settings say. Instants are of the steady clock. */
export function createRatesReading(
  { openProvider, state, act, log, timer, membership, now: steadyNow }: DaemonParts,
  startedAt: number,
) {
  let nextAt = startedAt;
  let busy: AbortController | null = null;
  const sourceOf = (): RatesSource | null => state.settings.money?.source ?? null;
  const owns = (): boolean => membership?.mayPoll() ?? true;

  async function read(source: RatesSource): Promise<void> {
    const reading = new AbortController();
    busy = reading;
    const provider = openProvider({ ...state.settings, provider: source.entry, providers: {} });
    const guard = () => (owns() ? 0 : notOwnerMs);
    const outcome = await provider.readBalance(source.account, reading.signal, guard);
    await provider.close();
    if (reading.signal.aborted) return;
    busy = null;
    if (outcome.kind !== 'ok') log.warn({ reason: outcome.reason }, 'rates cannot be read');
    const isTaken = act((now) => takeRates(state, source, outcome, now));
    if (isTaken) nextAt = steadyNow() + source.everyMs;
    timer.wakeBy(nextAt);
  }

  return {
    get nextAt(): number {
      return sourceOf() === null || busy !== null || !owns() ? Number.POSITIVE_INFINITY : nextAt;
    },
    /** The settings may have changed. */
    adopt(now: number): void {
      nextAt = now;
      busy?.abort();
      busy = null;
      followRates(state, now);
    },
    /** Reads the rates if they are due and this daemon owns the accounts. */
    start(now: number): void {
      const source = sourceOf();
      if (source === null || busy !== null || now < nextAt || !owns()) return;
      nextAt = now + Math.min(againMs, source.everyMs);
      void read(source);
    },
    shift(byMs: number): void {
      nextAt += byMs;
    },
    abandon: () => busy?.abort(),
  };
}
