import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes `dist/sbom.cdx.json`: what ships, as a CycloneDX bill of materials. npm knows what is installed with the
 * program; what is inside its bundle is a package of the build to npm, and stands in the list of licences.
 *
 * It is made from the lock file, and says neither when nor where nor by which npm: one commit has one bill, on every machine.
 */
const root = join(import.meta.dirname, '..');
const bundled = readFileSync(join(root, 'dist/third-party.txt'), 'utf8');
const installedToo = readBill(['--omit', 'dev']);
const everything = readBill([]);
const installed = new Set(installedToo.components.map((component) => component['bom-ref']));

const components = everything.components
  .filter(
    ({ 'bom-ref': ref, name, version }) => installed.has(ref) || bundled.includes(`\n${name} ${version} (`),
  )
  // Properties say where npm found it and that it is a package of the build.
  .map(({ properties: _, ...component }) => ({ ...component, scope: 'required' }));
const shipped = new Set([
  everything.metadata.component['bom-ref'],
  ...components.map((component) => component['bom-ref']),
]);
const dependencies = everything.dependencies
  .filter(({ ref }) => shipped.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => shipped.has(other)) }));

const { name, version }: { readonly name: string; readonly version: string } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
// npm calls it by the folder that it lies in.
const { properties: _, ...own } = everything.metadata.component;
const component = { ...own, type: 'application', name, version };
const digest = createHash('sha256')
  .update(JSON.stringify([component, components, dependencies]))
  .digest('hex');
const bill = {
  $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: `urn:uuid:${nameBased(digest)}`,
  version: 1,
  metadata: { lifecycles: [{ phase: 'build' }], component },
  components,
  dependencies,
};
writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);

/** A digest as a UUID of version 8, which is for such (RFC 9562, 5.8). */
function nameBased(hex: string): string {
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hex) ?? [];
  return `${a}-${b}-8${c}-8${d}-${e}`;
}

interface Bill {
  readonly metadata: { readonly component: Part };
  readonly components: readonly Part[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Part {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties?: unknown;
}

/** npm says what CycloneDX 1.5 asks for. */
function readBill(words: readonly string[]): Bill {
  const sbom = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--loglevel=error', ...words];
  return JSON.parse(execFileSync('npm', sbom, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }));
}
