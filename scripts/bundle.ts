import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { build, type CodeSplittingGroup, type OutputChunk, type Plugin } from 'rolldown';
import { loadLess, writeAscii } from './lean-bundle.ts';

/** A package whose code stands in the bundle. */
export interface BundledPackage extends Manifest {
  readonly folder: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Each file that a command loads costs it a third of a millisecond: what most of them need stands together. */
const together = {
  includeDependenciesRecursively: false,
  groups: [
    { name: 'bundler', test: /rolldown\/runtime/ },
    { name: 'node', test: /^\0(?!undici|string-width)/ },
    { name: 'words', test: /\/src\/(domain|ports|wording)\// },
    { name: 'zod', test: /\/node_modules\/zod\// },
    { name: 'rules', test: /\/src\/(schema|spending|rules)\// },
    { name: 'engine', test: /\/src\/(messages|engine)\// },
    importedBy('src/wiring/signals.ts', 'signals'),
    importedBy('src/wiring/process.ts', 'start'),
    importedBy('src/config/read-draft.ts', 'draft'),
    importedBy('src/config/load-config.ts', 'configuration'),
  ],
};

/** All that is loaded whenever one source is. */
function importedBy(source: string, name: string): CodeSplittingGroup {
  const found = new Set<string>();
  return {
    debugName: name,
    name(module, modules) {
      const gather = (id: string): void => {
        if (found.has(id)) return;
        found.add(id);
        for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) gather(imported);
      };
      if (found.size === 0) gather(join(import.meta.dirname, '..', source));
      return found.has(module) ? name : null;
    },
  };
}

/**
 * Makes the program that ships from `src/main.ts`, in `directory`: the sources and every package they import, but those
 * that `dependencies` of package.json names, which are installed with it. What is imported when it is needed stays a
 * file of its own. Gives the packages that went in, in the order of their names.
 */
export async function writeBundle(root: string, directory: string): Promise<readonly BundledPackage[]> {
  const installedToo = Object.keys(readManifest(root).dependencies);
  const { output } = await build({
    cwd: root,
    input: { main: 'src/main.ts' },
    platform: 'node',
    // Nobody imports the program: what a part gives beyond what the others take may go.
    preserveEntrySignatures: false,
    external: (id) => installedToo.some((name) => id === name || id.startsWith(`${name}/`)),
    // A package that has both is bundled from its modules: what it wraps for every loader of the world cannot be read.
    resolve: { mainFields: ['module', 'main'] },
    plugins: [keepAddresses(join(root, 'src')), loadLess(join(root, 'node_modules')), writeAscii()],
    logLevel: 'warn',
    // As Node would: a package's warnings about itself are not ours to read at every build.
    checks: { eval: false },
    output: {
      dir: directory,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      codeSplitting: together,
      // Licences stand whole in a text next to the bundle; all other comments are for those who read the sources.
      comments: false,
      sourcemap: 'hidden',
      sourcemapExcludeSources: true,
    },
  });
  const modules = output
    .filter((part): part is OutputChunk => part.type === 'chunk')
    .flatMap(({ moduleIds }) => moduleIds);
  return listPackages(modules);
}

/** A source finds files in its own folder by its own address; in the bundle that is where it stood in `src`, seen from `dist`. */
function keepAddresses(sources: string): Plugin {
  return {
    name: 'keep-addresses',
    transform: {
      filter: { id: new RegExp(`^${sources}/`), code: 'import.meta.url' },
      handler(code, id) {
        const address = relative(sources, id).split(sep).join('/');
        return {
          code: code.replaceAll('import.meta.url', `new URL('./${address}', import.meta.url).href`),
          map: null,
        };
      },
    },
  };
}

function listPackages(modules: readonly string[]): readonly BundledPackage[] {
  const folders = new Set(modules.filter((id) => id.includes('/node_modules/')).map(packageFolderOf));
  return [...folders]
    .map((folder) => ({ ...readManifest(folder), folder }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `…/node_modules/@scope/name/lib/index.js` lies in `…/node_modules/@scope/name`. */
function packageFolderOf(module: string): string {
  const [file = ''] = module.replace(/^\0+/, '').split('?');
  const found = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file);
  if (found === null) throw new TypeError(`${module} lies in no package`);
  return found[0];
}

/** npm has checked what stands in the manifest of a package that it installed. */
function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
