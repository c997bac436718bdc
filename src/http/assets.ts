import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { RequestError } from './refusal.ts';
import { acceptsGzip, type WebApp, type WebContext } from './web-env.ts';

interface Asset {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly hash: string;
}

const own = (name: string): URL => new URL(`./assets/${name}`, import.meta.url);
/** uPlot is served as its package has it, made a module. */
const uplot = (name: string): URL => new URL(`./dist/${name}`, import.meta.resolve('uplot/package.json'));

const files: Readonly<Record<string, { readonly type: string; readonly from: () => URL }>> = {
  'lowwater.css': { type: 'text/css; charset=utf-8', from: () => own('lowwater.css') },
  'live.js': { type: 'text/javascript; charset=utf-8', from: () => own('live.js') },
  'keys.js': { type: 'text/javascript; charset=utf-8', from: () => own('keys.js') },
  'chart-drawing.js': { type: 'text/javascript; charset=utf-8', from: () => own('chart-drawing.js') },
  'chart.js': { type: 'text/javascript; charset=utf-8', from: () => own('chart.js') },
  'icon.svg': { type: 'image/svg+xml', from: () => own('icon.svg') },
  'icon-critical.svg': { type: 'image/svg+xml', from: () => own('icon-critical.svg') },
  'icon-warning.svg': { type: 'image/svg+xml', from: () => own('icon-warning.svg') },
  'icon-unsure.svg': { type: 'image/svg+xml', from: () => own('icon-unsure.svg') },
  'uplot.js': { type: 'text/javascript; charset=utf-8', from: () => uplot('uPlot.iife.min.js') },
  'uplot.css': { type: 'text/css; charset=utf-8', from: () => uplot('uPlot.min.css') },
};

const loaded = new Map<string, Asset>();

/** Address of an asset with a digest of its content, so that browsers may keep it for ever. */
export function assetPath(name: string): string {
  return `/assets/${name}?v=${loadAsset(name)?.hash ?? ''}`;
}

/**
 * Styles, scripts and pictures. They hold nothing of anybody, so they need no token: the sign-in page uses
 * them too.
 */
export function addAssetRoutes(app: WebApp): void {
  app.get('/assets/:name', (context) => {
    const asset = loadAsset(context.req.param('name'));
    if (asset === null) throw new RequestError('not_found', 'There is no such asset.');
    return sendAsset(asset, context);
  });
}

function sendAsset(asset: Asset, { req, body }: WebContext): Response {
  const etag = `"${asset.hash}"`;
  const pinned = req.query('v') === asset.hash;
  const caching = {
    etag,
    vary: 'accept-encoding',
    'cache-control': pinned ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  if (req.header('if-none-match') === etag) return body(null, 304, caching);
  const zipped = acceptsGzip(req.header('accept-encoding'));
  return body(zipped ? asset.packed : asset.body, 200, {
    'content-type': asset.type,
    ...caching,
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
  });
}

function loadAsset(name: string): Asset | null {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (file === undefined) return null;
  const body = new TextEncoder().encode(shorten(name, readFileSync(fileURLToPath(file.from()), 'utf8')));
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 16);
  const asset = { type: file.type, body, packed: new Uint8Array(gzipSync(body, { level: 9 })), hash };
  loaded.set(name, asset);
  return asset;
}

/** Without comments and indentation, which no browser needs: a third of what is sent. Lines of texts over several lines begin with neither. */
function shorten(name: string, text: string): string {
  if (name === 'uplot.js') return `${text}\nexport default uPlot;\n`;
  return text.replaceAll(/^\s+/gm, '').replaceAll(/^(?:\/\/.*|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/)\n/gm, '');
}
