import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import { quoteKey } from '../wording/lists.ts';
import { type ConfigProblem, formatPath, type Path } from './config-problem.ts';

/** A file that is JSON: its tree with offsets, and the way from an offset to a line (from 1). */
export interface JsonDocument {
  readonly text: string;
  readonly root: Node;
  lineAt(offset: number): number;
}

export type ParsedDocument =
  | { readonly kind: 'parsed'; readonly document: JsonDocument; readonly problems: readonly ConfigProblem[] }
  | { readonly kind: 'unreadable'; readonly problems: readonly ConfigProblem[] };

/**
 * Nothing in the configuration is nested deeper than seven levels; the parser recurses, so absurd depth is
 * refused first.
 */
const deepestNesting = 64;

/**
 * Reads strict JSON (no comments, no trailing commas), tolerating a byte order mark. Syntax errors end in
 * `unreadable` with line and column; only the first is told, since the others mostly follow from it. Keys
 * that appear twice in one object are problems: JSON itself would silently take the last.
 */
export function parseDocument(source: string): ParsedDocument {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const lineStarts = findLineStarts(text);
  const lineAt = (offset: number): number => countUpTo(lineStarts, offset);
  const fail = (offset: number, message: string): ParsedDocument => {
    const line = lineAt(offset);
    const column = offset - (lineStarts[line - 1] ?? 0) + 1;
    return { kind: 'unreadable', problems: [{ path: '', line, message: `column ${column}: ${message}` }] };
  };

  const tooDeep = findTooDeep(text);
  if (tooDeep !== null) return fail(tooDeep, `nested deeper than ${deepestNesting} levels`);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  const first = errors[0];
  if (text.trim() === '') return fail(0, 'the file is empty');
  if (first !== undefined) return fail(first.offset, describeSyntaxError(first, text));
  if (root === undefined) return fail(0, 'the file is not JSON');
  const document = { text, root, lineAt };
  return { kind: 'parsed', document, problems: findKeyProblems(root, [], lineAt) };
}

/** By the parser's names for what it found. */
const syntaxErrors: Readonly<Record<string, string>> = {
  InvalidCommentToken: 'comments are not allowed in JSON',
  CommaExpected: 'a comma is missing before this',
  ColonExpected: 'a colon is missing before this',
  CloseBraceExpected: 'a closing brace } is missing',
  CloseBracketExpected: 'a closing bracket ] is missing',
  EndOfFileExpected: 'there is more text after the end of the JSON value',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  UnexpectedEndOfString: 'a string is not closed on its line',
  UnexpectedEndOfNumber: 'this is not a JSON number',
  InvalidEscapeCharacter: 'a string holds an escape that JSON does not know; write a backslash as \\\\',
  InvalidUnicode: 'a string holds an escape that JSON does not know; write a backslash as \\\\',
  InvalidCharacter: 'a string holds a control character; write it as an escape such as \\n',
};

function describeSyntaxError(error: ParseError, text: string): string {
  const closing = text.slice(error.offset).trimStart().charAt(0);
  if ((closing === '}' || closing === ']') && /,\s*$/.test(text.slice(0, error.offset))) {
    return `a comma before a closing ${closing} is not allowed in JSON`;
  }
  return (
    syntaxErrors[printParseErrorCode(error.error)] ??
    'this is not JSON: keys and texts stand in double quotes, other values are numbers, true, false or null'
  );
}

function findKeyProblems(node: Node, path: Path, lineAt: (offset: number) => number): ConfigProblem[] {
  if (node.type === 'array') {
    return (node.children ?? []).flatMap((child, index) => findKeyProblems(child, [...path, index], lineAt));
  }
  if (node.type !== 'object') return [];
  const firstLines = new Map<string, number>();
  return (node.children ?? []).flatMap((property) => {
    const [keyNode, value] = property.children ?? [];
    if (keyNode === undefined || value === undefined) return [];
    const key = String(keyNode.value);
    const line = lineAt(keyNode.offset);
    const firstLine = firstLines.get(key);
    firstLines.set(key, firstLine ?? line);
    const place = { path: formatPath([...path, key]), line };
    const problems: ConfigProblem[] = [];
    if (firstLine !== undefined) {
      problems.push({
        ...place,
        message: `the key ${quoteKey(key)} stands here already, in line ${firstLine}`,
      });
    }
    if (key === '__proto__') problems.push({ ...place, message: 'this name cannot be used as a key' });
    return [...problems, ...findKeyProblems(value, [...path, key], lineAt)];
  });
}

function findTooDeep(text: string): number | null {
  let depth = 0;
  for (const match of text.matchAll(/"(?:[^"\\\n]|\\.)*"?|[[\]{}]/g)) {
    if (match[0] === '[' || match[0] === '{') depth++;
    else if (match[0] === ']' || match[0] === '}') depth--;
    if (depth > deepestNesting) return match.index;
  }
  return null;
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  return starts;
}

/** How many of the ascending numbers are at most `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
