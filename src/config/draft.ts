import { isObject, keyOf } from '../domain/json.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { defaultEntry } from '../domain/provider-entry.ts';
import type { ValueSource } from '../domain/settings.ts';
import { formatPath, type Path } from './config-problem.ts';
import { type InterpolationSources, interpolate, type PutIn } from './interpolate.ts';
import type { JsonDocument, LinePlace } from './parse-document.ts';

/** Plain values with placeholders replaced. Checks read it leniently, so that one mistake does not hide another. */
export interface Draft {
  readonly value: unknown;
  /** The position of the value's key, or of the nearest existing thing around it. */
  placeOf(path: Path): Place;
  /** Undefined if the string at the path holds no placeholder. */
  fillingOf(path: Path): Filling | undefined;
}

type Place = Pick<ConfigProblem, 'file' | 'path'> & LinePlace;

/** The placeholders of one string: a part of it, or all, came from the environment or a file, and must not be quoted. */
interface Filling {
  /** The whole string was one placeholder: it may then stand for a number, true or false. */
  readonly whole: boolean;
  readonly from: readonly PutIn[];
  /** A placeholder could not be replaced. That is reported already, and the value has no meaning. */
  readonly broken?: boolean;
}

/** Replaces placeholders in a file (absent: the configuration itself). One that cannot be replaced is a problem, and its place is broken. */
export function draftDocument(
  document: JsonDocument,
  sources: InterpolationSources,
  file?: string,
): { readonly draft: Draft; readonly problems: readonly ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const fillings = new Map<string, Filling>();
  const placeOf = (path: Path): Place => ({
    ...(file === undefined ? {} : { file }),
    path: formatPath(path),
    ...document.placeOf(path),
  });
  const fill = (text: string, path: Path): string => {
    if (!text.includes('${')) return text;
    const result = interpolate(text, sources);
    if (result.kind === 'text') {
      if (result.from.length > 0) fillings.set(JSON.stringify(path), result);
      return result.text;
    }
    fillings.set(JSON.stringify(path), { whole: false, from: [], broken: true });
    problems.push(...result.messages.map((message) => ({ ...placeOf(path), message })));
    return '';
  };
  const draft: Draft = {
    value: replaceTexts(document.value, fill),
    placeOf,
    // Most files have few placeholders or none, but tens of thousands of values.
    fillingOf: (path) => (fillings.size === 0 ? undefined : fillings.get(JSON.stringify(path))),
  };
  return { draft, problems };
}

/** Replaces each text in a value by another. The path is that of the text, and valid only until `replace` returns. */
export function replaceTexts(
  value: unknown,
  replace: (text: string, path: Path) => string,
  path: (string | number)[] = [],
): unknown {
  if (typeof value === 'string') return replace(value, path);
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  for (const key of Object.keys(value)) {
    const step = isList ? Number(key) : key;
    const child: unknown = Reflect.get(value, step);
    path.push(step);
    const replaced = replaceTexts(child, replace, path);
    path.pop();
    if (replaced !== child) Reflect.set(value, step, replaced);
  }
  return value;
}

/** A position in a draft: its value, and a way to report its problems. Its path is made on demand: most of tens of thousands are in order. */
export class Position {
  /** Undefined if there is no value. */
  readonly value: unknown;
  readonly draft: Draft;
  readonly #problems: ConfigProblem[];
  readonly #step: string | number | null;
  readonly #parent: Position | null;

  /** The whole draft, or the value at a step below `parent`. Problems are added to the list. */
  constructor(
    draft: Draft,
    problems: ConfigProblem[] = [],
    parent: Position | null = null,
    step: string | number | null = null,
  ) {
    this.draft = draft;
    this.#problems = problems;
    this.#parent = parent;
    this.#step = step;
    this.value = parent === null || step === null ? draft.value : keyOf(parent.value, step);
  }

  get path(): Path {
    return this.#parent === null || this.#step === null ? [] : [...this.#parent.path, this.#step];
  }

  at(...steps: Path): Position {
    return steps.reduce<Position>(
      (position, step) => new Position(this.draft, this.#problems, position, step),
      this,
    );
  }

  has(key: string): boolean {
    return keyOf(this.value, key) !== undefined;
  }

  /** The string at this position; null if it is no string, or broken. */
  get text(): string | null {
    const { value } = this;
    // A placeholder that could not be resolved was left empty.
    return typeof value === 'string' && !(value === '' && this.isBroken) ? value : null;
  }

  get filling(): Filling | undefined {
    return this.draft.fillingOf(this.path);
  }

  get isFilled(): boolean {
    return this.filling !== undefined;
  }

  get isBroken(): boolean {
    return this.filling?.broken ?? false;
  }

  /** An array's elements; none for another value. With a key, only the elements that have it. */
  items(key?: string): Position[] {
    const { value } = this;
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, index) =>
      key === undefined || keyOf(item, key) !== undefined ? this.at(index) : [],
    );
  }

  /** The keys of an object; none for another value. */
  keys(): string[] {
    const { value } = this;
    return isObject(value) ? Object.keys(value) : [];
  }

  /** The values of an object, by key. */
  entries(): { readonly name: string; readonly position: Position }[] {
    return this.keys().map((name) => ({ name, position: this.at(name) }));
  }

  /** Values that are neither object nor list, here or below. */
  leaves(): Position[] {
    const { value } = this;
    if (typeof value !== 'object' || value === null) return [this];
    return Object.keys(value).flatMap((key) => this.at(Array.isArray(value) ? Number(key) : key).leaves());
  }

  /** The source of a value that was put in here or below: a variable rather than a file. Null if everything is in the file itself. */
  get source(): ValueSource | null {
    const all = this.leaves().flatMap(({ filling }) => filling?.from.map(({ source }) => source) ?? []);
    return all.find(({ kind }) => kind === 'environment') ?? all[0] ?? null;
  }

  /** Replaces the value at this position by another. */
  replace(value: unknown): void {
    const parent = this.#parent?.value;
    if (typeof parent === 'object' && parent !== null && this.#step !== null)
      Reflect.set(parent, this.#step, value);
  }

  report(message: string): void {
    this.#problems.push({ ...this.draft.placeOf(this.path), message });
  }
}

/** The positions of a file's provider entries, the default one first, even if it is not written. */
export function entryPositions(file: Position) {
  return [{ name: defaultEntry, position: file.at(defaultEntry) }, ...file.at('providers').entries()];
}

export function entryPosition(file: Position, name: string): Position {
  return name === defaultEntry ? file.at(name) : file.at('providers', name);
}
