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
  /** The position of the value's key, or the nearest thing around it that exists. */
  placeOf(path: Path): Place;
  /** Undefined where the string at the path holds no placeholder. */
  fillingOf(path: Path): Filling | undefined;
}

type Place = Pick<ConfigProblem, 'file' | 'path'> & LinePlace;

/** The result of one string's placeholders: it came, in part or whole, from the environment or a file, and must not be quoted. */
interface Filling {
  /** The whole string was one placeholder: it may then stand for a number, true or false. */
  readonly whole: boolean;
  readonly from: readonly PutIn[];
  /** A placeholder could not be replaced. The problem is known; the value there means nothing. */
  readonly broken?: boolean;
}

/** Replaces the placeholders of every string of a file (absent: of the configuration itself). Each one that fails is a problem, and its place is marked as broken. */
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
    // Most files have few placeholders, or none, and tens of thousands of values.
    fillingOf: (path) => (fillings.size === 0 ? undefined : fillings.get(JSON.stringify(path))),
  };
  return { draft, problems };
}

/** Puts another text in the place of each that is to be replaced. The path is where it stands, and good until `replace` returns. */
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

/** A position in a draft: what stands there, and what is to be said of it. Its path is made when somebody asks: most of tens of thousands are in order. */
export class Position {
  /** Undefined where nothing stands. */
  readonly value: unknown;
  readonly draft: Draft;
  readonly #problems: ConfigProblem[];
  readonly #step: string | number | null;
  readonly #parent: Position | null;

  /** The whole draft, or what stands at a step below `parent`. Problems go to the list. */
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

  /** The string that stands here; null where there is none or it is broken. */
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

  /** An array's elements; none where there is no array. With a key those that have it. */
  items(key?: string): Position[] {
    const { value } = this;
    if (!Array.isArray(value)) return [];
    return value.flatMap((item, index) =>
      key === undefined || keyOf(item, key) !== undefined ? this.at(index) : [],
    );
  }

  /** The keys of an object; none where there is no object. */
  keys(): string[] {
    const { value } = this;
    return isObject(value) ? Object.keys(value) : [];
  }

  /** The values of an object, by key. */
  entries(): { readonly name: string; readonly position: Position }[] {
    return this.keys().map((name) => ({ name, position: this.at(name) }));
  }

  /** Values that are no object and no list, here or below. */
  leaves(): Position[] {
    const { value } = this;
    if (typeof value !== 'object' || value === null) return [this];
    return Object.keys(value).flatMap((key) => this.at(Array.isArray(value) ? Number(key) : key).leaves());
  }

  /** The source put in here or below: a variable before a file. Null where everything stands in the file itself. */
  get source(): ValueSource | null {
    const all = this.leaves().flatMap(({ filling }) => filling?.from.map(({ source }) => source) ?? []);
    return all.find(({ kind }) => kind === 'environment') ?? all[0] ?? null;
  }

  /** Puts another value in the place of one that is there. */
  replace(value: unknown): void {
    const parent = this.#parent?.value;
    if (typeof parent === 'object' && parent !== null && this.#step !== null)
      Reflect.set(parent, this.#step, value);
  }

  report(message: string): void {
    this.#problems.push({ ...this.draft.placeOf(this.path), message });
  }
}

/** Where the provider entries of a file stand, the default one first, whether it is written or not. */
export function entryPositions(file: Position) {
  return [{ name: defaultEntry, position: file.at(defaultEntry) }, ...file.at('providers').entries()];
}

export function entryPosition(file: Position, name: string): Position {
  return name === defaultEntry ? file.at(name) : file.at('providers', name);
}
