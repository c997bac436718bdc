import { readFileSync } from 'node:fs';
import type { FileContent } from './interpolate.ts';

/** Reads a UTF-8 file, without the byte order mark that some editors put first. Failures are phrases for people. */
export function readTextFile(path: string): FileContent {
  try {
    return {
      kind: 'text',
      text: new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)),
    };
  } catch (error) {
    return { kind: 'failed', reason: describeFailure(error) };
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file: a part of its path is not a directory',
  EISDIR: 'it is a directory',
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
