import { Argument, CommanderError, Option, Command as Parser } from 'commander';
import { OperatorError } from '../domain/operator-error.ts';
import {
  type Command,
  type CommandInput,
  configOption,
  exitCodes,
  type OptionSpec,
  optionsOf,
  UsageError,
} from './command.ts';
import { commandOf } from './command-of.ts';
import { checkCommand, pluginCodes } from './commands/check.ts';
import { commands, groups } from './commands/registry.ts';
import type { CommandContext } from './context.ts';
import { RefusedConfiguration } from './load-configuration.ts';
import type { Output } from './terminal/output.ts';

/** Runs a command line. Expected failures are printed as one line; anything else is a programming error and rejects. */
export async function runCommandLine(words: readonly string[], context: CommandContext): Promise<number> {
  try {
    return await parseCommandLine(words, context)(context);
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
    const [first, second] = words.slice(words.indexOf(commandOf(words) ?? ''));
    const name =
      commands.find(({ name }) => name === first || name === `${first} ${second}`)?.name ??
      Object.keys(groups).find((group) => group === first);
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

/** The exit code of a failure. For `check`, a monitoring system would take 1 for a warning about a balance. */
export function failureCode(words: readonly string[]): number {
  return commandOf(words) === checkCommand.name ? pluginCodes.unknown : exitCodes.failed;
}

/** Runs a command or prints help, and resolves to the exit code. */
type Action = (context: CommandContext) => Promise<number>;

/** Reads the words after `lowwater`. Throws `UsageError` for a word that no command takes, with the nearest known one. */
export function parseCommandLine(words: readonly string[], frame: ParserFrame): Action {
  const printed: string[] = [];
  const chosen: Action[] = [];
  const program = buildProgram({ ...frame, print: (text) => printed.push(text) }, (action) =>
    chosen.push(action),
  );
  const asked = words[0] === 'help' ? [...words.slice(1), '--help'] : words;
  const [first = '-'] = asked;
  // When help is asked for, the parser does not report unknown commands.
  const isUnknown = !first.startsWith('-') && program.commands.every((command) => command.name() !== first);
  try {
    program.parse(isUnknown ? [first] : asked, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (!textCodes.has(error.code)) throw explainRefusal(error);
    // Help was asked for (status 0), or is printed because no command was given.
    const [name, code] =
      error.exitCode === 0 ? (['stdout', exitCodes.ok] as const) : (['stderr', exitCodes.usage] as const);
    return async (context) => {
      await context[name].write(printed.join(''));
      return code;
    };
  }
  const [action] = chosen;
  if (action === undefined) throw new TypeError('the parser neither chose a command nor refused');
  return action;
}

interface ParserFrame {
  readonly version: string;
  readonly stdout: Pick<Output, 'columns' | 'style'>;
}

const textCodes: ReadonlySet<string> = new Set([
  'commander.help',
  'commander.helpDisplayed',
  'commander.version',
]);

/** Turns `error: unknown option '--jsom'\n(Did you mean --json?)` into a sentence and a hint. */
function explainRefusal({ message }: CommanderError): UsageError {
  const [refusal = '', hint] = message.replace(/^error: /, '').split('\n');
  if (hint !== undefined) return new UsageError(refusal, hint.replace(/^\((.*)\)$/, '$1'));
  return new UsageError(refusal, /^unknown option.*=/.test(refusal) ? 'a switch takes no value' : null);
}

type Frame = ParserFrame & { readonly print: (text: string) => void };

/** Makes a parser for each command. Those of commands with two words are below the parser of their group. */
function buildProgram(frame: Frame, choose: (action: Action) => void): Parser {
  const program = createParser('lowwater', frame)
    .description(
      'lowwater watches prepaid messaging and voice balances and tells people before they run out.',
    )
    .usage('<command> [options]')
    .version(`lowwater ${frame.version}`, '-V, --version', 'print the version')
    .addOption(createOption('config', configOption))
    .addHelpText(
      'after',
      '\nExit codes: 0 fine, 1 failed, 2 bad usage or configuration.\nMore about a command: lowwater <command> --help',
    );
  for (const command of commands)
    groupOf(command, program, frame).addCommand(buildCommand(command, frame, choose));
  return program;
}

function groupOf({ name }: Command, program: Parser, frame: Frame): Parser {
  const [first = '', second] = name.split(' ');
  if (second === undefined) return program;
  const known = program.commands.find((parser) => parser.name() === first);
  if (known !== undefined) return known;
  const group = createParser(first, frame).usage('<command> [options]');
  program.addCommand(group.description(sentence(groups[first] ?? '')));
  return group;
}

function buildCommand(command: Command, frame: Frame, choose: (action: Action) => void): Parser {
  const parser = createParser(command.name.split(' ').at(-1) ?? '', frame)
    .summary(command.summary)
    .description(describeCommand(command));
  for (const { name, summary, optional } of command.positionals ?? [])
    parser.addArgument(new Argument(optional === true ? `[${name}]` : `<${name}>`, summary));
  for (const [name, spec] of Object.entries(optionsOf(command))) parser.addOption(createOption(name, spec));
  const examples = command.examples ?? [];
  if (examples.length > 0) {
    const title = frame.stdout.style.bold('Examples:');
    parser.addHelpText('after', `\n${[title, ...examples.map((example) => `  ${example}`)].join('\n')}`);
  }
  return parser.action(() => choose((context) => command.run(context, readInput(command, parser))));
}

/** Joins the lines of the details, which are broken for readers of the source: a terminal breaks them by its own width. */
function describeCommand({ summary, details }: Command): string {
  const first = sentence(summary);
  return details === undefined ? first : `${first}\n\n${details.replace(/(?<!\n)\n(?!\n)/g, ' ')}`;
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

function createParser(name: string, { stdout, print }: Frame): Parser {
  return new Parser(name)
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ styleTitle: stdout.style.bold, subcommandTerm: termOf })
    .configureOutput({
      writeOut: print,
      writeErr: print,
      outputError: () => undefined,
      getOutHelpWidth: () => stdout.columns,
      getErrHelpWidth: () => stdout.columns,
      // The output's style decides whether there are colours.
      getOutHasColors: () => true,
      getErrHasColors: () => true,
    });
}

function termOf(parser: Parser): string {
  const words = parser.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  );
  return [parser.name(), ...words].join(' ');
}

function createOption(
  name: string,
  { value, summary, repeatable, maxLength = Number.POSITIVE_INFINITY }: OptionSpec,
): Option {
  if (value === undefined) return new Option(`--${name}`, summary);
  const option = new Option(`--${name} <${value}>`, summary);
  return option.argParser((text, before: readonly string[] | undefined) => {
    if (text.startsWith('--')) throw new UsageError(`option '${option.flags}' argument missing`);
    if (text === '') throw new UsageError(`--${name} has an empty value`);
    if (text.length > maxLength) throw new UsageError(`--${name} must be at most ${maxLength} characters`);
    if (before !== undefined && repeatable !== true) throw new UsageError(`--${name} is given twice`);
    return [...(before ?? []), text];
  });
}

/** The parser's result after it found nothing to refuse. */
function readInput(command: Command, parser: Parser): CommandInput {
  // The option may come before the command or after it: given twice, the parser would silently use one of the two.
  const parsers = [parser, parser.parent, parser.parent?.parent];
  if (parsers.filter((each) => each?.getOptionValue('config') !== undefined).length > 1)
    throw new UsageError('--config is given twice');
  const values = parser.optsWithGlobals<Record<string, unknown>>();
  const optionOf = (name: string): unknown => values[new Option(`--${name}`).attributeName()];
  const textsOf = (name: string): readonly string[] => {
    const value = optionOf(name);
    return Array.isArray(value) ? value.map(String) : [];
  };
  const find = (name: string): string | null => {
    const index = (command.positionals ?? []).findIndex((positional) => positional.name === name);
    if (index === -1) throw new TypeError(`${command.name} takes no argument ${name}`);
    return parser.args[index] ?? null;
  };
  return {
    positional(name) {
      const value = find(name);
      if (value === null) throw new TypeError(`${name} of ${command.name} is optional`);
      return value;
    },
    optionalPositional: find,
    option: (name) => textsOf(name)[0] ?? null,
    options: textsOf,
    flag: (name) => optionOf(name) === true,
  };
}
