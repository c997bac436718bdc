import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Parts } from '../domain/parts.ts';
import type { Path } from './config-problem.ts';
import { type Draft, draftDocument, Position } from './draft.ts';
import type { FileContent, FileList, InterpolationSources } from './interpolate.ts';
import { parseDocument } from './parse-document.ts';

/** The keys whose lists may be in files next to the configuration. */
export const listsInFiles = ['accounts', 'rules', 'routes', 'silences'] as const;

/** The means to find and read the files that `files` names. */
export interface ListFiles extends InterpolationSources {
  list(pattern: string): FileList;
  document(path: string): FileContent;
}

/**
 * Replaces a list, such as `accounts`, that is written as `{"files": "accounts.d/*.json"}` by the lists of those files. A place in one of
 * them is reported with its file and the path in that file. Yields between files, so that other work has its turn.
 */
export function* includeFiles(
  main: Draft,
  files: ListFiles,
): Parts<{ readonly draft: Draft; readonly problems: readonly ConfigProblem[] }> {
  const problems: ConfigProblem[] = [];
  const included = new Map<unknown, readonly Included[]>();
  const unread = new Set<unknown>();
  for (const key of listsInFiles) {
    const position = new Position(main, problems).at(key);
    if (position.at('files').text === null || position.keys().length !== 1) continue;
    const known = problems.length;
    const list = yield* readList(position.at('files'), key, files, problems);
    included.set(key, list);
    if (list.length === 0 && problems.length > known) unread.add(key);
  }
  if (included.size === 0) return { draft: main, problems };
  /** The draft that a path of the whole leads into, and the path in that draft. */
  const originOf = (path: Path): { readonly draft: Draft; readonly path: Path } => {
    const [first, index, ...rest] = path;
    const own = typeof index === 'number' ? included.get(first)?.[index] : undefined;
    return own === undefined ? { draft: main, path } : { draft: own.draft, path: [own.index, ...rest] };
  };
  const lists = [...included].map(([key, list]) => [key, list.map(({ value }) => value)]);
  const draft: Draft = {
    value: { ...Object(main.value), ...Object.fromEntries(lists) },
    placeOf(path) {
      const origin = originOf(path);
      return origin.draft.placeOf(origin.path);
    },
    fillingOf(path) {
      // The reason why nothing could be read is reported: that the list is empty would only repeat it.
      if (unread.has(path[0])) return { whole: false, from: [], broken: true };
      const origin = originOf(path);
      return origin.draft.fillingOf(origin.path);
    },
  };
  return { draft, problems };
}

interface Included {
  readonly value: unknown;
  readonly draft: Draft;
  readonly index: number;
}

function* readList(
  pattern: Position,
  key: string,
  files: ListFiles,
  problems: ConfigProblem[],
): Parts<Included[]> {
  const included: Included[] = [];
  const listed = files.list(pattern.text ?? '');
  if ('failed' in listed) {
    pattern.report(`cannot be read: ${listed.failed}`);
    return included;
  }
  if (listed.paths.length === 0) pattern.report('names no file that is there');
  for (const path of listed.paths) {
    const { draft, problems: found } = readPart(path, files, key);
    problems.push(...found);
    if (draft !== null && Array.isArray(draft.value))
      for (const [index, value] of draft.value.entries()) included.push({ value, draft, index });
    yield;
  }
  return included;
}

/** The draft is null if the file holds no list. */
function readPart(
  file: string,
  files: ListFiles,
  key: string,
): { readonly draft: Draft | null; readonly problems: readonly ConfigProblem[] } {
  const asWhole = (message: string) => ({ draft: null, problems: [{ file, path: '', line: null, message }] });
  const content = files.document(file);
  if ('failed' in content) return asWhole(`cannot be read: ${content.failed}`);
  const { document, isSound, problems: found } = parseDocument(content.text);
  const inFile = found.map((problem) => ({ ...problem, file }));
  if (!isSound || document === null) return { draft: null, problems: inFile };
  const { draft, problems } = draftDocument(document, files, file);
  if (!Array.isArray(draft.value))
    return { draft: null, problems: [{ ...draft.placeOf([]), message: `must be a list of ${key}` }] };
  return { draft, problems: [...inFile, ...problems] };
}
