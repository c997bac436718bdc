import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { CommandError, UsageError } from '../command.ts';

/** A configuration, or a part of it, as text of a file. */
export function format(config: object): string {
  return `${JSON.stringify(config, null, 2)}\n`;
}

export function alreadyThere(file: string): UsageError {
  return new UsageError(`${file} exists; init never writes over a file`);
}

/** Throws an error with advice if the file cannot be written. On a full disk it removes the file, whose part would pass for the whole. */
export function explainWriting<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    if (code === 'EEXIST') throw alreadyThere(file);
    if (code === null) throw error;
    if (code === 'ENOSPC' || code === 'EDQUOT') rmSync(file, { force: true });
    throw new CommandError(`${dirname(file)} cannot be written to: ${code}`);
  }
}
