import { OperatorError } from '../domain/operator-error.ts';
import { exitCodes, UsageError } from './command.ts';
import { checkCommand, pluginCodes } from './commands/check.ts';
import { commands } from './commands/registry.ts';
import type { CommandContext } from './context.ts';
import { RefusedConfiguration } from './load-configuration.ts';
import { parseCommandLine } from './parse-command-line.ts';

/**
 * Runs what was typed after `lowwater` and gives the exit code. Expected failures are printed as one line for people;
 * anything else is a programming error and rejects.
 */
export async function runCommandLine(words: readonly string[], context: CommandContext): Promise<number> {
  try {
    const parsed = parseCommandLine(words, context);
    if (parsed.kind === 'command') return await parsed.command.run(context, parsed.input);
    await (parsed.asked ? context.stdout : context.stderr).write(parsed.text);
    return parsed.asked ? exitCodes.ok : exitCodes.usage;
  } catch (error) {
    return await explainFailure(error, words, context);
  }
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
  if (error instanceof OperatorError) {
    await stderr.write(`lowwater: ${error.message}\n`);
    return failureCode(words);
  }
  throw error;
}

/** To a monitoring system, which runs `check`, 1 would be a warning about a balance. */
export function failureCode(words: readonly string[]): number {
  const command = words.find((word) => commands.some(({ name }) => name.split(' ')[0] === word));
  return command === checkCommand.name ? pluginCodes.unknown : exitCodes.failed;
}
