import { keyOf } from '../domain/json.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { ValueSource } from '../domain/settings.ts';
import { formatPath, type Path } from './config-problem.ts';
import { type InterpolationSources, interpolate, type PutIn } from './interpolate.ts';
import type { JsonDocument, LinePlace } from './parse-document.ts';

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
  putInAt(path: Path): readonly PutIn[];
  /** True where the whole string was one placeholder: it may then stand for a number, true or false. */
  isWhole(path: Path): boolean;
  /** True where a placeholder could not be replaced. The problem is known; the value there means nothing. */
  isBroken(path: Path): boolean;
}

export type Place = Pick<ConfigProblem, 'file' | 'path'> & LinePlace;

/** What the placeholders of one string came to. */
interface Filling {
  readonly whole: boolean;
  readonly from: readonly PutIn[];
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
    ...document.placeOf(path),
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
    value: fillIn(document.value, [], fill),
    placeOf,
    isInterpolated: (path) => fillingOf(path) !== undefined,
    putInAt: (path) => fillingOf(path)?.from ?? [],
    isWhole: (path) => fillingOf(path)?.whole ?? false,
    isBroken: (path) => fillingOf(path)?.broken ?? false,
  };
  return { draft, problems };
}

/** The value at a path; undefined where there is none. */
export function valueAt(draft: Draft, path: Path): unknown {
  let value: unknown = draft.value;
  for (const step of path) value = keyOf(value, step);
  return value;
}

/** The string at a path; null where there is no string or it is broken. */
export function textAt(draft: Draft, path: Path): string | null {
  const value = valueAt(draft, path);
  // What could not be put in was left empty.
  return typeof value === 'string' && !(value === '' && draft.isBroken(path)) ? value : null;
}

/** The paths of an array's elements; none where there is no array. */
export function itemsAt(draft: Draft, path: Path): Path[] {
  const value = valueAt(draft, path);
  return Array.isArray(value) ? value.map((_, index) => [...path, index]) : [];
}

/** The paths of those elements that have a key: few of tens of thousands of accounts have any of their own. */
export function itemsWith(draft: Draft, path: Path, key: string): Path[] {
  const value = valueAt(draft, path);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) =>
    typeof item === 'object' && item !== null && Object.hasOwn(item, key) ? [[...path, index]] : [],
  );
}

/** What `textAt` says of one key of each of an array's elements. Of tens of thousands of accounts no paths are made. */
export function textsAt(draft: Draft, list: Path, key: string): readonly (string | null)[] {
  const value = valueAt(draft, list);
  if (!Array.isArray(value)) return [];
  return value.map((item: unknown, index) => {
    const text = keyOf(item, key);
    return typeof text === 'string' && text !== '' ? text : textAt(draft, [...list, index, key]);
  });
}

/** The keys of an object; none where there is no object. */
export function keysAt(draft: Draft, path: Path): string[] {
  const value = valueAt(draft, path);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

/** What was put in at a path or below it: a variable before a file. Null where everything stands in the file itself. */
export function sourceAt(draft: Draft, path: Path): ValueSource | null {
  const all = leavesBelow(draft, path).flatMap((leaf) => draft.putInAt(leaf).map(({ source }) => source));
  return all.find(({ kind }) => kind === 'environment') ?? all[0] ?? null;
}

/** The paths of what is no object and no list, at a path or below it. */
export function leavesBelow(draft: Draft, path: Path, value = valueAt(draft, path)): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, child]) =>
    leavesBelow(draft, [...path, Array.isArray(value) ? Number(key) : key], child),
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

/** Puts what placeholders stand for in their places. `path` is where the value stands, and is as it was when this is done. */
function fillIn(
  value: unknown,
  path: (string | number)[],
  fill: (path: Path, text: string) => string,
): unknown {
  if (typeof value === 'string') return value.includes('${') ? fill([...path], value) : value;
  if (typeof value !== 'object' || value === null) return value;
  const put = (key: string | number, child: unknown): void => {
    path.push(key);
    const filled = fillIn(child, path, fill);
    path.pop();
    if (filled !== child) Reflect.set(value, key, filled);
  };
  if (Array.isArray(value)) for (const [index, child] of value.entries()) put(index, child);
  else for (const key of Object.keys(value)) put(key, Reflect.get(value, key));
  return value;
}
