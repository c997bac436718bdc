import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { AccountSettings, Settings } from '../../domain/settings.ts';
import { assignReadings, givenHistory, storedHistory } from '../../replay/histories.ts';
import { HistoryFileError, readHistoryCsv } from '../../replay/history-csv.ts';
import { type AccountHistory, HistoryReplay } from '../../replay/history-replay.ts';
import { replayJson } from '../../replay/replay-json.ts';
import { type Command, CommandError, type CommandInput, exitCodes } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { printJson } from '../print-json.ts';
import { readInstant, requireAccount } from '../read-options.ts';
import { type AccountTrace, traceOf } from '../replay/account-trace.ts';
import { formatReplay } from '../replay/format-replay.ts';
import { printForecasts } from '../replay/print-forecasts.ts';
import { type Progress, startProgress } from '../terminal/progress.ts';

const usualSpanMs = 90 * 86_400_000;

export const replayCommand: Command = {
  name: 'replay',
  summary: 'what the configured rules would have said of stored or given history',
  details: `Runs the rules, routes and silences of the configuration over the past: when each rule would have fired, how long before the
balance was empty, how many messages. Writes nothing and sends nothing: try thresholds before they go live.

Without --input the stored polls are replayed; a time in which lowwater was not running counts neither as breach nor as
staleness. With --input the readings of a CSV file: at,sms,voip,currency and optionally account, as "history --csv" writes it;
where readings are missing for longer than usual the account counts as unreadable. Nobody acknowledges anything in a replay, and
every message is delivered at once.

--json prints {"incidents":[{"account","rule","type","severity","firedAt","resolvedAt","value","emptyAt","emptyBy"}],"messages":n};
severity is the worst, value what it fired with (money as a decimal string, durations in seconds). emptyAt is when the balance
ran empty: "reached" while it fired, or else "projected" from the burn rate.

--forecasts foretells at each reading, from it and earlier ones alone, when the balance is empty, and says how far off that was.
With --json {"forecasts":[{"account","balance","at","emptyAt","earliest","latest","basis"}]}: as likely before emptyAt as after, four
times in five between earliest and latest; null is unknown, or later than can be told.`,
  options: {
    since: {
      value: 'TIME',
      summary: 'a duration before now (90d) or a date (2026-11-01); default 90d, with --input all of it',
    },
    input: { value: 'FILE.csv', summary: 'replay this file; - reads standard input' },
    account: { value: 'ID', summary: 'only this account; whose the file is when it does not say' },
    forecasts: { summary: 'what was foretold at each reading, and how good it was, instead of the rules' },
    json: { summary: 'print JSON' },
  },
  examples: [
    'lowwater replay --since 30d',
    'lowwater replay --forecasts',
    'lowwater history otp --since 365d --csv | lowwater replay --config new.json --input - --account otp',
  ],
  run: runReplay,
};

async function runReplay(context: CommandContext, input: CommandInput): Promise<number> {
  const { settings } = await loadConfiguration(context, input);
  const calendar = await context.rooms.loadCalendar();
  const now = context.clock.now();
  const named = input.option('account');
  const file = input.option('input');
  const order: ReplayOrder = {
    settings,
    now,
    account: named === null ? null : requireAccount(settings, named),
    since: readInstant(input, 'since', now) ?? (file === null ? now - usualSpanMs : null),
  };
  const progress = startProgress({ output: context.stderr, clock: context.clock, label: 'replay' });
  const live = (each: Work['each']) => {
    const work = { ...order, progress, each };
    const done = file === null ? replayStored(context, work) : replayFile(context, { ...work, file });
    return done.finally(() => progress.end());
  };
  if (input.flag('forecasts')) {
    await printForecasts(context, { live, calendar, settings, json: input.flag('json') });
    return context.signal.aborted ? exitCodes.failed : exitCodes.ok;
  }
  const replay = new HistoryReplay({ settings, calendar });
  const traces: AccountTrace[] = [];
  await live((history) => {
    replay.add(history);
    if (history.polls.length > 0) traces.push(traceOf(history));
  });
  if (context.signal.aborted) return exitCodes.failed;
  const until = file === null ? now : traces.reduce((last, trace) => Math.max(last, trace.until), 0);
  const result = replay.finish(until);
  if (input.flag('json')) await printJson(context, replayJson(result));
  else await context.stdout.write(formatReplay({ result, traces, settings, now, stdout: context.stdout }));
  return exitCodes.ok;
}

interface ReplayOrder {
  readonly settings: Settings;
  readonly account: AccountSettings | null;
  readonly since: number | null;
  readonly now: number;
}

interface Work extends ReplayOrder {
  readonly progress: Progress;
  readonly each: (history: AccountHistory) => void | Promise<void>;
}

async function replayStored(context: CommandContext, work: Work): Promise<void> {
  const { settings, progress, each } = work;
  const accounts = work.account === null ? settings.accounts : [work.account];
  const reader = await context.rooms.openReader(settings.storage.path);
  try {
    for (const [index, account] of accounts.entries()) {
      await each(storedHistory(reader, account, work));
      progress.update((index + 1) / accounts.length);
      if (await interrupted(context)) return;
    }
  } finally {
    reader.close();
  }
}

/** Reading the text is most of the work with a file. */
const readingShare = 0.8;

async function replayFile(context: CommandContext, work: Work & { readonly file: string }): Promise<void> {
  const { settings, progress, each, file } = work;
  const path = file === '-' ? null : resolve(context.cwd, file);
  try {
    const size = path === null ? Number.POSITIVE_INFINITY : (await stat(path)).size;
    let read = 0;
    const readings = await readHistoryCsv(openText(path, context.signal), (characters) => {
      read += characters;
      progress.update(Math.min(1, read / size) * readingShare);
    });
    const assigned = assignReadings(readings, settings.accounts, work.account);
    for (const [index, given] of assigned.entries()) {
      await each(givenHistory(given.account, given.readings, work));
      progress.update(readingShare + ((index + 1) / assigned.length) * (1 - readingShare));
      if (await interrupted(context)) return;
    }
  } catch (error) {
    if (context.signal.aborted) return;
    throw explainFileError(error, path ?? 'standard input');
  }
}

function openText(path: string | null, signal: AbortSignal): AsyncIterable<string> {
  const options = { encoding: 'utf8', signal, highWaterMark: 1 << 18 } as const;
  return path === null ? createReadStream('', { ...options, fd: 0 }) : createReadStream(path, options);
}

function explainFileError(error: unknown, name: string): unknown {
  if (error instanceof HistoryFileError) return new CommandError(`${name}: ${error.message}`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  if (code === 'ENOENT') return new CommandError(`${name}: there is no such file`);
  if (code === 'EISDIR') return new CommandError(`${name} is a folder, a CSV file is needed`);
  return code === null ? error : new CommandError(`${name} cannot be read: ${code}`);
}

/** Lets signals in between two accounts. */
async function interrupted({ signal }: CommandContext): Promise<boolean> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  return signal.aborted;
}
