import { createRoute } from '@hono/zod-openapi';
import * as z from 'zod';
import { silenceJson } from '../../views/public-json.ts';
import { RequestError } from '../refusal.ts';
import { accept } from './input.ts';
import { type Api, answers, gives, refused, takes } from './operation.ts';
import { expireOrderSchema, readSilenceOrder, silenceOrderSchema } from './orders.ts';
import { nextCursor, pageOfList, pagingQuery } from './paging.ts';

const tags = ['silences'];
const ended = answers('Its id', { expired: z.string() });

const listSilences = createRoute({
  method: 'get',
  path: '/api/v1/silences',
  operationId: 'listSilences',
  summary: 'Silences that are not over',
  tags,
  request: { query: z.object(pagingQuery) },
  responses: answers('Silences', { silences: z.array(silenceJson.schema), nextCursor }),
});

const addSilence = createRoute({
  method: 'post',
  path: '/api/v1/silences',
  operationId: 'addSilence',
  summary: 'Mutes matching alerts for a time',
  tags,
  request: takes(silenceOrderSchema),
  responses: { 201: gives('The silence', z.strictObject({ silence: silenceJson.schema })), ...refused },
});

const expireNamedSilence = createRoute({
  method: 'delete',
  path: '/api/v1/silences',
  operationId: 'expireNamedSilence',
  summary: 'Ends a silence; its id in the body or as ?id=',
  tags,
  request: {
    query: z.object({ id: z.string().optional().meta({ description: 'The silence' }) }),
    ...takes(expireOrderSchema.partial(), false),
  },
  responses: ended,
});

const expireSilence = createRoute({
  method: 'delete',
  path: '/api/v1/silences/{id}',
  operationId: 'expireSilence',
  summary: 'Ends a silence',
  tags,
  request: { params: z.object({ id: z.string() }) },
  responses: ended,
});

export function addSilenceOperations(api: Api): void {
  api.openapi(listSilences, (context) => {
    const page = pageOfList(context.var.views.silences(), context.req.valid('query'), (silence) =>
      JSON.stringify([silence.id, silence.startsAt, silence.match]),
    );
    return context.json({ silences: page.items.map(silenceJson), nextCursor: page.nextCursor }, 200);
  });

  api.openapi(addSilence, async (context) => {
    const now = context.get('now');
    const order = readSilenceOrder(context.req.valid('json'), now);
    const made = accept(await context.var.views.silence({ ...order, by: context.get('person') ?? order.by }));
    const silence = silenceJson({
      ...made,
      by: made.createdBy,
      active: made.startsAt <= now,
      laterStarts: [],
    });
    return context.json({ silence }, 201);
  });

  api.openapi(expireNamedSilence, async (context) => {
    const id = context.req.valid('query').id ?? context.req.valid('json').id;
    if (id === undefined)
      throw new RequestError('bad_request', 'id: give the silence in the body or as ?id=');
    accept(await context.var.views.expireSilence(id));
    return context.json({ expired: id }, 200);
  });

  api.openapi(expireSilence, async (context) => {
    const { id } = context.req.valid('param');
    accept(await context.var.views.expireSilence(id));
    return context.json({ expired: id }, 200);
  });
}
