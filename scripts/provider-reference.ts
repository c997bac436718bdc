import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDuration } from '../src/domain/duration.ts';
import { describeProvider } from '../src/providers/describe-provider.ts';
import type { PresetKind } from '../src/providers/presets/preset-kinds.ts';
import { presetKinds } from '../src/providers/presets/preset-kinds.ts';

/** Where `docs/providers.md` is. */
export const providerReferenceFile = join(import.meta.dirname, '../docs/providers.md');

const guideFile = join(import.meta.dirname, '../src/providers/http-json/guide.md');

/** The page of all providers: how to use one, how to describe another, and a section for each preset. */
export function writeProviderReference(): string {
  const described = presetKinds.map((kind) => ({ kind, ...describeProvider(kind) }));
  const rows = described.map(
    ({ type, summary, credentials, details, certainty }) =>
      `| [\`${type}\`](#${type}) | ${summary} | ${credentials.map(({ name }) => `\`${name}\``).join(', ')} | ${details?.balances.map(({ id }) => `\`${id}\``).join(', ')} | ${certainty} |`,
  );
  const guide = readFileSync(guideFile, 'utf8').replace('{{presets}}', rows.join('\n'));
  return `${guide.trimEnd()}\n\n## Presets\n\n${described.map(({ kind }) => writeSection(kind)).join('\n')}`;
}

function writeSection(kind: PresetKind): string {
  const { type, summary, credentials, details, caution, ...provider } = describeProvider(kind);
  const facts = [
    ...credentials.map(({ name, label }) => `- \`${name}\`: ${label}.`),
    ...(details?.baseUrl == null ? [] : [`- \`baseUrl\` of the entry: ${details.baseUrl}.`]),
    `- Request: \`${details?.request}\``,
    `- Balances: ${details?.balances.map(({ id, label }) => `\`${id}\` (${label})`).join(', ')}; currency: ${details?.currency}.`,
    `- Limits: ${provider.limits}${provider.shortestEveryMs === null ? '' : ` Poll every ${formatDuration(provider.shortestEveryMs)} or less often.`}`,
    `- Source: ${provider.source} (${provider.certainty}).`,
    ...[...(details?.notes ?? []), ...(caution === null ? [] : [caution])].map((note) => `- ${note}`),
  ];
  return `### ${type}

${summary}.

${facts.join('\n')}

\`\`\`json
${JSON.stringify(kind.preset.sample)}
\`\`\`
`;
}

if (import.meta.main) writeFileSync(providerReferenceFile, writeProviderReference());
