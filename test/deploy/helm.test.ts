import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { templatesFolder, writeChart } from '../../scripts/write-chart.ts';

const chart = join(templatesFolder, '..');
const { version } = JSON.parse(readFileSync(join(chart, '../../../package.json'), 'utf8'));
/** `helm`, or a program that renders as `helm template` does, given by LOWWATER_HELM. */
const helm = process.env.LOWWATER_HELM ?? 'helm';
const hasHelm = spawnSync(helm, ['version']).status === 0;
const models = {
  Deployment,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  ConfigMap,
  PersistentVolumeClaim,
  Secret,
  Service,
};

it.each([...writeChart()])('%s of the chart is made from the manifests', (name, text) => {
  expect(readFileSync(join(templatesFolder, name), 'utf8')).toBe(text);
});

it('the chart has the version of the program', () => {
  const { version: ofChart, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
  expect([ofChart, appVersion]).toEqual([version, version]);
});

describe.skipIf(!hasHelm)('what helm renders', () => {
  const secrets = { token: 'a-long-random-word', 'otp-auth-secret': 'key' };

  it.each([
    ['SQLite', { secrets }, 1, ['ConfigMap', 'Deployment', 'PersistentVolumeClaim', 'Secret', 'Service']],
    [
      'PostgreSQL and all that values switch on',
      {
        secrets: { ...secrets, 'postgres-url': 'postgres://u:p@h/db' },
        postgres: { enabled: true },
        serviceMonitor: { enabled: true },
        networkPolicy: { enabled: true, fromNamespaces: [{ 'kubernetes.io/metadata.name': 'monitoring' }] },
        ingress: { enabled: true, tlsSecret: 'tls' },
      },
      2,
      [
        'ConfigMap',
        'Deployment',
        'Ingress',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Secret',
        'Service',
        'ServiceMonitor',
      ],
    ],
  ] as const)('with %s is what the published schemas allow', (_, values, replicas, kinds) => {
    const objects = render(values);
    expect(objects.map(({ kind }) => kind).sort()).toEqual(kinds);
    for (const object of objects) {
      const Model = Object.entries(models).find(([kind]) => kind === object.kind)?.[1];
      if (Model !== undefined) new Model(object).validate();
    }
    expect(objects.find(({ kind }) => kind === 'Deployment')?.spec).toMatchObject({ replicas });
    const config = JSON.parse(objects.find(({ kind }) => kind === 'ConfigMap')?.data['config.json']);
    expect(config.server).toMatchObject({ host: '0.0.0.0', port: 8080 });
    expect('cluster' in config).toBe(replicas === 2);
  });

  it('keeps what the values say of storage and cluster beside what it says itself', () => {
    const config = { storage: { retention: '90d' }, cluster: { lease: '12s', node: 'the same for all' } };
    const objects = render({ config, secrets, postgres: { enabled: true } });
    const rendered = JSON.parse(objects.find(({ kind }) => kind === 'ConfigMap')?.data['config.json']);
    expect(rendered.storage).toEqual({
      retention: '90d',
      postgres: { url: expect.stringContaining('/postgres-url') },
    });
    expect(rendered.cluster).toMatchObject({ lease: '12s', node: expect.stringContaining('POD_NAME') });
  });

  it('refuses to go without a token', () => {
    expect(() => render({})).toThrow('secrets.token is needed');
  });
});

function render(values: object) {
  const folder = mkdtempSync(join(tmpdir(), 'lowwater-chart-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const text = execFileSync(helm, ['template', 'lw', chart, '--values', file], { encoding: 'utf8' });
  return parseAllDocuments(text).flatMap((document) => document.toJS() ?? []);
}
