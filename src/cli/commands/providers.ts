import { describeDuration } from '../../domain/time.ts';
import type { ProviderDescription } from '../../providers/describe-provider.ts';
import { type Command, exitCodes, jsonOption } from '../command.ts';
import { requireKnown } from '../read-options.ts';
import { printRows } from '../terminal/table.ts';

export const providersCommand: Command = {
  name: 'providers',
  summary: 'kinds and presets of providers: credentials, balances, limits, source',
  details: `Without TYPE: a table of all. With TYPE: what its accounts need, what is read, from which source, and what to write into the
configuration. CERTAINTY is "documented" where the vendor's document or official client was read, and "observed" where only public
client code was: compare the first reading with your dashboard then.

--json prints {"providers":[{"type","summary","source","certainty","caution","credentials","limits","shortestEveryMs","details","example"}]}.`,
  usesConfiguration: false,
  positionals: [
    { name: 'TYPE', summary: 'the kind or preset, as "type" of an entry names it', optional: true },
  ],
  options: { json: jsonOption },
  examples: ['lowwater providers', 'lowwater providers twilio'],
  run: async (context, input) => {
    const type = input.optionalPositional('TYPE');
    const all = await describeProviders();
    const known = all.map((each) => each.type);
    if (type !== null) requireKnown('kind of provider', known, type);
    const chosen = all.filter((each) => type === null || each.type === type);
    if (type !== null && !input.flag('json')) {
      await context.stdout.write(chosen.map(describeOne).join(''));
      return exitCodes.ok;
    }
    return printRows(context, input, {
      rows: chosen,
      json: () => ({ providers: chosen }),
      columns: [
        { header: 'TYPE', value: (each) => each.type },
        { header: 'PROVIDER', value: (each) => each.summary, minWidth: 12 },
        {
          header: 'CREDENTIALS',
          value: ({ credentials }) => list(credentials.map(({ name }) => name)),
          rank: 2,
        },
        { header: 'BALANCES', value: ({ details }) => list(details?.balances.map(({ id }) => id)), rank: 3 },
        { header: 'SIGNED', value: ({ details }) => details?.signed ?? '–', rank: 4 },
        { header: 'CERTAINTY', value: (each) => each.certainty, rank: 1 },
      ],
    });
  },
};

export async function describeProviders(): Promise<readonly ProviderDescription[]> {
  const { describeProvider } = await import('../../providers/describe-provider.ts');
  const { providerKinds } = await import('../../providers/registry.ts');
  return providerKinds.map(describeProvider);
}

function describeOne(provider: ProviderDescription): string {
  const { details, credentials, shortestEveryMs, caution } = provider;
  const rows: readonly (readonly [name: string, text: string | null | undefined])[] = [
    ['source', `${provider.source} (${provider.certainty})`],
    ...credentials.map(({ name, label }) => [name, label] as const),
    ['request', details?.request],
    ['signed', details?.signed === 'token' ? 'by a token that is asked for first' : details?.signed],
    ['balances', details?.balances.map(({ id, label }) => `${id} (${label})`).join(', ')],
    ['currency', details?.currency],
    ['baseUrl', details?.baseUrl && `needed: ${details.baseUrl}`],
    ['limits', provider.limits],
    ['poll.every', shortestEveryMs === null ? null : `${describeDuration(shortestEveryMs)} or longer`],
    ...[...(details?.notes ?? []), caution].map((note) => ['note', note] as const),
  ];
  const said = rows.filter(([, text]) => text);
  const width = Math.max(...said.map(([name]) => name.length));
  const lines = said.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
  const example = provider.example === null ? '' : `\n${JSON.stringify(provider.example, null, 2)}\n`;
  return `${provider.type}: ${provider.summary}\n${lines.join('\n')}\n${example}`;
}

function list(words: readonly string[] = []): string {
  return words.join(', ') || '–';
}
