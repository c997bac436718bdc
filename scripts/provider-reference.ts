import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDuration } from '../src/domain/time.ts';
import { describeProvider } from '../src/providers/describe-provider.ts';
import type { PresetKind } from '../src/providers/presets/preset-kinds.ts';
import { presetKinds } from '../src/providers/presets/preset-kinds.ts';

/** Where `docs/providers.md` is. */
export const providerReferenceFile = join(import.meta.dirname, '../docs/providers.md');

const guideFile = join(import.meta.dirname, '../src/providers/http-json/guide.md');

const presetFolder = join(import.meta.dirname, '../src/providers/presets');

/** The module that lists the presets: one for each file of data. */
export const presetListFile = join(presetFolder, 'all-presets.ts');

export function writePresetList(): string {
  const types = readdirSync(presetFolder)
    .flatMap((name) => /^(.+)\.json$/.exec(name)?.[1] ?? [])
    .toSorted();
  const exported = types.map((type) => {
    // A name of JavaScript begins with no digit.
    const name = type
      .replace(/^(\d+)(.*)$/, '$2$1')
      .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    return `export { default as ${name} } from './${type}.json' with { type: 'json' };\n`;
  });
  return `/** Every preset, one file of data each; \`npm run reference\` writes this list. No other list of them exists. */\n\n${exported.join('')}`;
}

/** The page of all providers: how to use one, how to describe another, and a section for each preset. */
export function writeProviderReference(): string {
  const described = presetKinds.map((kind) => ({ kind, ...describeProvider(kind) }));
  const rows = described.map(
    ({ type, summary, credentials, details, certainty }) =>
      `| [\`${type}\`](#${type}) | ${summary} | ${credentials.map(({ name }) => `\`${name}\``).join(', ')} | ${details?.balances.map(({ id }) => `\`${id}\``).join(', ')} | ${details?.signed ?? ''} | ${certainty} |`,
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
    ...(details?.signed == null
      ? []
      : [
          details.signed === 'token'
            ? '- A token is asked for first, and kept while it is good.'
            : `- Signed by ${details.signed}, anew for each request.`,
        ]),
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

if (import.meta.main) {
  // A preset that is new is described by the next run, which sees the new list.
  if (readFileSync(presetListFile, 'utf8') !== writePresetList()) {
    writeFileSync(presetListFile, writePresetList());
    execFileSync(process.execPath, [import.meta.filename]);
  } else writeFileSync(providerReferenceFile, writeProviderReference());
}
