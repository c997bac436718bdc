import type { Command, OptionSpec } from './command.ts';
import { commonOptions, optionsOf } from './parse-arguments.ts';
import { displayWidth } from './terminal/display-width.ts';
import type { Style } from './terminal/style.ts';

/** What `lowwater --help` prints. */
export function formatOverview(commands: readonly Command[], style: Style): string {
  return [
    'lowwater watches prepaid messaging and voice balances and tells people before they run out.',
    '',
    style.bold('Usage'),
    '  lowwater <command> [options]',
    '',
    style.bold('Commands'),
    ...listPairs(commands.map((command) => [usageOf(command), command.summary])),
    '',
    style.bold('Options'),
    ...listPairs([...optionPairs(commonOptions), ['--version', 'print the version']]),
    '',
    'Exit codes: 0 fine, 1 failed, 2 bad usage or configuration.',
    'More about a command: lowwater <command> --help',
    '',
  ].join('\n');
}

/** What `lowwater <command> --help` prints. */
export function formatCommandHelp(command: Command, style: Style): string {
  const positionals = command.positionals ?? [];
  const sections = [
    [`${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`],
    [style.bold('Usage'), `  lowwater ${usageOf(command)} [options]`],
    command.details === undefined ? [] : command.details.split('\n'),
    positionals.length === 0
      ? []
      : [style.bold('Arguments'), ...listPairs(positionals.map(({ name, summary }) => [name, summary]))],
    [style.bold('Options'), ...listPairs(optionPairs(optionsOf(command)))],
    command.examples === undefined
      ? []
      : [style.bold('Examples'), ...command.examples.map((example) => `  ${example}`)],
  ];
  return `${sections
    .filter((section) => section.length > 0)
    .map((section) => section.join('\n'))
    .join('\n\n')}\n`;
}

/** What `lowwater silence` prints when the second word is missing. */
export function formatGroupHelp(group: string, members: readonly Command[], style: Style): string {
  return [
    style.bold('Usage'),
    `  lowwater ${group} <command> [options]`,
    '',
    style.bold('Commands'),
    ...listPairs(members.map((member) => [usageOf(member), member.summary])),
    '',
  ].join('\n');
}

function usageOf(command: Command): string {
  const words = (command.positionals ?? []).map(({ name, optional }) =>
    optional === true ? `[${name}]` : name,
  );
  return [command.name, ...words].join(' ');
}

function optionPairs(options: Readonly<Record<string, OptionSpec>>): [string, string][] {
  return Object.entries(options).map(([name, { value, summary }]) => [
    `--${name}${value === undefined ? '' : ` ${value}`}${name === 'help' ? ', -h' : ''}`,
    summary,
  ]);
}

function listPairs(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...pairs.map(([left]) => displayWidth(left)));
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
