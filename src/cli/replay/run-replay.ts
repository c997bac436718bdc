import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { nextTurn } from '../../daemon/slices.ts';
import { plural } from '../../domain/plain-text.ts';
import type { AccountSettings, Settings } from '../../domain/settings.ts';
import { dayMs } from '../../domain/time.ts';
import { compareReplays, comparisonJson } from '../../replay/compare.ts';
import { type AccountPast, storedPast } from '../../replay/past.ts';
import { createReplay, type Replay } from '../../replay/replay.ts';
import { type ReplayResult, replayJson } from '../../replay/replay-engine.ts';
import { cronCalendar as calendar } from '../../system/calendar.ts';
import { CommandError, type CommandInput, exitCodes, UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { findByNote } from '../daemon/find-daemon.ts';
import { loadConfiguration, locateConfiguration, usualConfiguration } from '../load-configuration.ts';
import { withReader } from '../open-reader.ts';
import { readInstant, requireKnown } from '../read-options.ts';
import { printJson, readerGone } from '../terminal/output.ts';
import { type Progress, startProgress } from '../terminal/progress.ts';
import { formatComparison, formatReplay } from './format-replay.ts';
import { assignReadings, countRepeatedInstants, givenPast } from './given-past.ts';
import { readHistoryCsv } from './history-csv.ts';
import { printForecasts } from './print-forecasts.ts';
import { explainFileError } from './read-csv.ts';
import { Traces } from './timeline.ts';

const usualSpanMs = 90 * dayMs;

export async function runReplay(context: CommandContext, input: CommandInput): Promise<number> {
  const { settings } = await loadConfiguration(context, input);
  const now = context.clock.now();
  const named = input.option('account');
  const file = input.option('input');
  const ids = settings.accounts.map(({ id }) => id);
  if (named !== null) requireKnown('account', ids, named);
  const since = readInstant(input, 'since', { now, timezone: settings.timezone });
  const order: PastOrder = {
    settings,
    now,
    file,
    account: settings.accounts.find(({ id }) => id === named) ?? null,
    since: since ?? (file === null ? now - usualSpanMs : null),
    progress: startProgress({ output: context.stderr, clock: context.clock, label: 'replay' }),
  };
  const other = input.option('compare');
  if (other !== null) return runComparison(context, input, order, other);
  const json = input.flag('json');
  await withPasts(context, order, async (pasts, update) => {
    if (input.flag('forecasts')) return printForecasts(context, { pasts, update, json });
    const traces = context.stdout.isTerminal && !json ? new Traces() : null;
    const replay = createReplay({ settings, observer: traces ?? {}, calendar, pasts });
    const result = await runSlices(replay, context.signal, update);
    order.progress.end();
    if (result === null) return;
    if (json) await printJson(context, replayJson(result));
    else await context.stdout.write(formatReplay({ ...order, result, traces, stdout: context.stdout }));
  });
  const { aborted, reason } = context.signal;
  return aborted && reason !== readerGone ? exitCodes.failed : exitCodes.ok;
}

/** Replays the configuration named by `--compare` and the one that is tried, and prints the differences. */
async function runComparison(context: CommandContext, input: CommandInput, order: PastOrder, other: string) {
  if (order.file === '-') throw new UsageError('--compare reads the file twice: --input - cannot be');
  if (input.flag('forecasts')) throw new UsageError('--forecasts compares nothing');
  const before = await loadOther(context, input, other);
  const account = before.accounts.find(({ id }) => id === order.account?.id) ?? null;
  if (account === null && order.account !== null)
    throw new CommandError(`the configuration to compare with has no account "${order.account.id}"`);
  // Both replay the same past: the database or file of the configuration that is tried.
  const settings = { ...before, storage: order.settings.storage };
  const results: ReplayResult[] = [];
  for (const each of [{ ...order, settings, account }, order])
    await withPasts(context, each, async (pasts, update) => {
      const replay = createReplay({ settings: each.settings, calendar, pasts });
      const result = await runSlices(replay, context.signal, update);
      if (result !== null) results.push(result);
    });
  const [old, tried] = results;
  if (old === undefined || tried === undefined) return exitCodes.failed;
  const comparison = compareReplays(old, tried);
  if (input.flag('json')) await printJson(context, comparisonJson(comparison));
  else await context.stdout.write(formatComparison(comparison, { ...order, stdout: context.stdout }));
  return exitCodes.ok;
}

/** The configuration to compare with. `running` means that of the daemon. */
async function loadOther(context: CommandContext, input: CommandInput, named: string): Promise<Settings> {
  const file = named === 'running' ? await findRunning(context, input) : named;
  return (await loadConfiguration(context, { option: () => file })).settings;
}

/** The file that a running daemon uses: the one that is tried, or the usual one. */
async function findRunning(context: CommandContext, input: CommandInput): Promise<string> {
  const tried = locateConfiguration(input.option('config'), context);
  const files = new Set([tried, usualConfiguration(context) ?? tried]);
  for (const file of files) if ((await findByNote(context, file)) !== null) return file;
  throw new CommandError(
    `no daemon answers that runs ${[...files].join(' or ')} as it is now: name the file to compare with, --compare FILE`,
  );
}

/** The polls that are replayed before signals are checked again. */
const slicePolls = 20_000;

/** Null when it was interrupted. */
async function runSlices(replay: Replay, signal: AbortSignal, update: Update): Promise<ReplayResult | null> {
  while (!signal.aborted) {
    const result = await replay.advance(slicePolls);
    if (result !== null) return result;
    update(replay.progress);
    await nextTurn();
  }
  return null;
}

type Update = (fraction: number) => void;

/** The accounts to replay, from when on, and the source of their past. */
interface PastOrder {
  readonly settings: Settings;
  /** Null: all. */
  readonly account: AccountSettings | null;
  /** Null: from the first reading. */
  readonly since: number | null;
  readonly now: number;
  /** A CSV file, `-` for standard input; null for the stored history. */
  readonly file: string | null;
  readonly progress: Progress;
}

/** The share of the progress for reading the text: about half of the work with a file. */
const textShare = 0.5;

/** Calls `use` with the past of the accounts, unless reading it was interrupted, and then closes its source. */
async function withPasts(
  context: CommandContext,
  order: PastOrder,
  use: (pasts: readonly AccountPast[], update: Update) => Promise<void>,
): Promise<void> {
  const { settings, account, progress, file } = order;
  try {
    if (file !== null) {
      const pasts = await readFile(context, order, file);
      if (pasts !== null)
        await use(pasts, (fraction) => progress.update(textShare + fraction * (1 - textShare)));
      return;
    }
    await withReader(context, settings.storage, async (reader) => {
      const accounts = account === null ? settings.accounts : [account];
      const said = new Map((await reader.load()).accounts.map((it) => [it.account, it.facts]));
      await use(
        accounts.map((each) => storedPast(reader, each, { ...order, facts: said.get(each.id) })),
        (fraction) => progress.update(fraction),
      );
    });
  } finally {
    progress.end();
  }
}

/** The past of the accounts in a file; null if reading was interrupted. */
async function readFile(
  { cwd, signal, stderr }: CommandContext,
  order: PastOrder,
  file: string,
): Promise<readonly AccountPast[] | null> {
  const path = file === '-' ? null : resolve(cwd, file);
  const name = path ?? 'standard input';
  const { accounts } = order.settings;
  const named = accounts.map((account) => [account.id, account] as const);
  const only = order.account ?? (accounts.length === 1 ? accounts[0] : undefined);
  const balances = new Map(
    (only === undefined ? named : [...named, ['', only] as const]).map(([id, account]) => [
      id,
      account.balances.map((balance) => balance.id),
    ]),
  );
  try {
    const size = path === null ? Number.POSITIVE_INFINITY : (await stat(path)).size;
    let read = 0;
    const update = (characters: number): void => {
      read += characters;
      order.progress.update(Math.min(1, read / size) * textShare);
    };
    const text = openText(path, signal);
    const lacking = new Map<string, number>();
    const readings = await readHistoryCsv(text, balances, update, (id) =>
      lacking.set(id, (lacking.get(id) ?? 0) + 1),
    );
    for (const said of wordLacking(lacking, order.account, only?.id)) stderr.write(`${name}: ${said}\n`);
    const assigned = assignReadings(readings, accounts, order.account);
    for (const { account, readings } of assigned) {
      const repeated = countRepeatedInstants(readings);
      if (repeated > 0)
        stderr.write(
          `${name}: ${plural(repeated, 'reading')} of ${account.id} with the time of another one; all are replayed, in the order of the file\n`,
        );
    }
    return assigned.map((given) => givenPast(given.account, given.readings, order));
  } catch (error) {
    if (signal.aborted) return null;
    throw explainFileError(error, name);
  }
}

/** The number of readings of an account that lack a balance it has now, as sentences: of `chosen` alone if given. The account '' is `only`. */
function wordLacking(lacking: ReadonlyMap<string, number>, chosen: AccountSettings | null, only = '') {
  return [...lacking]
    .map(([id, count]) => ({ id: id === '' ? only : id, count }))
    .filter(({ id }) => chosen === null || chosen.id === id)
    .map(
      ({ id, count }) => `${plural(count, 'reading')} of ${id} without a balance that it has now; left out`,
    );
}

function openText(path: string | null, signal: AbortSignal): AsyncIterable<string> {
  const options = { encoding: 'utf8', signal, highWaterMark: 1 << 18 } as const;
  // Standard input is read as a stream: read as a file, an empty pipe would cause an error if somebody made it non-blocking.
  return path === null
    ? addAbortSignal(signal, process.stdin.setEncoding('utf8'))
    : createReadStream(path, options);
}
