import { parseArgs } from 'node:util';
import { nearestWord } from '../domain/nearest-word.ts';
import { type Command, type CommandInput, type OptionSpec, UsageError } from './command.ts';

/** Options that every command takes. */
export const commonOptions: Readonly<Record<string, OptionSpec>> = {
  config: {
    value: 'FILE',
    summary: 'the configuration (else $LOWWATER_CONFIG, ./config.json, /etc/lowwater/config.json)',
  },
  help: { summary: 'print this help' },
};

/** What a command takes, in the order in which help prints it. */
export function optionsOf(command: Command): Readonly<Record<string, OptionSpec>> {
  const { config, help } = commonOptions;
  const shared = command.usesConfiguration === false ? { help } : { config, help };
  return { ...command.options, ...(shared as Record<string, OptionSpec>) };
}

/** Reads the words after the command's name. Throws `UsageError` for what the command does not take. */
export function parseArguments(command: Command, words: readonly string[]): CommandInput {
  const specs = optionsOf(command);
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(specs).map(([name, { value }]) => [
        name,
        {
          type: value === undefined ? 'boolean' : 'string',
          ...(name === 'help' ? { short: 'h' } : {}),
        } as const,
      ]),
    ),
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const values = new Map<string, string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind === 'option') readOption(specs, values, token);
  }
  if (values.has('help')) return inputOf(command, values, positionals);
  checkPositionals(command, positionals);
  return inputOf(command, values, positionals);
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function readOption(
  specs: Readonly<Record<string, OptionSpec>>,
  values: Map<string, string>,
  token: OptionToken,
): void {
  const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
  if (spec === undefined) {
    const meant = token.rawName.startsWith('--') ? nearestWord(token.name, Object.keys(specs)) : null;
    throw new UsageError(
      `unknown option ${token.rawName}`,
      meant === null ? null : `did you mean --${meant}?`,
    );
  }
  if (values.has(token.name) && spec.value !== undefined)
    throw new UsageError(`${token.rawName} is given twice`);
  if (spec.value === undefined) {
    if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`);
    values.set(token.name, '');
    return;
  }
  const forgotten = token.value === undefined || (token.inlineValue !== true && token.value.startsWith('--'));
  if (forgotten || token.value === undefined)
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${spec.value}`);
  if (token.value === '') throw new UsageError(`${token.rawName} has an empty value`);
  values.set(token.name, token.value);
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const wanted = command.positionals ?? [];
  const missing = wanted.slice(given.length).find((positional) => positional.optional !== true);
  if (missing !== undefined) throw new UsageError(`${missing.name} is missing: ${missing.summary}`);
  const extra = given[wanted.length];
  if (extra !== undefined) throw new UsageError(`unexpected argument "${extra}"`);
}

function inputOf(
  command: Command,
  values: ReadonlyMap<string, string>,
  positionals: readonly string[],
): CommandInput {
  const find = (name: string): string | null => {
    const index = (command.positionals ?? []).findIndex((positional) => positional.name === name);
    if (index === -1) throw new TypeError(`${command.name} takes no argument ${name}`);
    return positionals[index] ?? null;
  };
  return {
    positional(name) {
      const value = find(name);
      if (value === null) throw new TypeError(`${name} of ${command.name} is optional`);
      return value;
    },
    optionalPositional: find,
    option: (name) => values.get(name) ?? null,
    flag: (name) => values.has(name),
  };
}
