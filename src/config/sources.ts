import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { restEnd } from '../domain/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { WatchedSource, WatchPath } from '../ports/watched-source.ts';
import type { FileContent, FileList, Unread } from './interpolate.ts';

/** The largest configuration, and the largest file of accounts next to it. */
export const largestDocumentBytes = 16 * 1024 * 1024;

/** The largest file that a placeholder puts in. */
export const largestValueBytes = 1024 * 1024;

/**
 * Reads a UTF-8 file, without the byte order mark that some editors write. Failures are phrases for people. A file larger than `maxBytes`, or
 * one that is not regular (a FIFO or a device could keep the reader waiting for ever), is refused unread.
 */
export async function readFileSource(
  path: string,
  maxBytes: number,
): Promise<{ readonly content: FileContent; readonly source: WatchedSource }> {
  const bytes = await readBytes(path, maxBytes);
  return { content: decode(bytes), source: watchFile(path, maxBytes, digestOf(bytes)) };
}

/** The files that match an absolute pattern with `*` in its last part, in the order of their names. */
export async function listFileSource(
  pattern: string,
): Promise<{ readonly content: FileList; readonly source: WatchedSource }> {
  const content = await listFiles(pattern);
  const source = {
    path: dirname(pattern),
    held: digestOfList(content),
    look: async () => digestOfList(await listFiles(pattern)),
  };
  return { content, source };
}

type Bytes = Buffer | Unread;

const smallestChunk = 4096;

async function readBytes(path: string, maxBytes: number): Promise<Bytes> {
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { failed: stats.isDirectory() ? 'it is a directory' : noRegularFile };
      // A file may grow while it is read, and those of /proc claim to be empty, so reading goes on until nothing more comes. A stream would take
      // twice as many turns of the event loop, and each is long while thousands of accounts are polled.
      const chunks: Buffer[] = [];
      let read = 0;
      let length = Math.max(stats.size + 1, smallestChunk);
      while (stats.size <= maxBytes && read <= maxBytes) {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length);
        if (bytesRead === 0) break;
        chunks.push(buffer.subarray(0, bytesRead));
        read += bytesRead;
        length = smallestChunk;
      }
      if (Math.max(stats.size, read) <= maxBytes) return Buffer.concat(chunks);
      return { failed: `it is larger than ${maxBytes / 1024 / 1024} MB` };
    } finally {
      await file.close();
    }
  } catch (error) {
    return { failed: describeFailure(error) };
  }
}

const noRegularFile = 'it is no regular file (a FIFO, a socket or a device)';

function decode(bytes: Bytes): FileContent {
  if ('failed' in bytes) return bytes;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    return { failed: describeFailure(error) };
  }
}

async function listFiles(pattern: string): Promise<FileList> {
  const [folder, name] = [dirname(pattern), basename(pattern)];
  if (folder.includes('*')) return { failed: 'only the name of the file may hold a *' };
  if (!name.includes('*')) return { paths: [pattern] };
  // As in a shell, * does not match a leading dot: editors keep such files next to those that they change.
  const parts = name.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  const expression = new RegExp(`^${name.startsWith('*') ? '(?!\\.)' : ''}${parts.join('.*')}$`, 's');
  try {
    const names = (await readdir(folder)).filter((entry) => expression.test(entry));
    return { paths: names.toSorted().map((entry) => join(folder, entry)) };
  } catch (error) {
    return { failed: describeFailure(error) };
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file: a part of its path is not a directory',
  EISDIR: 'it is a directory',
  ENXIO: noRegularFile,
  ERR_ENCODING_INVALID_ENCODED_DATA: 'it is not UTF-8 text',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'its name is too long',
};

function describeFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  if (code === 'EACCES' || code === 'EPERM') {
    const user = process.getuid?.();
    return `this user${user === undefined ? '' : ` (uid ${user})`} may not read it`;
  }
  return reasons[code] ?? code;
}

/** Two writes within a tick of the file system's clock may leave the same metadata: for this many rounds the file is read anyway. */
const roundsOfDoubt = 3;

/** A file whose metadata has been still for a while is not read again. */
function watchFile(path: string, maxBytes: number, held: string): WatchedSource {
  let before = { metadata: '', digest: held, stillRounds: 0 };
  return {
    path,
    held,
    async look() {
      const metadata = await describeMetadata(path);
      const isStill = metadata !== null && before.metadata === metadata;
      if (isStill && before.stillRounds >= roundsOfDoubt) return before.digest;
      const bytes = await readBytes(path, maxBytes);
      // A fault of reading, such as a failing disk or too many open files, may end without a trace in the metadata.
      const stillRounds = isStill && !('failed' in bytes) ? before.stillRounds + 1 : 0;
      before = { metadata: metadata ?? '', digest: digestOf(bytes), stillRounds };
      return before.digest;
    },
  };
}

/** Follows symbolic links, so another target shows as another inode. */
async function describeMetadata(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return null;
  }
}

function digestOf(bytes: Bytes): string {
  return 'failed' in bytes ? bytes.failed : createHash('sha256').update(bytes).digest('base64');
}

function digestOfList(list: FileList): string {
  return 'failed' in list ? list.failed : JSON.stringify(list.paths);
}

/** The pause between looks after the system reported a change, or if it reports none at all. */
const lookEveryMs = 1000;
/** Rounds after a report, until the written files are still. */
const roundsOfReport = 4;
/** Further files are not watched one by one, because a system allows only so many watches. */
const maxWatches = 500;

/**
 * Notices that the configuration, or a file that it names, differs from when it was loaded. The system reports most changes. Looking finds
 * those that it misses: bind mounts, symbolic links swapped by Kubernetes, network drives. A change is reported when two rounds in a row saw
 * the same, so that a half-written file is not loaded. A file that appears or disappears counts as a change.
 */
export function watchConfig(order: {
  readonly sources: readonly WatchedSource[];
  readonly onChange: () => void;
  readonly clock: Clock;
  readonly watchPath?: WatchPath;
}) {
  const { onChange, clock, watchPath = () => null } = order;
  let watched = order.sources;
  let loaded = heldBy(watched);
  let lastSeen = loaded;
  let closed = false;
  let roundsLeft = roundsOfDoubt;
  let cancelTimer = (): void => {};
  let round: Promise<void> | null = null;
  let watches = watchAll();

  function watchAll(): readonly ((() => void) | null)[] {
    const files = watched.map(({ path }) => path);
    const paths = [...new Set([...files.map((path) => dirname(path)), ...files])].slice(0, maxWatches);
    // A database may be in the same folder as the configuration. Kubernetes swaps a link called `..data`.
    const names = new Set(files.map((path) => basename(path)));
    const isOther = (path: string, name: string | null): boolean =>
      name !== null && !files.includes(path) && !names.has(name) && !name.startsWith('..');
    return paths.map((path) => watchPath(path, (name) => isOther(path, name) || reported()));
  }

  function reported(): void {
    roundsLeft = roundsOfReport;
    if (round === null) arm();
  }

  const look = async (): Promise<void> => {
    const asked = watched;
    const seen: string[] = [];
    // One after another: a file system that hangs then holds only one of the few threads that name resolution needs too.
    for (const source of asked) seen.push(await source.look());
    // Meanwhile other files are watched: what was read says nothing about them.
    if (closed || asked !== watched) return;
    const all = seen.join(' ');
    const isStill = all === lastSeen;
    lastSeen = all;
    if (!isStill || all === loaded) return;
    loaded = all;
    onChange();
  };
  function arm(): void {
    if (closed) return;
    cancelTimer();
    const isQuiet = roundsLeft <= 0 && watches.length < maxWatches && watches.every((end) => end !== null);
    const now = clock.now();
    // A slow look goes on even while no change is reported: bind mounts and network drives report none.
    const delayMs = isQuiet ? restEnd(now) - now : lookEveryMs;
    cancelTimer = clock.setTimer(delayMs, () => {
      roundsLeft -= 1;
      round = look().then(() => {
        round = null;
        arm();
      });
    });
  }
  function endWatches(): void {
    for (const end of watches) end?.();
  }
  arm();

  return {
    /** After a reload, the configuration may consist of other files. */
    setSources(others: readonly WatchedSource[]): void {
      watched = others;
      loaded = heldBy(others);
      lastSeen = loaded;
      if (closed) return;
      endWatches();
      watches = watchAll();
      reported();
    },
    /** Resolves when the round under way is over. */
    settled: () => round ?? Promise.resolve(),
    close(): void {
      closed = true;
      cancelTimer();
      endWatches();
    },
  };
}

/** One text for everything that a configuration was read from, in its order: it differs for other content and for other files. */
export function fingerprintOf(sources: readonly WatchedSource[]): string {
  const all = JSON.stringify(sources.map(({ path, held }) => [path, held]));
  return createHash('sha256').update(all).digest('base64');
}

function heldBy(sources: readonly WatchedSource[]): string {
  return sources.map(({ held }) => held).join(' ');
}
