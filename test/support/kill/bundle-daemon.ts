import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'rolldown';

const root = join(import.meta.dirname, '../../..');
/** Next to the packages that are not bundled, and out of git's sight. */
const place = join(root, 'node_modules/.cache/lowwater-killable');

let bundled: Promise<string> | null = null;

/** The entry point of the killable daemon as a bundle, made once by each process: from the sources every start takes twice the processor time. */
export function bundleKillableDaemon(): Promise<string> {
  bundled ??= makeBundle();
  return bundled;
}

async function makeBundle(): Promise<string> {
  await build({
    input: { daemon: join(import.meta.dirname, 'killable-daemon.ts') },
    platform: 'node',
    external: /^(?:better-sqlite3|@resvg)/,
    resolve: { mainFields: ['module', 'main'] },
    plugins: [keepAddresses],
    logLevel: 'silent',
    output: { dir: place, format: 'esm', entryFileNames: '[name].js', cleanDir: true },
  });
  return join(place, 'daemon.js');
}

/** A source finds files by its own address. */
const keepAddresses: Plugin = {
  name: 'keep-addresses',
  transform: {
    filter: { id: new RegExp(`^${root}/src/`), code: 'import.meta.url' },
    handler: (code, id) => ({
      code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
      map: null,
    }),
  },
};
