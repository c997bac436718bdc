import { keyOf } from '../../domain/json.ts';
import { ownOf } from '../../domain/own.ts';
import { inPath } from '../daemon/daemon-connection.ts';

interface ToolSpec {
  readonly name: string;
  readonly title: string;
  readonly operation: string;
  readonly description: string;
  /** Query parameters with defaults other than the operation's: lists are shorter, and `nextCursor` says so. */
  readonly defaults?: Readonly<Record<string, number>>;
}

const cut = 'Lists are cut to `limit`; where `nextCursor` is not null, more follows.';

export const readingTools: readonly ToolSpec[] = [
  {
    name: 'accounts',
    title: 'Accounts',
    operation: 'listAccounts',
    description: `Balances, burn, runway and forecast of every account. Amounts are exact texts. ${cut}`,
    defaults: { limit: 50 },
  },
  {
    name: 'account',
    title: 'One account',
    operation: 'getAccount',
    description: 'The same of one account, by its id.',
  },
  {
    name: 'alerts',
    title: 'Alerts',
    operation: 'listAlerts',
    description: `What fires or is pending, with its incident and who took it. ${cut}`,
    defaults: { limit: 50 },
  },
  {
    name: 'why',
    title: 'Why a rule fires or not',
    operation: 'explainRules',
    description: `What each rule of an account says now, with the readings and numbers behind it. ${cut}`,
    defaults: { limit: 20 },
  },
  {
    name: 'pay',
    title: 'What to pay',
    operation: 'listPayments',
    description: `Payments that are due within 30 days, the soonest first, with totals by currency. ${cut}`,
    defaults: { limit: 50 },
  },
  {
    name: 'review',
    title: 'Review of a period',
    operation: 'readReview',
    description: 'Incidents and spending of a period, compared with the one before.',
  },
  {
    name: 'history',
    title: 'Readings of an account',
    operation: 'getHistory',
    description: 'Readings, oldest first, thinned to `points` so that minima and maxima are kept.',
    defaults: { points: 200 },
  },
];

/** Tools that give orders. `by` says who asked for them. */
export const actingTools: readonly ToolSpec[] = [
  {
    name: 'acknowledge',
    title: 'Acknowledge an alert',
    operation: 'acknowledgeAlert',
    description:
      'Says that somebody takes care of it: reminders stop until it resolves or gets worse. `heldBy` names who had it already: nothing is changed then.',
  },
  {
    name: 'silence',
    title: 'Silence alerts for a while',
    operation: 'addSilence',
    description: 'Mutes matching alerts; what still fires when the silence ends is sent then.',
  },
  {
    name: 'announce',
    title: 'Announce a top-up',
    operation: 'expectTopUp',
    description: 'Says that a payment is on its way, so that forecasts count with it.',
  },
];

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: object;
}

/** The operation that a tool calls: its method, its path and where each argument goes. */
export interface Tool extends ToolSpec {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
}

export type JsonSchema = { readonly type: 'object' } & Readonly<Record<string, unknown>>;

/** Makes tools with the schemas of the API's own document. An operation that the document lacks is left out. */
export function toolsOf(document: unknown, specs: readonly ToolSpec[]): readonly Tool[] {
  const schemas = keyOf(keyOf(document, 'components'), 'schemas') ?? {};
  return specs.flatMap((spec) => {
    for (const [path, methods] of Object.entries(keyOf(document, 'paths') ?? {}))
      for (const [method, operation] of Object.entries(methods ?? {}))
        if (keyOf(operation, 'operationId') === spec.operation)
          return [toolOf(spec, { method, path, operation, schemas })];
    return [];
  });
}

function toolOf(
  spec: ToolSpec,
  it: {
    readonly method: string;
    readonly path: string;
    readonly operation: unknown;
    readonly schemas: object;
  },
): Tool {
  const { operation, schemas, path } = it;
  const parameters = (keyOf(operation, 'parameters') ?? []) as readonly Parameter[];
  const body = resolve(bodySchema(keyOf(operation, 'requestBody')), schemas);
  const answer = keyOf(operation, 'responses');
  const result = resolve(bodySchema(keyOf(answer, '200') ?? keyOf(answer, '201')), schemas);
  const isActing = it.method !== 'get';
  const properties = {
    ...Object.fromEntries(parameters.map((parameter) => [parameter.name, describe(parameter, spec)])),
    ...(keyOf(body, 'properties') ?? {}),
  };
  const required = [
    ...parameters.flatMap(({ name, required: isRequired }) => (isRequired === true ? [name] : [])),
    ...((keyOf(body, 'required') ?? []) as readonly string[]),
    ...(isActing ? ['by'] : []),
  ];
  return {
    ...spec,
    method: isActing ? 'POST' : 'GET',
    path,
    parameters,
    inputSchema: whole({ type: 'object', properties, required: [...new Set(required)] }, schemas),
    outputSchema: whole({ ...(result ?? {}), type: 'object' }, schemas),
  };
}

function bodySchema(part: unknown): unknown {
  return keyOf(keyOf(keyOf(part, 'content'), 'application/json'), 'schema');
}

/** The schema to which a reference leads: at its top, a tool must spell the schema out. */
function resolve(schema: unknown, schemas: object): unknown {
  const name = String(keyOf(schema, '$ref') ?? '')
    .split('/')
    .at(-1);
  return name ? keyOf(schemas, name) : schema;
}

function describe({ name, schema, description }: Parameter, { defaults }: ToolSpec): object {
  const own = ownOf(defaults, name);
  return {
    ...schema,
    ...(description === undefined ? {} : { description }),
    ...(own === undefined ? {} : { default: own }),
  };
}

/** The schema together with the named schemas to which it refers, so that it is complete by itself. */
function whole(schema: JsonSchema, schemas: object): JsonSchema {
  const named = new Map<string, unknown>();
  const collect = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (named.has(name)) continue;
      named.set(name, keyOf(schemas, name));
      collect(named.get(name));
    }
  };
  collect(schema);
  const text = JSON.stringify({ ...schema, ...(named.size > 0 && { $defs: Object.fromEntries(named) }) });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as JsonSchema;
}

/** Arguments that are not parameters become the body. For GET they become query parameters, which the API refuses. */
export function requestOf(tool: Tool, given: Readonly<Record<string, unknown>>) {
  const rest: Record<string, unknown> = { ...given };
  let path = tool.path;
  const query = new URLSearchParams();
  for (const { name, in: place } of tool.parameters) {
    const value = ownOf(rest, name) ?? ownOf(tool.defaults, name);
    delete rest[name];
    if (value === undefined) continue;
    if (place === 'path') path = path.replace(`{${name}}`, inPath(String(value)));
    else query.set(name, String(value));
  }
  if (tool.method === 'GET') for (const [name, value] of Object.entries(rest)) query.set(name, String(value));
  const target = query.size === 0 ? path : `${path}?${query}`;
  return tool.method === 'GET'
    ? { method: tool.method, path: target }
    : { method: tool.method, path: target, body: rest };
}
