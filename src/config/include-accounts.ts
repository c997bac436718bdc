import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Path } from './config-problem.ts';
import { type Draft, draftDocument, problemAt, textAt, valueAt } from './draft.ts';
import type { FileContent, FileList, InterpolationSources } from './interpolate.ts';
import { parseDocument } from './parse-document.ts';

/** How the files that `accounts.files` names are found and read. */
export interface AccountFiles extends InterpolationSources {
  list(pattern: string): FileList;
  document(path: string): FileContent;
}

/**
 * Where `accounts` is `{"files": "accounts.d/*.json"}`, puts the lists of those files in its place. A place in one of them
 * is told with its file and the path in that file. Between the files others may have their turn.
 */
export function* includeAccounts(
  draft: Draft,
  files: AccountFiles,
): Generator<undefined, { readonly draft: Draft; readonly problems: readonly ConfigProblem[] }> {
  const path = ['accounts', 'files'];
  const accounts = valueAt(draft, ['accounts']);
  const pattern = textAt(draft, path);
  const isPlain = typeof accounts === 'object' && accounts !== null && Object.keys(accounts).length === 1;
  if (pattern === null || !isPlain) return { draft, problems: [] };
  const listed = files.list(pattern);
  if (listed.kind === 'failed')
    return without(draft, [problemAt(draft, path, `cannot be read: ${listed.reason}`)]);
  if (listed.paths.length === 0)
    return without(draft, [problemAt(draft, path, 'names no file that is there')]);
  const parts: Part[] = [];
  const items: unknown[] = [];
  for (const file of listed.paths) {
    const read = readPart(file, files);
    parts.push(read);
    for (const item of read.part === null ? [] : itemsOf(read.part)) items.push(item);
    yield;
  }
  const places: Partition = (at) => {
    const [first, index, ...rest] = at;
    let own = first === 'accounts' && typeof index === 'number' ? index : items.length;
    if (own >= items.length) return { draft, path: at };
    for (const { part } of parts) {
      const { length } = part === null ? [] : itemsOf(part);
      if (part !== null && own < length) return { draft: part, path: [own, ...rest] };
      own -= length;
    }
    return { draft, path: at };
  };
  return { draft: merge(draft, items, places), problems: parts.flatMap(({ problems }) => problems) };
}

interface Part {
  /** The list of the file; null when it is none. */
  readonly part: Draft | null;
  readonly problems: readonly ConfigProblem[];
}

function readPart(file: string, files: AccountFiles): Part {
  const content = files.document(file);
  const refuse = (message: string): Part => ({
    part: null,
    problems: [{ file, path: '', line: null, message }],
  });
  if (content.kind === 'failed') return refuse(`cannot be read: ${content.reason}`);
  const parsed = parseDocument(content.text);
  const inFile = (problem: ConfigProblem): ConfigProblem => ({ ...problem, file });
  if (parsed.kind === 'unreadable') return { part: null, problems: parsed.problems.map(inFile) };
  const { draft, problems } = draftDocument(parsed.document, files, file);
  if (!Array.isArray(draft.value)) return refuse('must be a list of accounts');
  return { part: draft, problems: [...parsed.problems.map(inFile), ...problems] };
}

/** Which draft a path of the whole leads into, and where in it. */
type Partition = (path: Path) => { readonly draft: Draft; readonly path: Path };

function merge(draft: Draft, accounts: readonly unknown[], partition: Partition): Draft {
  const ask =
    <T>(question: (part: Draft, path: Path) => T) =>
    (path: Path): T => {
      const place = partition(path);
      return question(place.draft, place.path);
    };
  return {
    value: { ...Object(draft.value), accounts },
    placeOf: ask((part, path) => part.placeOf(path)),
    isInterpolated: ask((part, path) => part.isInterpolated(path)),
    putInAt: ask((part, path) => part.putInAt(path)),
    isWhole: ask((part, path) => part.isWhole(path)),
    isBroken: ask((part, path) => part.isBroken(path)),
  };
}

/** The list could not be had, which is told: that it is empty would say it twice. */
function without(draft: Draft, problems: readonly ConfigProblem[]) {
  const empty = merge(draft, [], (path) => ({ draft, path }));
  return {
    draft: { ...empty, isBroken: (path: Path) => path[0] === 'accounts' || draft.isBroken(path) },
    problems,
  };
}

function itemsOf(part: Draft): readonly unknown[] {
  return Array.isArray(part.value) ? part.value : [];
}
