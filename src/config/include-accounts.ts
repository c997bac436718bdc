import { keyOf } from '../domain/json.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Path } from './config-problem.ts';
import { type Draft, draftDocument, Spot } from './draft.ts';
import type { FileContent, FileList, InterpolationSources } from './interpolate.ts';
import { parseDocument } from './parse-document.ts';

/** How the files that `accounts.files` names are found and read. */
export interface AccountFiles extends InterpolationSources {
  list(pattern: string): FileList;
  document(path: string): FileContent;
}

/**
 * Where `accounts` is `{"files": "accounts.d/*.json"}`, puts the lists of those files in its place. A place in one of them
 * is reported with its file and the path in that file. Between the files others may have their turn.
 */
export function* includeAccounts(
  draft: Draft,
  files: AccountFiles,
): Generator<undefined, { readonly draft: Draft; readonly problems: readonly ConfigProblem[] }> {
  const problems: ConfigProblem[] = [];
  const spot = new Spot(draft, problems).at('accounts', 'files');
  const accounts = keyOf(draft.value, 'accounts');
  const pattern = spot.text;
  const isPlain = typeof accounts === 'object' && accounts !== null && Object.keys(accounts).length === 1;
  if (pattern === null || !isPlain) return { draft, problems };
  const listed = files.list(pattern);
  if (listed.kind === 'failed') spot.report(`cannot be read: ${listed.reason}`);
  else if (listed.paths.length === 0) spot.report('names no file that is there');
  if (listed.kind === 'failed' || listed.paths.length === 0)
    return { draft: merge(draft, [], (path) => (path[0] === 'accounts' ? null : { draft, path })), problems };
  const parts: Part[] = [];
  const items: unknown[] = [];
  for (const file of listed.paths) {
    const read = readPart(file, files);
    parts.push(read);
    for (const item of read.part === null ? [] : itemsOf(read.part)) items.push(item);
    yield;
  }
  const partition: Partition = (at) => {
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
  problems.push(...parts.flatMap((part) => part.problems));
  return { draft: merge(draft, items, partition), problems };
}

interface Part {
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

/** Which draft a path of the whole leads into, and where in it; null where the list could not be had, which is reported: that it is empty would say it twice. */
type Partition = (path: Path) => { readonly draft: Draft; readonly path: Path } | null;

function merge(draft: Draft, accounts: readonly unknown[], partition: Partition): Draft {
  return {
    value: { ...Object(draft.value), accounts },
    placeOf(path) {
      const place = partition(path);
      return (place?.draft ?? draft).placeOf(place?.path ?? path);
    },
    fillingOf(path) {
      const place = partition(path);
      return place === null ? { whole: false, from: [], broken: true } : place.draft.fillingOf(place.path);
    },
  };
}

function itemsOf(part: Draft): readonly unknown[] {
  return Array.isArray(part.value) ? part.value : [];
}
