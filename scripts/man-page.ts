import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, optionsOf } from '../src/cli/command.ts';
import { commands } from '../src/cli/commands/registry.ts';

/** Makes `man/lowwater.1` from the help of the commands (`npm run reference`). A test fails when it is not current. */
export const manPageFile = join(import.meta.dirname, '..', 'man', 'lowwater.1');

export function writeManPage(): string {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  return `${[
    `.TH LOWWATER 1 "" "lowwater ${manifest.version}" "User Commands"`,
    '.ad l',
    '.SH NAME',
    `lowwater \\- ${roff(manifest.description)}`,
    '.SH SYNOPSIS',
    '.B lowwater',
    '.I command',
    '[options]',
    '.SH COMMANDS',
    ...commands.flatMap(describeCommand),
    '.SH EXIT STATUS',
    '0 fine, 1 failed, 2 bad usage or configuration.',
    '.B lowwater check',
    'exits as monitoring plugins do: 0 OK, 1 warning, 2 critical, 3 unknown.',
    '.SH ENVIRONMENT',
    ...describeItem('LOWWATER_CONFIG', 'The configuration, where no option names one.'),
    ...describeItem('LOWWATER_DATA', 'The folder of the database, where the configuration names none.'),
    ...describeItem('NO_COLOR', 'Set to anything: no colours.'),
    '.SH FILES',
    ...describeItem('./config.json, /etc/lowwater/config.json', 'The configuration.'),
  ].join('\n')}\n`;
}

function describeCommand(command: Command): string[] {
  const { name, summary, details, positionals = [], examples = [] } = command;
  const words = positionals.map((word) => (word.optional === true ? `[${word.name}]` : word.name));
  const options = Object.entries(optionsOf(command)).flatMap(([option, { value, summary: text }]) =>
    describeItem(`--${option}${value === undefined ? '' : ` ${value}`}`, text),
  );
  return [
    `.SS ${roff(['lowwater', name, ...words].join(' '))}`,
    `${roff(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)}`,
    ...(details ?? '').split('\n').map((line) => (line === '' ? '.PP' : roff(line))),
    ...positionals.flatMap((word) => describeItem(word.name, word.summary)),
    ...options,
    ...(examples.length === 0 ? [] : ['.PP', 'Examples:', '.nf', ...examples.map(roff), '.fi']),
  ];
}

function describeItem(term: string, text: string): string[] {
  return ['.TP', `.B ${roff(term)}`, roff(text)];
}

/** A backslash, a hyphen that must stay one, a character beyond ASCII, and a line that would begin with a request. */
function roff(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(
      /[^ -~\n]/gu,
      (found) => `\\[u${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^([.'])/, '\\&$1');
}

if (import.meta.main) writeFileSync(manPageFile, writeManPage());
