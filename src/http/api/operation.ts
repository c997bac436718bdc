import { createRoute, type OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import * as z from 'zod';
import { parseJson } from '../../domain/json.ts';
import { markAmbiguous } from '../../net/ambiguity.ts';
import { shape } from '../../schema/shapes.ts';
import { problemMediaType, problemSchema, RequestError, refusals } from '../refusal.ts';
import type { WebContext, WebEnv } from '../web-env.ts';
import { nextCursor, type Page } from './input.ts';

export type Api = OpenAPIHono<WebEnv>;

/** Adds one operation to the API, together with its description in the document. */
export type Operation = (api: Api) => void;

type Nothing = Readonly<Record<never, never>>;

/** The input and output of an operation. */
interface Terms<Params extends z.ZodRawShape, Query extends z.ZodRawShape, Body extends z.ZodType, Found> {
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Whether the body may be left out. */
  readonly isOptional?: boolean;
  readonly answers: Answers<Found>;
  readonly answer: (
    asked: Asked<Params, Query, Body>,
  ) => NoInfer<Found> | Response | Promise<NoInfer<Found> | Response>;
}

/** The description of an answer, and how it is made from what was found. */
interface Answers<Found> {
  readonly status: 200 | 201;
  readonly responses: RouteConfig['responses'];
  readonly write: (found: Found) => object;
}

/** A request as its schemas read it, together with what every request has. */
type Asked<Params extends z.ZodRawShape, Query extends z.ZodRawShape, Body> = WebEnv['Variables'] & {
  readonly params: z.output<z.ZodObject<Params>>;
  readonly query: z.output<z.ZodObject<Query>>;
  readonly body: z.output<Body>;
  readonly context: WebContext;
};

/** Operations under one heading of the document, each described where it is implemented. One that writes its answer itself returns a `Response`. */
export function operations(tag: string) {
  const operation =
    (method: 'get' | 'post' | 'delete') =>
    <
      Found,
      Params extends z.ZodRawShape = Nothing,
      Query extends z.ZodRawShape = Nothing,
      Body extends z.ZodType = z.ZodUndefined,
    >(
      path: string,
      operationId: string,
      terms: Terms<Params, Query, Body, Found>,
    ): Operation => {
      const { summary, params, query, body, isOptional = false, answer } = terms;
      const { status, responses, write } = terms.answers;
      const request = {
        ...(params && { params: z.object(params) }),
        // An unknown parameter is refused: it was meant to have an effect.
        query: shape(query ?? {}),
        ...(body && { body: { required: !isOptional, content: { 'application/json': { schema: body } } } }),
      };
      const names = { method, path: `/api/v1/${path}`, operationId, summary, tags: [tag] };
      const route: RouteConfig = createRoute({ ...names, request, responses });
      return (api) =>
        api.openapi(route, async (context) => {
          const text = body === undefined ? '' : await context.req.text();
          if (markAmbiguous(text, parseJson(text)))
            throw new RequestError('bad_request', refusals.ambiguous());
          const valid = (part: string): unknown => context.req.valid(part as never);
          const asked = { params: valid('param'), query: valid('query'), body: valid('json') };
          // The library has read the parts by the schemas above, but the type `RouteConfig` does not know that.
          const found = await answer({ ...context.var, ...asked, context } as Asked<Params, Query, Body>);
          return found instanceof Response ? found : context.json(write(found), status);
        });
    };
  return { get: operation('get'), post: operation('post'), del: operation('delete') };
}

/** The answer of an operation: an object if it succeeds, or a refusal. */
export function answers<Shape extends z.ZodRawShape>(
  description: string,
  shape: Shape,
  status: 200 | 201 = 200,
): Answers<z.output<z.ZodObject<Shape>>> {
  return gives(description, z.strictObject(shape), status);
}

/** As `answers`, for an object that has a name in the document. */
export function gives<Schema extends z.ZodType<object>>(
  description: string,
  schema: Schema,
  status: 200 | 201 = 200,
): Answers<z.output<Schema>> {
  const content = { 'application/json': { schema } };
  return { status, responses: { [status]: { description, content }, ...refused }, write: (found) => found };
}

/** A page of a list, under its name in the answer. */
export function listed<View, Schema extends z.ZodType>(
  description: string,
  key: string,
  json: ((view: View) => z.output<Schema>) & { readonly schema: Schema },
): Answers<Page<View>> {
  const write = ({ items, nextCursor: next }: Page<View>) => ({ [key]: items.map(json), nextCursor: next });
  return { ...answers(description, { [key]: z.array(json.schema), nextCursor }), write };
}

const refused = { '4XX': problem('Refused'), '5XX': problem('Not possible just now') };

function problem(description: string) {
  return { description, content: { [problemMediaType]: { schema: problemSchema } } };
}

/** The answer of an operation that gives CSV, which its handler writes. */
export const csv: Answers<never> = {
  ...answers('', {}),
  responses: {
    200: { description: 'RFC 4180, to be saved as a file', content: { 'text/csv': { schema: z.string() } } },
    ...refused,
  },
};

/** An answer with lines of CSV, to be saved under a name. */
export async function csvFile(
  context: WebContext,
  name: string,
  lines: Iterable<string> | AsyncIterable<string>,
) {
  return context.body(await streamed(context, lines), 200, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
}

export const window = {
  since: z
    .string()
    .optional()
    .describe('Inclusive; ISO 8601, or a duration ago such as "7d"; default: a week before until'),
  until: z.string().optional().describe('Exclusive; default: now'),
};

/**
 * Awaits the first chunk, so that an error before it is answered as an error. A later error is logged and cuts the connection: the library
 * would write it to the terminal and to the client.
 */
async function streamed(context: WebContext, chunks: Iterable<string> | AsyncIterable<string>) {
  const source = (async function* () {
    yield* chunks;
  })();
  const first = await source.next();
  const whole = async function* () {
    if (first.done !== true) yield first.value;
    try {
      yield* source;
    } catch (error) {
      context.get('cutOff')(error);
    }
  };
  return ReadableStream.from(whole()).pipeThrough(new TextEncoderStream());
}

/** JSON that its handler writes by hand, at once or in pieces. It must be what the operation promises, which no type can check. */
export async function written(context: WebContext, body: string | AsyncIterable<string>): Promise<Response> {
  const whole = typeof body === 'string' ? body : await streamed(context, body);
  return context.body(whole, 200, { 'content-type': 'application/json' });
}

const chunkLength = 65_536;

/** An object as JSON with a list under a key; `tail` follows the list. Sent in larger chunks, because a small chunk costs more than its content. */
export async function* writeList(
  key: string,
  items: AsyncIterable<object | null>,
  tail = '',
): AsyncGenerator<string> {
  let text = `{"${key}":[`;
  let separator = '';
  for await (const item of items) {
    text += separator + JSON.stringify(item);
    separator = ',';
    if (text.length < chunkLength) continue;
    yield text;
    text = '';
  }
  yield `${text}]${tail}}\n`;
}
