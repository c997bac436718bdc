import type { OpenAPIHono } from '@hono/zod-openapi';
import type { TypedResponse } from 'hono';
import * as z from 'zod';
import { problemMediaType, problemSchema } from '../refusal.ts';
import type { WebContext, WebEnv } from '../web-env.ts';
import { nextCursor } from './input.ts';

export type Api = OpenAPIHono<WebEnv>;

/** What operations say of themselves in the document, all of them under one heading. */
export function operations(tag: string) {
  const describe =
    <Method extends 'get' | 'post' | 'delete'>(method: Method) =>
    <Path extends string>(name: Path, operationId: string, summary: string) => {
      const path = `/api/v1/${name}` as const;
      return { method, path, operationId, summary, tags: [tag] };
    };
  return { get: describe('get'), post: describe('post'), del: describe('delete') };
}

/** What an operation answers: an object when it does what it was asked for, or a refusal. */
export function answers<Shape extends z.ZodRawShape>(description: string, shape: Shape) {
  return { 200: gives(description, z.strictObject(shape)), ...refused };
}

/** A page of a list, as the answer names it. */
export function listed<Key extends string, Schema extends z.ZodType>(
  description: string,
  key: Key,
  { schema }: { readonly schema: Schema },
) {
  const list = { [key]: z.array(schema) } as Record<Key, z.ZodArray<Schema>>;
  return answers(description, { ...list, nextCursor });
}

export function gives<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } };
}

export const refused = { '4XX': problem('Refused'), '5XX': problem('Not possible just now') };

function problem(description: string) {
  return { description, content: { [problemMediaType]: { schema: problemSchema } } };
}

/** What an operation answers that gives CSV. */
export const csvAnswer = {
  200: { description: 'RFC 4180, to be saved as a file', content: { 'text/csv': { schema: z.string() } } },
  ...refused,
};

/** Lines of CSV to be saved under a name. */
export function csvFile(context: WebContext, name: string, lines: Iterable<string> | AsyncIterable<string>) {
  return context.body(streamed(context, lines), 200, {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${name}.csv"`,
  });
}

/** A body that may be left out, or must not be. */
export function takes<Schema extends z.ZodType>(schema: Schema, required = true) {
  return { body: { required, content: { 'application/json': { schema } } } };
}

export const window = {
  since: z.string().optional().meta({
    description: 'Inclusive; ISO 8601, or a duration ago such as "7d"; default: a week before until',
  }),
  until: z.string().optional().meta({ description: 'Exclusive; default: now' }),
};

/**
 * A body that is written while it is sent. What breaks it is logged and cuts the connection: the library below would write
 * the error to the terminal, and its message to whoever asked.
 */
export function streamed(
  context: WebContext,
  chunks: Iterable<string> | AsyncIterable<string>,
): ReadableStream<Uint8Array> {
  const whole = async function* () {
    try {
      yield* chunks;
    } catch (error) {
      context.get('cutOff')(error);
    }
  };
  return ReadableStream.from(whole()).pipeThrough(new TextEncoderStream());
}

/** JSON that its handler writes by hand, in pieces. It must be what the operation promises: no type can say so. */
export function written(
  context: WebContext,
  body: string | ReadableStream,
): Response & TypedResponse<never, 200, 'json'> {
  const response: Response = context.body(body, 200, { 'content-type': 'application/json' });
  return response as Response & TypedResponse<never, 200, 'json'>;
}
