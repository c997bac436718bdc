import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { parseMicros } from '../domain/money.ts';
import type { ValueSource } from '../domain/settings.ts';
import { type ConfigProblem, formatPath, type Path } from './config-problem.ts';
import { type InterpolationSources, interpolate } from './interpolate.ts';
import type { JsonDocument } from './parse-document.ts';

/**
 * The configuration between text and settings: plain values with placeholders replaced, of which nothing is
 * known yet. Checks read it leniently, so that one mistake does not hide another.
 */
export interface Draft {
  readonly value: unknown;
  /** Where the value's key stands, or the nearest thing around it that exists. */
  placeOf(path: Path): Place;
  /** True where a value came, in part or whole, from the environment or a file: it must not be quoted. */
  isInterpolated(path: Path): boolean;
  /** What was put in there. */
  sourcesOf(path: Path): readonly ValueSource[];
  /** True where the whole string was one placeholder: it may then stand for a number, true or false. */
  isWhole(path: Path): boolean;
  /** True where a placeholder could not be replaced. The problem is known; the value there means nothing. */
  isBroken(path: Path): boolean;
}

export type Place = Pick<ConfigProblem, 'file' | 'path'> & { readonly line: number };

/** What the placeholders of one string came to. */
interface Filling {
  readonly whole: boolean;
  readonly from: readonly ValueSource[];
  readonly broken?: boolean;
}

/** Replaces the placeholders of every string of a file (absent: of the configuration itself). Each one that fails is a problem, and its place is marked as broken. */
export function draftDocument(
  document: JsonDocument,
  sources: InterpolationSources,
  file?: string,
): { readonly draft: Draft; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const interpolated = new Map<string, Filling>();
  const placeOf = (path: Path): Place => ({
    ...(file === undefined ? {} : { file }),
    path: formatPath(path),
    line: lineOf(document, path),
  });
  // Most files have few placeholders, or none, and tens of thousands of values.
  const fillingOf = (path: Path): Filling | undefined =>
    interpolated.size === 0 ? undefined : interpolated.get(JSON.stringify(path));
  const fill = (path: Path, text: string): string => {
    const result = interpolate(text, sources);
    if (result.kind === 'text') {
      if (result.from.length > 0) interpolated.set(JSON.stringify(path), result);
      return result.text;
    }
    interpolated.set(JSON.stringify(path), { whole: false, from: [], broken: true });
    problems.push(...result.messages.map((message) => ({ ...placeOf(path), message })));
    return '';
  };
  const draft: Draft = {
    value: readNode(document, document.root, [], fill),
    placeOf,
    isInterpolated: (path) => fillingOf(path) !== undefined,
    sourcesOf: (path) => fillingOf(path)?.from ?? [],
    isWhole: (path) => fillingOf(path)?.whole ?? false,
    isBroken: (path) => fillingOf(path)?.broken ?? false,
  };
  return { draft, problems };
}

/** The value at a path; undefined where there is none. */
export function valueAt(draft: Draft, path: Path): unknown {
  let value: unknown = draft.value;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/** The string at a path; null where there is no string or it is broken. */
export function textAt(draft: Draft, path: Path): string | null {
  const value = valueAt(draft, path);
  return typeof value === 'string' && !draft.isBroken(path) ? value : null;
}

/** The paths of an array's elements; none where there is no array. */
export function itemsAt(draft: Draft, path: Path): Path[] {
  const value = valueAt(draft, path);
  return Array.isArray(value) ? value.map((_, index) => [...path, index]) : [];
}

/** The keys of an object; none where there is no object. */
export function keysAt(draft: Draft, path: Path): string[] {
  const value = valueAt(draft, path);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

/** What was put in at a path or below it: a variable before a file. Null where everything stands in the file itself. */
export function sourceAt(draft: Draft, path: Path): ValueSource | null {
  const all = sourcesBelow(draft, path, valueAt(draft, path));
  return all.find(({ kind }) => kind === 'environment') ?? all[0] ?? null;
}

function sourcesBelow(draft: Draft, path: Path, value: unknown): readonly ValueSource[] {
  if (typeof value !== 'object' || value === null) return draft.sourcesOf(path);
  return Object.entries(value).flatMap(([key, child]) =>
    sourcesBelow(draft, [...path, Array.isArray(value) ? Number(key) : key], child),
  );
}

/** Puts another value in the place of one that is there. */
export function replaceAt(draft: Draft, path: Path, value: unknown): void {
  const parent = valueAt(draft, path.slice(0, -1));
  const step = path.at(-1);
  if (typeof parent === 'object' && parent !== null && step !== undefined) Reflect.set(parent, step, value);
}

/** A problem at a path, with its line. */
export function problemAt(draft: Draft, path: Path, message: string): ConfigProblem {
  return { ...draft.placeOf(path), message };
}

function readNode(
  document: JsonDocument,
  node: Node,
  path: Path,
  fill: (path: Path, text: string) => string,
): unknown {
  switch (node.type) {
    case 'array':
      return (node.children ?? []).map((child, index) => readNode(document, child, [...path, index], fill));
    case 'object': {
      const entries = (node.children ?? []).flatMap(({ children: [key, value] = [] }) =>
        key === undefined || value === undefined || key.value === '__proto__'
          ? []
          : [[key.value, readNode(document, value, [...path, key.value], fill)] as const],
      );
      return Object.fromEntries(entries);
    }
    case 'string':
      return fill(path, String(node.value));
    case 'number':
      return readNumber(document.text.slice(node.offset, node.offset + node.length));
    default:
      return node.value;
  }
}

/**
 * A number stays a number unless a binary float would lose digits that count as money: then its digits stay
 * as a string, which amounts accept. Above a milliard, millionths are too fine for a float.
 */
function readNumber(digits: string): number | string {
  const value = Number(digits);
  return parseMicros(String(value)) === parseMicros(digits) ? value : digits;
}

function lineOf(document: JsonDocument, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(document.root, [...path.slice(0, length)]);
    const place = node?.parent?.type === 'property' ? node.parent : node;
    if (place !== undefined) return document.lineAt(place.offset);
  }
  return document.lineAt(document.root.offset);
}
