import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { OpenAPIHono } from '@hono/zod-openapi';
import { compress } from 'hono/compress';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { decodePercent } from '../domain/addresses.ts';
import { isSignedIn, namePerson, requireOwnPage, requireSignIn } from './access.ts';
import { createApi } from './api/routes.ts';
import { addAssetRoutes } from './assets.ts';
import { eventsMediaType } from './events.ts';
import { openDoor } from './orders.ts';
import { readerOf } from './page/cookies.ts';
import { readOwnPath } from './page/forms.ts';
import { readParts } from './page/live.ts';
import { keepSession } from './page/people.ts';
import { languageHeader, languageOf } from './page/reader-language.ts';
import { addOpenPages, addPages, pagePaths } from './page/routes.ts';
import { zoneOf } from './page/time-zone.ts';
import { RequestError, refusals, wrongMethod } from './refusal.ts';
import { renderRefusal } from './refuse.ts';
import { acceptsGzip, type Site, type WebContext, type WebEnv } from './web-env.ts';

/** Pages of one browser that are kept fresh. */
const maxPages = 30;

const allMethods = ['HEAD', 'GET', 'POST', 'DELETE'];

/** Answers one request whose body was read; `body` is null if the method allows none. */
export type App = (request: IncomingMessage, response: ServerResponse, body: Buffer | null) => Promise<void>;

/** Loaded with the first request, because the web's `Request` and `Response`, which Hono uses, need 12 MB. */
export function createApp(site: Site): App {
  const app = new OpenAPIHono<WebEnv>();
  const refuseWith = (error: unknown, context: WebContext) => refuse(site, error, context);
  app.onError(refuseWith);
  app.notFound((context) => refuseWith(new RequestError('not_found', refusals.noPage()), context));
  app.use(compress());
  const onMethodNotAllowed = (context: WebContext, methods: readonly string[]) => {
    const allowed = allMethods.filter((method) => methods.includes(method));
    return refuseWith(wrongMethod(allowed.join(', ')), context);
  };
  app.use(methodNotAllowed({ app, onMethodNotAllowed }));
  app.use(async (context, next) => {
    const now = site.clock.now();
    const views = await site.views.refreshed();
    const { searchParams: query } = new URL(context.req.url);
    context.set('site', site);
    context.set('views', views);
    context.set('now', now);
    const person = namePerson(site, context.env.incoming);
    context.set('person', person);
    const reader = readerOf(context, person);
    const language = await languageOf(
      context.env.incoming,
      site.language ?? 'en',
      context.req.header(languageHeader),
    );
    const timezone = zoneOf(context, site.timezone);
    const key = views.calendarKey();
    const calendarKey = key !== null && (site.sessions?.isKeyOfToken(key) ?? true) ? key : null;
    const session = site.sessions?.read(context.req.header('cookie'))?.id;
    context.set('scope', { language, views, now, timezone, query, reader, calendarKey, session });
    context.set('cutOff', (error) => {
      site.log.error({ err: error, path: context.req.path }, 'an answer was cut off');
      context.env.outgoing.destroy();
    });
    // Hono would accept a broken percent escape as plain text.
    if (decodePercent(context.req.path) === null)
      throw new RequestError('bad_request', refusals.brokenPercent());
    requireOwnPage(site, context.env.incoming);
    context.set('signedIn', isSignedIn(site, context.env.incoming));
    context.set('door', openDoor(context, views));
    await next();
    if (isPageRequest(context)) {
      const renewed = site.sessions?.renew(context.req.header('cookie')) ?? null;
      if (renewed !== null) keepSession(context, renewed);
    }
  });
  addAssetRoutes(app);
  addOpenPages(app);
  // All routes below ask for a sign-in first, and so does the answer for missing pages: strangers do not learn what exists.
  app.use(async (context, next) => {
    await requireSignIn(site, context.env.incoming);
    await next();
  });
  app.get('/events', ({ req, env, var: { scope } }) => {
    if (req.method === 'HEAD') return new Response(null, { headers: { 'content-type': eventsMediaType } });
    const { page: pages = [], have = [] } = req.queries();
    const headers = { accept: 'text/html', cookie: req.header('cookie') ?? '' };
    site.streams.open(env.outgoing, {
      packed: acceptsGzip(req.header('accept-encoding')),
      pages: pages.slice(0, maxPages).map((page, nth) => ({
        page: readPage(page),
        have: have[nth]?.split('.') ?? [],
      })),
      looks: JSON.stringify([headers.cookie, scope.language.id, scope.reader]),
      // The page is requested as its reader would: what it shows, and whether it may be seen, is decided in one place.
      read: async (page) => {
        const [address = '', language = ''] = page.split('#');
        const asked = { headers: { ...headers, [languageHeader]: language } };
        const response = await app.request(address, asked, env);
        return response.status === 200 ? readParts(await response.text()) : null;
      },
    });
    return RESPONSE_ALREADY_SENT;
  });
  addPages(app);
  app.route('/', createApi(site.views.now.status().version));
  return answerBy(app);
}

/** Whether a browser asks for a page to show it. The reader of live parts accepts nothing but `text/html`, and gets no cookie. */
function isPageRequest({ req, res }: WebContext): boolean {
  const isPage = res.headers.get('content-type')?.startsWith('text/html') ?? false;
  return isPage && req.method !== 'POST' && req.header('accept') !== 'text/html';
}

/** Reads the address of an open page, whose fragment is its language. Only pages have parts: any other address is refused. */
function readPage(text: string): string {
  const page = readOwnPath(text);
  if (pagePaths.test(page)) return page + (URL.parse(text, 'http://own')?.hash ?? '');
  throw new RequestError('bad_request', 'page: give the address of a page, such as "/" or "/alerts"');
}

function answerBy(app: OpenAPIHono<WebEnv>): App {
  return (request, response, body) =>
    getRequestListener(
      (given, env) => {
        const { url, method, headers } = given;
        const whole =
          body === null
            ? given
            : new Request(url, { method, headers, body: body.length === 0 ? null : new Uint8Array(body) });
        return app.fetch(whole, env);
      },
      // Other parts of the process keep using Node's own `Request` and `Response`.
      { overrideGlobalObjects: false },
    )(request, response);
}

async function refuse(site: Site, error: unknown, context: WebContext): Promise<Response> {
  const { status, headers, body } = await renderRefusal(site, translate(error), context.env.incoming);
  return new Response(body, { status, headers });
}

/** The library's own refusals in this program's words, which quote nothing of the request. */
function translate(error: unknown): unknown {
  if (!(error instanceof HTTPException)) return error;
  return error.status === 415
    ? new RequestError('unsupported_media_type', 'The body must be application/json.')
    : new RequestError('bad_request', 'The body is not JSON.');
}
