import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { RequestError, refusals } from './refusal.ts';
import { acceptsGzip, type WebApp, type WebContext } from './web-env.ts';

interface Asset {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly packed: Uint8Array<ArrayBuffer>;
  readonly hash: string;
}

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};
const styles = 'lowwater.css';
/** The parts of the style sheet in order: a rule of a later part wins over one of an earlier part. */
const styleParts = [
  'base',
  'frame',
  'forms',
  'tables',
  'alerts',
  'overview',
  'account',
  'charts',
  'pay',
  'touch',
  'print',
].map((part) => `styles/${part}.css`);
const own = ['live.js', 'stream.js', 'keys.js', 'typed.js', 'chart-drawing.js', 'chart.js', 'icon.svg'];
const icons = ['critical', 'warning', 'unsure'].map((severity) => `icon-${severity}.svg`);
/** Files of uPlot as its package has them; the script is turned into a module. */
const ofUplot = new Map([
  ['uplot.js', './dist/uPlot.iife.min.js'],
  ['uplot.css', './dist/uPlot.min.css'],
]);

/** The files that make up an asset; none if there is no such asset. */
function filesOf(name: string): readonly URL[] {
  const path = ofUplot.get(name);
  if (path !== undefined) return [new URL(path, import.meta.resolve('uplot/package.json'))];
  const files = name === styles ? styleParts : [...own, ...icons].filter((file) => file === name);
  return files.map((file) => new URL(`./assets/${file}`, import.meta.url));
}

const loaded = new Map<string, Asset>();

/** Address of an asset with a digest of its content, so that browsers may keep it for ever. */
export function assetPath(name: string): string {
  return `/assets/${name}?v=${loadAsset(name)?.hash ?? ''}`;
}

/** Assets need no token, because they contain no data: the sign-in page uses them too. */
export function addAssetRoutes(app: WebApp): void {
  app.get('/assets/:name', (context) => {
    const asset = loadAsset(context.req.param('name'));
    if (asset === null) throw new RequestError('not_found', refusals.noAsset());
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
  const files = filesOf(name);
  if (files.length === 0) return null;
  const text = files.map((file) => readFileSync(fileURLToPath(file), 'utf8')).join('');
  const body = new TextEncoder().encode(shorten(name, text));
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 16);
  const type = types[name.split('.').at(-1) ?? ''] ?? '';
  const asset = { type, body, packed: new Uint8Array(gzipSync(body, { level: 9 })), hash };
  loaded.set(name, asset);
  return asset;
}

/** Removes comments and indentation: a third of what would be sent. No line inside a text that spans lines begins with either. */
function shorten(name: string, text: string): string {
  if (name === 'uplot.js') return `${text}\nexport default uPlot;\n`;
  return text.replaceAll(/^\s+/gm, '').replaceAll(/^(?:\/\/.*|\/\*[^*]*(?:\*(?!\/)[^*]*)*\*\/)\n/gm, '');
}
