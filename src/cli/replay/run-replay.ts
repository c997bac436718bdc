import { dayMs } from '../../domain/duration.ts';
import type { Settings } from '../../domain/settings.ts';
import { Replay } from '../../replay/replay.ts';
import type { ReplayObserver, ReplayResult } from '../../replay/replay-result.ts';
import { replayJson } from '../../replay/replay-result.ts';
import { cronCalendar as calendar } from '../../system/calendar.ts';
import { type CommandInput, exitCodes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { readInstant, requireAccount } from '../read-options.ts';
import { printJson } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { Traces } from './account-trace.ts';
import { formatReplay } from './format-replay.ts';
import { type OpenPasts, type PastOrder, withPasts } from './open-pasts.ts';
import { printForecasts } from './print-forecasts.ts';

const usualSpanMs = 90 * dayMs;

/** Runs the rules over the past and prints what they would have said. */
export async function runReplay(context: CommandContext, input: CommandInput): Promise<number> {
  const { settings } = await loadConfiguration(context, input);
  const now = context.clock.now();
  const named = input.option('account');
  const file = input.option('input');
  if (named !== null)
    requireAccount(
      settings.accounts.map(({ id }) => id),
      named,
    );
  const order: PastOrder = {
    settings,
    now,
    file,
    account: settings.accounts.find(({ id }) => id === named) ?? null,
    since:
      readInstant(input, 'since', { now, timezone: settings.timezone }) ??
      (file === null ? now - usualSpanMs : null),
    progress: startProgress({ output: context.stderr, clock: context.clock, label: 'replay' }),
  };
  const json = input.flag('json');
  await withPasts(context, order, async (opened) => {
    if (input.flag('forecasts')) {
      await printForecasts(context, { ...opened, json });
      return;
    }
    const traces = context.stdout.isTerminal && !json ? new Traces() : null;
    const result = await runSlices(context, opened, { settings, observer: traces ?? {} });
    order.progress.end();
    if (result === null) return;
    if (json) await printJson(context, replayJson(result));
    else await context.stdout.write(formatReplay({ ...order, result, traces, stdout: context.stdout }));
  });
  return context.signal.aborted ? exitCodes.failed : exitCodes.ok;
}

/** Judged before signals are looked for again. */
const slicePolls = 20_000;

/** Null when it was interrupted. */
async function runSlices(
  { signal }: CommandContext,
  { pasts, update }: OpenPasts,
  parts: { readonly settings: Settings; readonly observer: ReplayObserver },
): Promise<ReplayResult | null> {
  const replay = new Replay({ ...parts, calendar, pasts });
  while (!signal.aborted) {
    const result = await replay.advance(slicePolls);
    if (result !== null) return result;
    update(replay.progress);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return null;
}
