import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Log } from '../../../src/ports/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open-store.ts';
import type { SqliteStore } from '../../../src/store/sqlite/port.ts';
import { noon, silent } from './batches.ts';

/** A directory of its own for the running test, removed after it. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'lowwater-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function makePath(): string {
  return join(makeDirectory(), 'lowwater.db');
}

/** A store that is closed after the running test at the latest. */
export function open(
  path: string,
  options: { readonly now?: () => number; readonly log?: Log } = {},
): SqliteStore {
  const { now = () => noon, log = silent } = options;
  const store = openSqliteStore({ path, log, now, program: 'lowwater 1.0.0' });
  onTestFinished(() => store.close());
  return store;
}

/** Changes one bit of a byte. */
export function flip(file: string, place: number): void {
  const bytes = readFileSync(file);
  bytes[place] = (bytes[place] ?? 0) ^ 4;
  writeFileSync(file, bytes);
}
