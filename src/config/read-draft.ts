import { dirname, resolve } from 'node:path';
import { inTurns } from '../daemon/slices.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { ownOf } from '../domain/own.ts';
import type { Parts } from '../domain/parts.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import { type Draft, draftDocument } from './draft.ts';
import { includeFiles, type ListFiles } from './include-files.ts';
import type { FileContent, FileList } from './interpolate.ts';
import { parseDocument } from './parse-document.ts';
import { largestDocumentBytes, largestValueBytes, listFileSource, readFileSource } from './sources.ts';

export interface Reading {
  /** The configuration file; other paths in it are relative to its folder. */
  readonly path: string;
  /** For placeholders, and for `LOWWATER_DATA`: the folder of the database if the file names none. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface GatherRequest extends Reading {
  /** Reads an absolute path; more than `maxBytes` is refused. */
  readonly readFile: (path: string, maxBytes: number) => FileContent;
  readonly listFiles: (pattern: string) => FileList;
}

/** Gathers a configuration again until everything that it names was read: what to read shows only in what was read before. */
export async function readDraft(
  request: Reading,
): Promise<{ readonly gathered: Gathered; readonly sources: readonly WatchedSource[] }> {
  const sources: WatchedSource[] = [];
  const files = new Map<string, FileContent>();
  const lists = new Map<string, FileList>();
  for (;;) {
    const unread = new Map<string, number>();
    const unlisted = new Set<string>();
    const gathering = gather({
      ...request,
      readFile(path, maxBytes) {
        if (!files.has(path)) unread.set(path, maxBytes);
        return files.get(path) ?? notYet;
      },
      listFiles(pattern) {
        if (!lists.has(pattern)) unlisted.add(pattern);
        return lists.get(pattern) ?? notYet;
      },
    });
    const gathered = await inTurns(gathering);
    if (unread.size + unlisted.size === 0) return { gathered, sources };
    for (const [path, maxBytes] of unread) {
      const { content, source } = await readFileSource(path, maxBytes);
      files.set(path, content);
      sources.push(source);
    }
    for (const pattern of unlisted) {
      const { content, source } = await listFileSource(pattern);
      lists.set(pattern, content);
      sources.push(source);
    }
  }
}

const notYet = { failed: 'not read yet' };

/** The file as data, with the problems of reading it; a null draft if nothing can be made of it. */
export interface Gathered {
  readonly draft: Draft | null;
  /** False if the file is not JSON: the draft is what can be made of it. */
  readonly isSound: boolean;
  readonly problems: readonly ConfigProblem[];
}

export function* gather({ path, readFile, listFiles, env }: GatherRequest): Parts<Gathered> {
  const directory = dirname(resolve(path));
  const file = readFile(path, largestDocumentBytes);
  if ('failed' in file) {
    const message = `the configuration file ${JSON.stringify(path)} cannot be read: ${file.failed}`;
    return { draft: null, isSound: false, problems: [{ path: '', line: null, message }] };
  }
  const { document, isSound, problems } = parseDocument(file.text);
  if (document === null) return { draft: null, isSound, problems };
  const files: ListFiles = {
    env: (name) => ownOf(env, name),
    names: () => Object.keys(env),
    file: (name) => readFile(resolve(directory, name), largestValueBytes),
    list: (pattern) => listFiles(resolve(directory, pattern)),
    document: (name) => readFile(name, largestDocumentBytes),
  };
  const main = draftDocument(document, files);
  yield;
  const whole = yield* includeFiles(main.draft, files);
  // Of a file that is not JSON, only that is reported: missing parts mostly follow from it.
  const others = isSound ? [...main.problems, ...whole.problems] : [];
  return { draft: whole.draft, isSound, problems: [...problems, ...others] };
}

/** The folder of the SQLite file: a container keeps it apart from its read-only configuration. */
export function databaseFile(named: string | undefined, { path, env }: Reading): string {
  const directory = dirname(resolve(path));
  return named === undefined
    ? resolve(env.LOWWATER_DATA || directory, 'lowwater.db')
    : resolve(directory, named);
}
