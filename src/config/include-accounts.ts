import { keyOf } from '../domain/json.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Path } from './config-problem.ts';
import { type Draft, draftDocument, Position } from './draft.ts';
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
  const position = new Position(draft, problems).at('accounts', 'files');
  const accounts = keyOf(draft.value, 'accounts');
  const pattern = position.text;
  const isPlain = typeof accounts === 'object' && accounts !== null && Object.keys(accounts).length === 1;
  if (pattern === null || !isPlain) return { draft, problems };
  const listed = files.list(pattern);
  const paths = listed.kind === 'files' ? listed.paths : [];
  if (listed.kind === 'failed') position.report(`cannot be read: ${listed.reason}`);
  else if (paths.length === 0) position.report('names no file that is there');
  const included: { readonly account: unknown; readonly draft: Draft; readonly index: number }[] = [];
  for (const path of paths) {
    const part = readPart(path, files);
    problems.push(...part.problems);
    for (const [index, account] of part.accounts.entries())
      if (part.draft !== null) included.push({ account, draft: part.draft, index });
    yield;
  }
  /** Which draft a path of the whole leads into, and where in it. */
  const originOf = (path: Path): { readonly draft: Draft; readonly path: Path } => {
    const [first, index, ...rest] = path;
    const own = first === 'accounts' && typeof index === 'number' ? included[index] : undefined;
    return own === undefined ? { draft, path } : { draft: own.draft, path: [own.index, ...rest] };
  };
  const whole: Draft = {
    value: { ...Object(draft.value), accounts: included.map(({ account }) => account) },
    placeOf(path) {
      const origin = originOf(path);
      return origin.draft.placeOf(origin.path);
    },
    fillingOf(path) {
      // That there are no files is reported: that the list is empty would say it twice.
      if (path[0] === 'accounts' && paths.length === 0) return { whole: false, from: [], broken: true };
      const origin = originOf(path);
      return origin.draft.fillingOf(origin.path);
    },
  };
  return { draft: whole, problems };
}

interface Part {
  /** Null where it is no list of accounts. */
  readonly draft: Draft | null;
  readonly accounts: readonly unknown[];
  readonly problems: readonly ConfigProblem[];
}

function readPart(file: string, files: AccountFiles): Part {
  const refuse = (problems: readonly ConfigProblem[]): Part => ({ draft: null, accounts: [], problems });
  const asWhole = (message: string) => refuse([{ file, path: '', line: null, message }]);
  const content = files.document(file);
  if (content.kind === 'failed') return asWhole(`cannot be read: ${content.reason}`);
  const { document, isSound, problems: found } = parseDocument(content.text);
  const inFile = found.map((problem) => ({ ...problem, file }));
  if (!isSound || document === null) return refuse(inFile);
  const { draft, problems } = draftDocument(document, files, file);
  const { value } = draft;
  if (!Array.isArray(value)) return asWhole('must be a list of accounts');
  return { draft, accounts: value, problems: [...inFile, ...problems] };
}
