import fs, { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listFileSource, readFileSource, watchConfig } from '../../src/config/sources.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { WatchedSource } from '../../src/ports/watched-source.ts';

const realOpen = fs.promises.open;

/** Lets each opening of a file fail by a code, until it is null. */
function failOpening(code: string | null): void {
  fs.promises.open = code === null ? realOpen : () => Promise.reject(Object.assign(new Error(), { code }));
  syncBuiltinESMExports();
}

let directory: string;
let path: string;
let secret: string;
let changes: number;
let timers: (() => void)[];
let watch: ReturnType<typeof watchConfig>;

const clock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  setTimer(_, fire) {
    timers.push(fire);
    return () => {
      timers = timers.filter((timer) => timer !== fire);
    };
  },
};

/** Lets so many seconds pass. */
async function pass(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const due = timers;
    timers = [];
    for (const fire of due) fire();
    await watch.settled();
  }
}

/** What the files hold now. */
async function read(...paths: readonly string[]): Promise<WatchedSource[]> {
  return Promise.all(paths.map(async (file) => (await readFileSource(file, 1000)).source));
}

async function start(): Promise<void> {
  changes = 0;
  timers = [];
  watch = watchConfig({ sources: await read(path, secret), clock, onChange: () => changes++ });
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'lowwater-watch-'));
  path = join(directory, 'config.json');
  secret = join(directory, 'secret');
  writeFileSync(path, 'one');
  writeFileSync(secret, 'key');
  await start();
});

afterEach(() => {
  failOpening(null);
  watch.close();
  rmSync(directory, { recursive: true });
});

test('nothing is reported while nothing changes, also when the file is written again as it was', async () => {
  await pass(5);
  writeFileSync(path, 'one');
  await pass(5);
  expect(changes).toBe(0);
});

test('an edit in place is reported once, within two seconds', async () => {
  writeFileSync(path, 'two');
  await pass(1);
  expect(changes).toBe(0);
  await pass(1);
  expect(changes).toBe(1);
  await pass(5);
  expect(changes).toBe(1);
});

test('an edit of the same length right after another is seen', async () => {
  for (const [index, text] of ['two', 'six', 'ten'].entries()) {
    writeFileSync(path, text);
    await pass(2);
    expect(changes).toBe(index + 1);
  }
});

test('a file that is still being written is not reported before it is still', async () => {
  for (const text of ['t', 'tw', 'two']) {
    writeFileSync(path, text);
    await pass(1);
  }
  expect(changes).toBe(0);
  await pass(1);
  expect(changes).toBe(1);
});

test('an edit that is taken back at once is not reported', async () => {
  writeFileSync(path, 'two');
  await pass(1);
  writeFileSync(path, 'one');
  await pass(3);
  expect(changes).toBe(0);
});

test('an editor that writes a new file and renames it is noticed', async () => {
  await pass(5);
  writeFileSync(`${path}.swp`, 'two');
  renameSync(`${path}.swp`, path);
  await pass(2);
  expect(changes).toBe(1);
});

test('a file that cannot be read for a while is read again once it can, though nothing shows at it', async () => {
  writeFileSync(path, 'two');
  failOpening('EMFILE');
  await pass(8);
  expect(changes).toBe(1);
  failOpening(null);
  await pass(2);
  expect(changes).toBe(2);
});

test('a swap of the symbolic link that Kubernetes mounts volumes by is noticed', async () => {
  for (const version of ['v1', 'v2']) {
    mkdirSync(join(directory, version));
    writeFileSync(join(directory, version, 'config.json'), version);
  }
  symlinkSync('v1', join(directory, '..data'));
  rmSync(path);
  symlinkSync(join('..data', 'config.json'), path);
  await start();
  await pass(5);
  symlinkSync('v2', join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  await pass(2);
  expect(changes).toBe(1);
});

test('a change of a file that a placeholder names is noticed', async () => {
  await pass(5);
  writeFileSync(secret, 'new key');
  await pass(2);
  expect(changes).toBe(1);
});

test('a file that goes away and one that comes are changes', async () => {
  rmSync(secret);
  await pass(2);
  expect(changes).toBe(1);
  writeFileSync(secret, 'key');
  await pass(2);
  expect(changes).toBe(2);
});

test('files named after a reload are watched, those no longer named are not', async () => {
  const other = join(directory, 'other');
  writeFileSync(other, 'a');
  watch.setSources(await read(path, other));
  writeFileSync(secret, 'changed');
  await pass(3);
  expect(changes).toBe(0);
  writeFileSync(other, 'b');
  await pass(2);
  expect(changes).toBe(1);
});

test('an edit between loading and the first look is noticed', async () => {
  writeFileSync(path, 'two');
  watch.setSources(await read(path, secret));
  writeFileSync(path, 'three');
  await pass(2);
  expect(changes).toBe(1);
});

test('a file that comes into a folder of accounts, and one that goes, are changes', async () => {
  const folder = join(directory, 'accounts.d');
  mkdirSync(folder);
  const pattern = join(folder, '*.json');
  watch.setSources([(await listFileSource(pattern)).source]);
  writeFileSync(join(folder, 'a.json.swp'), '[]');
  await pass(3);
  expect(changes).toBe(0);
  writeFileSync(join(folder, 'a.json'), '[]');
  await pass(2);
  expect(changes).toBe(1);
  rmSync(join(folder, 'a.json'));
  await pass(2);
  expect(changes).toBe(2);
});

test('a file system that hangs is asked once at a time, and holds nothing else up', async () => {
  let asked = 0;
  const hanging = { path: '/hanging', held: '', look: () => new Promise<string>(() => asked++) };
  watch.setSources([hanging, hanging, hanging]);
  for (let round = 0; round < 5; round++) {
    const due = timers;
    timers = [];
    for (const fire of due) fire();
    await Promise.resolve();
  }
  expect(asked).toBe(1);
});

test('where the system reports changes it looks at once, and otherwise only every ten seconds', async () => {
  watch.close();
  const report = new Map<string, (name: string | null) => void>();
  const delays: number[] = [];
  const sources = await read(path);
  timers = [];
  watch = watchConfig({
    sources,
    onChange: () => changes++,
    clock: {
      ...clock,
      setTimer(delayMs, fire) {
        delays.push(delayMs);
        return clock.setTimer(delayMs, fire);
      },
    },
    watchPath(watched, changed) {
      report.set(watched, changed);
      return () => report.delete(watched);
    },
  });
  await pass(5);
  expect(delays.at(-1)).toBe(10_000);
  report.get(directory)?.('lowwater.db-wal');
  expect(delays.at(-1)).toBe(10_000);
  writeFileSync(path, 'two');
  report.get(directory)?.('config.json');
  expect(delays.at(-1)).toBe(1000);
  await pass(2);
  expect(changes).toBe(1);
  watch.close();
  expect(report.size).toBe(0);
});

test('a closed watch leaves no timer behind and tells nothing more', async () => {
  writeFileSync(path, 'two');
  await pass(1);
  const [fire] = timers;
  fire?.();
  watch.close();
  await watch.settled();
  expect(timers.filter((timer) => timer !== fire)).toEqual([]);
  expect(changes).toBe(0);
});
