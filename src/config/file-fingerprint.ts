import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** Remembers what files hold, as digests. A file that cannot be read has a digest too. */
export interface FileFingerprints {
  /** What the files hold now. Reads at once, for the moment at which they were loaded. */
  readNow(paths: readonly string[]): string;
  /** The same without holding anything up. Files whose metadata has been still for a while are not read again. */
  read(paths: readonly string[]): Promise<string>;
}

/**
 * A file that is written twice within one tick of the file system's clock may keep its metadata; for so many
 * rounds after a change it is read all the same.
 */
const roundsOfDoubt = 3;

interface Known {
  readonly metadata: string;
  readonly digest: string;
  readonly stillRounds: number;
}

export function createFileFingerprints(): FileFingerprints {
  const known = new Map<string, Known>();

  const readOne = async (path: string): Promise<string> => {
    const metadata = await describeMetadata(path);
    const before = known.get(path);
    const isStill = before?.metadata === metadata && metadata !== unreadable;
    if (isStill && before.stillRounds >= roundsOfDoubt) return before.digest;
    const digest = await digestFile(path);
    known.set(path, { metadata, digest, stillRounds: isStill ? before.stillRounds + 1 : 0 });
    return digest;
  };

  return {
    readNow: (paths) => join(paths.map(digestFileNow)),
    read: async (paths) => join(await Promise.all(paths.map(readOne))),
  };
}

const unreadable = 'unreadable';

/** Follows symbolic links: another target is another inode. */
async function describeMetadata(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return unreadable;
  }
}

async function digestFile(path: string): Promise<string> {
  try {
    return digest(await readFile(path));
  } catch {
    return unreadable;
  }
}

function digestFileNow(path: string): string {
  try {
    return digest(readFileSync(path));
  } catch {
    return unreadable;
  }
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64');
}

function join(digests: readonly string[]): string {
  return digests.join(' ');
}
