import { OpenAPIHono } from '@hono/zod-openapi';
import type { Views } from '../../views/create-views.ts';
import type { LiveViews } from '../../views/live-views.ts';
import { english } from '../../wording/language.ts';
import { problemJson } from '../refusal.ts';
import { toRequestError } from '../refuse.ts';
import type { Site, WebEnv } from '../web-env.ts';
import { createApi } from './routes.ts';

interface LocalApiOptions {
  readonly version: string;
  readonly now: number;
  readonly timezone: string;
  /** The stored state; null if only the document is needed. */
  readonly views: Views | null;
}

/** Answers reading calls of the API in this process, without a server: `path` with its query. Never rejects for a refusal. */
export function openLocalApi({ version, now, timezone, views: stored }: LocalApiOptions) {
  // Reading operations never use the parts of the views that only a running daemon has.
  const views = stored as LiveViews | null;
  const app = new OpenAPIHono<WebEnv>();
  app.use(async (context, next) => {
    context.set('now', now);
    // Of the server's options, reading operations use only the time zone.
    context.set('site', { timezone } as Site);
    context.set('cutOff', () => undefined);
    if (views !== null) {
      context.set('views', views);
      const query = new URL(context.req.url).searchParams;
      context.set('scope', { language: english, views, now, timezone, query });
    }
    await next();
  });
  app.onError((error, context) => {
    const refused = toRequestError(error);
    return context.json(problemJson(refused), refused.status);
  });
  app.route('/', createApi(version));
  return async (path: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    const response = await app.request(path);
    return { status: response.status, body: await response.json() };
  };
}
