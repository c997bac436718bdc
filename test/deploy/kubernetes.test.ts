import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { runBuilt } from '../support/built-program.ts';

const root = join(import.meta.dirname, '../..');
const models = { Deployment, PodDisruptionBudget, ConfigMap, PersistentVolumeClaim, Secret, Service };
const ways = ['sqlite', 'postgres'] as const;
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

describe.skipIf(!hasKubectl)('what kubectl applies', () => {
  it.each(ways)('with %s is what the published schemas allow', (way) => {
    const objects = build(way);
    expect(objects.length).toBeGreaterThan(3);
    for (const object of objects) {
      const Model = Object.entries(models).find(([kind]) => kind === object.kind)?.[1];
      if (Model === undefined) throw new Error(`no schema for ${object.kind}`);
      new Model(object).validate();
    }
  });

  it('is checked: a number written as a text is found', () => {
    const text = JSON.stringify(find('sqlite', 'Deployment')).replace('"replicas":1', '"replicas":"1"');
    expect(() => new Deployment(JSON.parse(text)).validate()).toThrow(/replicas must be/);
  });

  it.each([
    ['sqlite', 1, 'Recreate'],
    ['postgres', 2, undefined],
  ] as const)(
    'with %s runs %i of it, as nobody, on a file system that cannot be written',
    (way, replicas, strategy) => {
      const { spec } = find(way, 'Deployment');
      expect(spec).toMatchObject({ replicas });
      expect(spec.strategy.type).toBe(strategy);
      const pod = spec.template.spec;
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
      const [container] = pod.containers;
      expect(container.securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.livenessProbe.httpGet.path).toBe('/livez');
      expect(container.readinessProbe.httpGet.path).toBe('/readyz');
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
      expect(container.image).toBe(`lowwater:${version}`);
    },
  );

  it('keeps the database on the volume where the image looks for it, and with PostgreSQL on none', () => {
    const mountsOf = (way: Way) => find(way, 'Deployment').spec.template.spec.containers[0].volumeMounts;
    expect(mountsOf('sqlite')).toContainEqual({ name: 'data', mountPath: '/data' });
    expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toContain('LOWWATER_DATA=/data');
    expect(JSON.stringify(mountsOf('postgres'))).not.toContain('/data');
  });
});

const knowsPostgres = readFileSync(join(root, 'config.schema.json'), 'utf8').includes('"postgres"');

describe('the configuration', () => {
  it.each(ways.filter((way) => way !== 'postgres' || knowsPostgres))(
    'for %s takes its secrets from the files that the example fills, and is right',
    async (way) => {
      const folder = mkdtempSync(join(tmpdir(), 'lowwater-kubernetes-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const config = readFileSync(join(root, 'deploy/kubernetes', way, 'config.json'), 'utf8');
      mkdirSync(join(folder, 'secrets'));
      for (const line of readFileSync(join(root, 'deploy/kubernetes', way, 'secrets.env.example'), 'utf8')
        .trim()
        .split('\n')) {
        const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(line) ?? [];
        expect(config).toContain(`\${file:/run/secrets/lowwater/${name}}`);
        writeFileSync(join(folder, 'secrets', name), value);
      }
      writeFileSync(
        join(folder, 'config.json'),
        config.replaceAll('/run/secrets/lowwater', join(folder, 'secrets')),
      );
      const env = { POD_NAME: 'lowwater-1', POD_IP: '10.0.0.7' };
      expect(await runBuilt(['validate'], { cwd: folder, env })).toMatchObject({ code: 0, stderr: '' });
    },
  );
});

type Way = (typeof ways)[number];

/** What kubectl says, as far as the tests look into it. */
// biome-ignore lint/suspicious/noExplicitAny: a tree whose shape the schemas check
type Manifest = { readonly kind: string; readonly spec: any };

function build(way: Way): readonly Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-kubernetes-'));
  try {
    cpSync(join(root, 'deploy/kubernetes'), folder, { recursive: true });
    const secrets = join(folder, way, 'secrets.env');
    if (!existsSync(secrets)) copyFileSync(`${secrets}.example`, secrets);
    const text = execFileSync('kubectl', ['kustomize', join(folder, way)], { encoding: 'utf8' });
    // Kustomize breaks long values of secrets into lines, which Kubernetes does not mind.
    return parseAllDocuments(text).map((document) =>
      JSON.parse(JSON.stringify(document), (key, value) => (key === 'data' ? unbreak(value) : value)),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function unbreak(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, value.replaceAll('\n', '')]));
}

function find(way: Way, kind: string): Manifest {
  const found = build(way).find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found;
}
