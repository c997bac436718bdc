import { nearestWord } from '../domain/nearest-word.ts';
import { OperatorError } from '../domain/ports.ts';
import { type Command, CommandError, exitCodes, UsageError } from './command.ts';
import { commands } from './commands/registry.ts';
import type { CommandContext } from './context.ts';
import { formatCommandHelp, formatGroupHelp, formatOverview } from './help.ts';
import { RefusedConfiguration } from './load-configuration.ts';
import { parseArguments } from './parse-arguments.ts';

/**
 * Runs what was typed after `lowwater` and gives the exit code. Expected failures are printed as one line for people;
 * anything else is a programming error and rejects.
 */
export async function runCommandLine(words: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await dispatch(words, context);
  } catch (error) {
    return await explainFailure(error, words, context);
  }
}

async function dispatch(words: readonly string[], context: CommandContext): Promise<number> {
  const { stdout, stderr } = context;
  const { command, group, rest } = findCommand(words);
  if (command !== null) {
    const input = parseArguments(command, rest);
    if (!input.flag('help')) return await command.run(context, input);
    await stdout.write(formatCommandHelp(command, stdout.style));
    return exitCodes.ok;
  }
  const [first] = words.slice(configurationWords(words));
  const wantsHelp = words.some((word) => word === '--help' || word === '-h') || first === 'help';
  if (group.length > 0) {
    const output = wantsHelp ? stdout : stderr;
    await output.write(formatGroupHelp(first ?? '', group, output.style));
    return wantsHelp ? exitCodes.ok : exitCodes.usage;
  }
  if (first === '--version' || first === '-V') {
    await stdout.write(`lowwater ${context.version}\n`);
    return exitCodes.ok;
  }
  if (first === undefined || wantsHelp) {
    const output = wantsHelp ? stdout : stderr;
    await output.write(formatOverview(commands, output.style));
    return wantsHelp ? exitCodes.ok : exitCodes.usage;
  }
  throw unknownCommand(first);
}

interface Found {
  readonly command: Command | null;
  /** Members of the group that the first word names, when no member was named with it. */
  readonly group: readonly Command[];
  readonly rest: readonly string[];
}

/** `--config FILE` may stand before the command; `help COMMAND` is `COMMAND --help`. */
function findCommand(words: readonly string[]): Found {
  const lead = configurationWords(words);
  if (lead > 0) {
    const inner = findCommand(words.slice(lead));
    return { ...inner, rest: [...words.slice(0, lead), ...inner.rest] };
  }
  if (words[0] === 'help' && words.length > 1) {
    const inner = findCommand(words.slice(1));
    return { ...inner, rest: [...inner.rest, '--help'] };
  }
  const [first = '', second = ''] = words;
  const pair = commands.find((command) => command.name === `${first} ${second}`);
  if (pair !== undefined) return { command: pair, group: [], rest: words.slice(2) };
  const single = commands.find((command) => command.name === first);
  if (single !== undefined) return { command: single, group: [], rest: words.slice(1) };
  const group = commands.filter((command) => command.name.startsWith(`${first} `));
  if (group.length > 0 && second !== '' && !second.startsWith('-')) {
    throw unknownCommand(`${first} ${second}`);
  }
  return { command: null, group, rest: [] };
}

/** How many words before the command name the configuration. */
function configurationWords([first = '']: readonly string[]): number {
  if (first === '--config') return 2;
  return first.startsWith('--config=') ? 1 : 0;
}

function unknownCommand(typed: string): UsageError {
  if (typed.startsWith('-')) return new UsageError(`unknown option ${typed}`, 'options follow the command');
  const meant = nearestWord(
    typed,
    commands.map((command) => command.name),
  );
  return new UsageError(`unknown command "${typed}"`, meant === null ? null : `did you mean "${meant}"?`);
}

async function explainFailure(
  error: unknown,
  words: readonly string[],
  { stderr }: CommandContext,
): Promise<number> {
  if (error instanceof RefusedConfiguration) return exitCodes.usage;
  if (error instanceof UsageError) {
    const hint = error.hint === null ? '' : `\n  ${error.hint}`;
    const name = commands.find(({ name }) => name === words[0] || name === words.slice(0, 2).join(' '))?.name;
    const more = name === undefined ? 'lowwater --help' : `lowwater ${name} --help`;
    await stderr.write(`lowwater: ${error.message}${hint}\n${stderr.style.dim(`  see ${more}`)}\n`);
    return exitCodes.usage;
  }
  if (error instanceof CommandError || error instanceof OperatorError) {
    await stderr.write(`lowwater: ${error.message}\n`);
    return exitCodes.failed;
  }
  throw error;
}
