import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Templates of the Helm chart that are the manifests of `deploy/kubernetes`, with values where the two ways of running lowwater differ.
 * Throws where a manifest has no longer what is replaced in it.
 */
export function writeChart(): ReadonlyMap<string, string> {
  return new Map([
    ['deployment.yaml', writeDeployment()],
    ['service.yaml', writeService()],
    ['volume-claim.yaml', onlyIf('not .Values.postgres.enabled', writeVolumeClaim())],
    ['disruption-budget.yaml', onlyIf('.Values.postgres.enabled', writeDisruptionBudget())],
  ]);
}

/** Where the templates are. */
export const templatesFolder = join(import.meta.dirname, '../deploy/helm/lowwater/templates');

const manifests = join(import.meta.dirname, '../deploy/kubernetes');
const ownName = 'metadata:\n  name: lowwater\n';
const chartName =
  'metadata:\n  name: {{ .Release.Name }}\n  labels: {{- include "lowwater.labels" . | nindent 4 }}\n';

function writeDeployment(): string {
  const onVolume = read('sqlite/on-a-volume.yaml');
  const several = read('postgres/two-of-them.yaml');
  const ownLabels = (indent: number) => `{{- include "lowwater.selector" . | nindent ${indent} }}`;
  const either = (sqlite: string, postgres: string): string =>
    `{{- if .Values.postgres.enabled }}\n${postgres}{{- else }}\n${sqlite}{{- end }}\n`;
  const spread = blockOf(several, '      topologySpreadConstraints:').replace(
    'labelSelector:\n            matchLabels: { app.kubernetes.io/name: lowwater }',
    `labelSelector:\n            matchLabels: ${ownLabels(14)}`,
  );
  const replaced = replaceAll(read('base/deployment.yaml'), [
    [ownName, chartName],
    ['  replicas: 1\n', '  replicas: {{ ternary .Values.postgres.replicas 1 .Values.postgres.enabled }}\n'],
    [
      '  template:\n    spec:\n',
      `${either(blockOf(onVolume, '  strategy:'), blockOf(several, '  strategy:'))}  selector:\n    matchLabels: ${ownLabels(6)}\n  template:\n    metadata:\n      labels: ${ownLabels(8)}\n    spec:\n{{- if .Values.postgres.enabled }}\n${spread}{{- end }}\n`,
    ],
    [
      'image: lowwater:0.4.0\n',
      'image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"\n          imagePullPolicy: {{ .Values.image.pullPolicy }}\n{{- if .Values.postgres.enabled }}\n' +
        `${blockOf(several, '          env:')}{{- end }}\n`,
    ],
    [
      `${blockOf(read('base/deployment.yaml'), '          resources:')}`,
      '          resources: {{- toYaml .Values.resources | nindent 12 }}\n',
    ],
    [
      '            - { name: tmp, mountPath: /tmp }\n',
      `            - { name: tmp, mountPath: /tmp }\n{{- if not .Values.postgres.enabled }}\n${blockOf(onVolume, '            - { name: data')}{{- end }}\n`,
    ],
    ['configMap: { name: lowwater }', 'configMap: { name: {{ .Release.Name }} }'],
    ['secretName: lowwater,', 'secretName: {{ default .Release.Name .Values.existingSecret }},'],
  ]);
  const volume = blockOf(onVolume, '        - name: data').replace(
    'claimName: lowwater',
    'claimName: {{ .Release.Name }}',
  );
  return `${replaced.trimEnd()}\n{{- if not .Values.postgres.enabled }}\n${volume}{{- end }}\n`;
}

function writeService(): string {
  return replaceAll(read('base/service.yaml'), [
    [ownName, chartName],
    ['spec:\n', 'spec:\n  selector: {{- include "lowwater.selector" . | nindent 4 }}\n'],
  ]);
}

function writeVolumeClaim(): string {
  return replaceAll(read('sqlite/volume-claim.yaml'), [
    [ownName, chartName],
    [
      'requests: { storage: 5Gi }\n',
      'requests: { storage: {{ .Values.persistence.size }} }\n  {{- with .Values.persistence.storageClassName }}\n  storageClassName: {{ . }}\n  {{- end }}\n',
    ],
  ]);
}

function writeDisruptionBudget(): string {
  return replaceAll(read('postgres/disruption-budget.yaml'), [
    [ownName, chartName],
    [
      'matchLabels: { app.kubernetes.io/name: lowwater }',
      'matchLabels: {{- include "lowwater.selector" . | nindent 6 }}',
    ],
  ]);
}

function read(path: string): string {
  return readFileSync(join(manifests, path), 'utf8');
}

function onlyIf(condition: string, text: string): string {
  return `{{- if ${condition} }}\n${text.trimEnd()}\n{{- end }}\n`;
}

function replaceAll(text: string, pairs: readonly (readonly [before: string, after: string])[]): string {
  return pairs.reduce((made, [before, after]) => {
    if (made.split(before).length !== 2) throw new Error(`a manifest holds this not once: ${before}`);
    return made.split(before).join(after);
  }, text);
}

/** The line that begins so and all that is indented below it. */
function blockOf(text: string, start: string): string {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith(start));
  if (first < 0) throw new Error(`a manifest has no longer: ${start}`);
  const indent = start.length - start.trimStart().length;
  const after = lines.findIndex((line, index) => index > first && !line.startsWith(' '.repeat(indent + 1)));
  return `${lines.slice(first, after < 0 ? undefined : after).join('\n')}\n`;
}

if (import.meta.main) {
  mkdirSync(templatesFolder, { recursive: true });
  for (const [name, text] of writeChart()) writeFileSync(join(templatesFolder, name), text);
}
