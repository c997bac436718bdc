import { JSONPathEnvironment, JSONPathNode, JSONPathNodeList, JSONPathQuery, jsonpath } from 'json-p3';
import { keyOf, parseWithSource, withoutByteOrderMark } from '../../domain/json.ts';
import { markAmbiguous } from '../../net/ambiguity.ts';
import { findUnbounded, maxPatternInput } from './pattern.ts';

/** Deeper answers are refused, because a recursive walk must come to an end. */
const maxDepth = 64;

const environment = new JSONPathEnvironment({ maxRecursionDepth: 4 * maxDepth });

/** A pattern in a path is tried on foreign text, as `pattern` is, so it has the same bounds. */
for (const [name, Unbounded] of Object.entries({
  match: jsonpath.functions.Match,
  search: jsonpath.functions.Search,
})) {
  const { argTypes, returnType } = new Unbounded();
  const unbounded = new Unbounded();
  environment.functionRegister.set(name, {
    argTypes,
    returnType,
    call: (text, pattern) => isShort(text) && unbounded.call(text, String(pattern)),
  });
}

const { InfixExpression, NumberLiteral, PrefixExpression, RelativeQuery } = jsonpath.expressions;

/** Inside a filter, the library takes the value under test for the root (`$`). */
RelativeQuery.prototype.evaluate = function evaluate({ currentValue, rootValue }) {
  const start = [new JSONPathNode(currentValue, [], rootValue)];
  return new JSONPathNodeList(this.path.segments.reduce((nodes, segment) => segment.resolve(nodes), start));
};

/** The library counts UTF-16 units, not characters. */
const unitLength = new jsonpath.functions.Length();
environment.functionRegister.set('length', {
  argTypes: unitLength.argTypes,
  returnType: unitLength.returnType,
  call: (value) => unitLength.call(typeof value === 'string' ? [...value] : value),
});

const isShort = (text: unknown): text is string => typeof text === 'string' && text.length <= maxPatternInput;

/** A JSONPath of RFC 9535, checked. `text` is how it was written. */
export interface Path {
  readonly text: string;
  readonly query: JSONPathQuery;
}

/** Null if the text is no JSONPath; a sentence if a pattern in it could take long. */
export function parsePath(text: string): Path | { readonly wrong: string } | null {
  try {
    const query = environment.compile(text.replace(quotedOrBelowOne, writeOtherwise));
    const parts = [...partsOf(query)];
    if (parts.some(isBeyondRfc)) return null;
    const wrong = parts
      .flatMap(patternIn)
      .map(findUnbounded)
      .find((each) => each !== null);
    return wrong == null ? { text, query } : { wrong: `holds a pattern that ${wrong}` };
  } catch {
    return null;
  }
}

/** The library refuses `0.5`, but takes `5e-1`. */
const quotedOrBelowOne =
  /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<![\w.[:\u0080-\uffff-])0(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)(?![\w.])/gs;

function writeOtherwise(found: string): string {
  if (!found.startsWith('0')) return found;
  return Number(found) === 0 ? '0' : Number(found).toExponential();
}

/** Whether a part is beyond the RFC: the library takes `-01`, and compares the results of conditions (`!@.a == 1`). */
function isBeyondRfc(part: object): boolean {
  if (part instanceof NumberLiteral) return /^-0\d/.test(part.token.value);
  const isCondition = (side: object) => side instanceof PrefixExpression || side instanceof InfixExpression;
  return (
    part instanceof InfixExpression && !part.logical && (isCondition(part.left) || isCondition(part.right))
  );
}

/** A path that is written in the program itself. */
export function fixedPath(text: string): Path {
  return { text, query: environment.compile(text) };
}

function* partsOf(part: unknown): Generator<object> {
  if (typeof part !== 'object' || part === null || part === environment) return;
  yield part;
  for (const each of Object.values(part)) yield* partsOf(each);
}

/** The pattern given to `match` or `search`; empty if it comes from the answer. */
function patternIn(part: object): readonly string[] {
  const { FunctionExtension, StringLiteral } = jsonpath.expressions;
  if (!(part instanceof FunctionExtension) || !/^(?:match|search)$/.test(part.name)) return [];
  const [, pattern] = part.args;
  return [pattern instanceof StringLiteral ? pattern.value : ''];
}

/** A value that a path found. `digits` is a number as it was written in the text, which a binary float may not hold. */
export interface Found {
  readonly value: unknown;
  readonly digits: string | null;
  /** Keys and positions in lists that lead to the value from the root. */
  readonly location: readonly (string | number)[];
}

/** A JSON text whose numbers keep their digits. */
export type ExactJson = NonNullable<ReturnType<typeof parseExactly>>;

/** Null if the text is no JSON, or over 64 levels deep. A key that has two different values in one object has the value `ambiguous`. */
export function parseExactly(text: string) {
  const json = withoutByteOrderMark(text);
  if (depthOf(json) > maxDepth) return null;
  const digits = new WeakMap<object, Map<string, string>>();
  /** Holds the root under the key "", as the parser does. */
  let holder: object = {};
  try {
    parseWithSource(json, function keepDigits(key, value, { source }) {
      // The root comes last, so its holder remains.
      holder = this;
      if (typeof value !== 'number' || source === undefined) return value;
      digits.set(this, (digits.get(this) ?? new Map<string, string>()).set(key, source));
      return value;
    });
  } catch {
    return null;
  }
  const whole: unknown = Reflect.get(holder, '');
  markAmbiguous(json, whole);
  const digitsAt = (location: readonly (string | number)[]): string | null => {
    const keys = ['', ...location];
    const last = String(keys.pop());
    const parent = keys.reduce((value: object, key) => Object(Reflect.get(value, key)), holder);
    return typeof keyOf(parent, last) === 'number' ? (digits.get(parent)?.get(last) ?? null) : null;
  };
  return {
    root: whole,
    digitsAt,
    find({ query }: Path): readonly Found[] {
      // The library's type of a JSON value is wider than what `JSON.parse` gives.
      const root = whole as Parameters<JSONPathQuery['query']>[0];
      const found = query.segments.reduce(
        // A second `..` meets a value once for each level above it, a third for each pair of levels. The same place must count once.
        (nodes, segment) => placesOf(segment.resolve(nodes)),
        new JSONPathQuery(environment, []).query(root).nodes,
      );
      return found.map(({ value, location }) => ({ value, digits: digitsAt(location), location }));
    },
  };
}

function placesOf(nodes: readonly JSONPathNode[]): JSONPathNode[] {
  return [...new Map(nodes.map((node) => [JSON.stringify(node.location), node])).values()];
}

function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else if (token === ']' || token === '}') depth -= 1;
  }
  return deepest;
}
