import { existsSync, readdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StorageError } from '../../src/domain/ports.ts';
import { describeHolder } from '../../src/store/store.ts';
import { batch, noon } from './batches.ts';
import { startChild } from './child.ts';
import { makePath, open } from './fixtures.ts';

describe('a second daemon on the same database', () => {
  it('gives up within a second and says which process holds it', async () => {
    const path = makePath();
    const first = startChild(path, 'wait');
    expect(await first.line()).toBe('open');
    const begin = performance.now();
    const refusal = refusalOf(path);
    expect(performance.now() - begin).toBeLessThan(1000);
    expect(refusal.kind).toBe('busy');
    expect(refusal.message).toBe(
      `database ${path} is in use by lowwater 1.0.0, process ${first.pid} on ${hostname()}, ` +
        'running since 2026-11-20T12:00:00.000Z: stop it first, or give this one another storage.path',
    );
  });

  it('leaves the first one alone', () => {
    const path = makePath();
    const store = open(path);
    refusalOf(path);
    store.commit(batch({ notes: { alive: '1' } }));
    expect(store.load().notes).toEqual({ alive: '1' });
  });

  it('starts at once when the first was killed', async () => {
    const path = makePath();
    const first = startChild(path, 'wait');
    await first.line();
    await first.kill();
    const begin = performance.now();
    open(path).commit(batch({ notes: { alive: '1' } }));
    expect(performance.now() - begin).toBeLessThan(1000);
  });

  it('starts when the first was stopped', () => {
    const path = makePath();
    open(path).close();
    expect(open(path).load().notes).toEqual({});
  });
});

describe('the holder of a database', () => {
  it('is known while it runs, and nobody after it was killed', async () => {
    const path = makePath();
    expect(describeHolder(path)).toBeNull();
    const daemon = startChild(path, 'wait');
    await daemon.line();
    expect(describeHolder(path)).toEqual({
      pid: daemon.pid,
      host: hostname(),
      startedAt: noon,
      program: 'lowwater 1.0.0',
    });
    await daemon.kill();
    expect(describeHolder(path)).toBeNull();
  });

  it('leaves nothing of itself behind when it stops but an empty lock file', () => {
    const path = makePath();
    open(path).close();
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['lowwater.db', 'lowwater.db-lock']);
  });

  it('is asked for without creating anything', () => {
    const path = makePath();
    describeHolder(path);
    expect(existsSync(`${path}-lock`)).toBe(false);
  });
});

function refusalOf(path: string): StorageError {
  try {
    open(path);
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error('the second daemon was let in');
}
