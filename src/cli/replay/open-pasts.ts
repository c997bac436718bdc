import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { plural } from '../../domain/plain-text.ts';
import type { AccountSettings, Settings } from '../../domain/settings.ts';
import { assignReadings, countRepeatedInstants, givenPast } from '../../replay/given-past.ts';
import { type BalanceColumns, readHistoryCsv } from '../../replay/history-csv.ts';
import { type AccountPast, storedPast } from '../../replay/past.ts';
import { HistoryFileError } from '../../replay/read-csv.ts';
import { PackedPolls } from '../../store/runs/packed-polls.ts';
import { CommandError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { openReader } from '../open-reader.ts';
import type { Progress } from '../terminal/progress.ts';

/** Whose past is wanted, from when on, and from where. */
export interface PastOrder {
  readonly settings: Settings;
  /** Null: all. */
  readonly account: AccountSettings | null;
  /** Null: from the first reading. */
  readonly since: number | null;
  readonly now: number;
  /** A CSV file, `-` for standard input; null is what is stored. */
  readonly file: string | null;
  readonly progress: Progress;
}

/** The past of accounts while it can be read. */
export interface OpenPasts {
  readonly pasts: readonly AccountPast[];
  /** Says how much of them was gone through, from 0 to 1. */
  readonly update: (fraction: number) => void;
}

/** Reading the text is about half of the work with a file. */
const textShare = 0.5;

/** Lets the past be gone through, unless reading it was interrupted, and closes what it is read from. */
export async function withPasts(
  context: CommandContext,
  order: PastOrder,
  use: (opened: OpenPasts) => Promise<void>,
): Promise<void> {
  const { settings, account, progress, file } = order;
  try {
    if (file !== null) {
      const pasts = await readFile(context, order, file);
      const update = (fraction: number) => progress.update(textShare + fraction * (1 - textShare));
      if (pasts !== null) await use({ pasts, update });
      return;
    }
    const reader = await openReader(context, settings.storage);
    try {
      const accounts = account === null ? settings.accounts : [account];
      const pasts = accounts.map((each) => storedPast(reader, each, order));
      await use({ pasts, update: (fraction) => progress.update(fraction) });
    } finally {
      await reader.close();
    }
  } finally {
    progress.end();
  }
}

/** What a file knows of the accounts; null when it was interrupted. */
async function readFile(
  { cwd, signal, stderr }: CommandContext,
  order: PastOrder,
  file: string,
): Promise<readonly AccountPast[] | null> {
  const path = file === '-' ? null : resolve(cwd, file);
  try {
    const size = path === null ? Number.POSITIVE_INFINITY : (await stat(path)).size;
    let read = 0;
    const readings = await readHistoryCsv(
      openText(path, signal),
      () => new PackedPolls(),
      columnsOf(order.settings.accounts),
      (characters) => {
        read += characters;
        order.progress.update(Math.min(1, read / size) * textShare);
      },
    );
    const assigned = assignReadings(readings, order.settings.accounts, order.account);
    for (const { account, readings } of assigned) {
      const repeated = countRepeatedInstants(readings);
      if (repeated > 0)
        stderr.write(
          `${path ?? 'standard input'}: ${plural(repeated, 'reading')} of ${account.id} with the time of another one; all are replayed, in the order of the file\n`,
        );
    }
    return assigned.map((given) => givenPast(given.account, given.readings, order));
  } catch (error) {
    if (signal.aborted) return null;
    throw explainFileError(error, path ?? 'standard input');
  }
}

function columnsOf(accounts: readonly AccountSettings[]): BalanceColumns {
  const lists = [...new Set(accounts.map(({ balances }) => balances))];
  return { balances: [...new Set(lists.flat().map(({ id }) => id))], isMixed: lists.length > 1 };
}

function openText(path: string | null, signal: AbortSignal): AsyncIterable<string> {
  const options = { encoding: 'utf8', signal, highWaterMark: 1 << 18 } as const;
  // Read as a file, a pipe to which nothing was written yet would be an error where somebody made it non-blocking.
  return path === null
    ? addAbortSignal(signal, process.stdin.setEncoding('utf8'))
    : createReadStream(path, options);
}

function explainFileError(error: unknown, name: string): unknown {
  if (error instanceof HistoryFileError) return new CommandError(`${name}: ${error.message}`);
  const code = error instanceof Error && 'code' in error ? String(error.code) : null;
  if (code === 'ENOENT') return new CommandError(`${name}: there is no such file`);
  if (code === 'EISDIR') return new CommandError(`${name} is a folder, a CSV file is needed`);
  return code === null ? error : new CommandError(`${name} cannot be read: ${code}`);
}
