import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes `dist/sbom.cdx.json`: what ships, as a CycloneDX bill of materials. npm knows what is installed beside the
 * program; what is inside its bundle is a package of the build to npm, and stands in the list of licences.
 */
const root = join(import.meta.dirname, '..');
const bundled = readFileSync(join(root, 'dist/third-party.txt'), 'utf8');
const beside = readBill(['--omit', 'dev']);
const everything = readBill([]);
const installed = new Set(beside.components.map((component) => component['bom-ref']));

const components = everything.components
  .filter(
    ({ 'bom-ref': ref, name, version }) => installed.has(ref) || bundled.includes(`\n${name} ${version} (`),
  )
  .map((component) => ({ ...component, scope: 'required' }));
const shipped = new Set([
  everything.metadata.component['bom-ref'],
  ...components.map((component) => component['bom-ref']),
]);
const dependencies = everything.dependencies
  .filter(({ ref }) => shipped.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => shipped.has(other)) }));

writeFileSync(
  join(root, 'dist/sbom.cdx.json'),
  `${JSON.stringify({ ...everything, components, dependencies }, null, 2)}\n`,
);

interface Bill {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly name: string;
    readonly version: string;
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** npm says what CycloneDX 1.5 asks for. */
function readBill(words: readonly string[]): Bill {
  const sbom = ['sbom', '--sbom-format', 'cyclonedx', '--loglevel=error', ...words];
  return JSON.parse(execFileSync('npm', sbom, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }));
}
