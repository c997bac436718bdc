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
 * Reads JSON as tsconfig.json is written: comments and trailing commas are allowed, and a byte order mark. Syntax errors end in
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
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (text.trim() === '') return fail(0, 'the file is empty');
  if (first !== undefined) return fail(first.offset, describeSyntaxError(first));
  if (root === undefined) return fail(0, 'the file is not JSON');
  const document = { text, root, lineAt };
  return { kind: 'parsed', document, problems: findKeyProblems(root, [], lineAt) };
}

/** By the parser's names for what it found. */
const syntaxErrors: Readonly<Record<string, string>> = {
  CommaExpected: 'a comma is missing before this',
  ColonExpected: 'a colon is missing before this',
  CloseBraceExpected: 'a closing brace } is missing',
  CloseBracketExpected: 'a closing bracket ] is missing',
  EndOfFileExpected: 'there is more text after the end of the JSON value',
  PropertyNameExpected: 'a key in double quotes is missing',
  ValueExpected: 'a value is missing',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a string is not closed on its line',
  UnexpectedEndOfNumber: 'this is not a JSON number',
  InvalidEscapeCharacter: 'a string holds an escape that JSON does not know; write a backslash as \\\\',
  InvalidUnicode: 'a string holds an escape that JSON does not know; write a backslash as \\\\',
  InvalidCharacter: 'a string holds a control character; write it as an escape such as \\n',
};

function describeSyntaxError(error: ParseError): string {
  return (
    syntaxErrors[printParseErrorCode(error.error)] ??
    'this is not JSON: keys and texts stand in double quotes, other values are numbers, true, false or null'
  );
}

function findKeyProblems(node: Node, path: Path, lineAt: (offset: number) => number): ConfigProblem[] {
  if (node.type === 'array') {
    return (node.children ?? []).flatMap((child, index) =>
      child.children === undefined ? [] : findKeyProblems(child, [...path, index], lineAt),
    );
  }
  if (node.type !== 'object') return [];
  const first = new Map<string, Node>();
  return (node.children ?? []).flatMap((property) => {
    const [keyNode, value] = property.children ?? [];
    if (keyNode === undefined || value === undefined) return [];
    const key = String(keyNode.value);
    const problems: ConfigProblem[] = [];
    const report = (message: string) =>
      problems.push({ path: formatPath([...path, key]), line: lineAt(keyNode.offset), message });
    const other = first.get(key);
    if (other === undefined) first.set(key, keyNode);
    else report(`the key ${quoteKey(key)} stands here already, in line ${lineAt(other.offset)}`);
    if (key === '__proto__') report('this name cannot be used as a key');
    if (value.type === 'object' || value.type === 'array')
      problems.push(...findKeyProblems(value, [...path, key], lineAt));
    return problems;
  });
}

function findTooDeep(text: string): number | null {
  let depth = 0;
  for (const match of text.matchAll(/"(?:[^"\\\n]|\\.)*"?|\/\/.*|\/\*[\s\S]*?\*\/|[[\]{}]/g)) {
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
