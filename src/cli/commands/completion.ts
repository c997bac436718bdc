import { type Command, exitCodes, type NamedValues, optionsOf, UsageError } from '../command.ts';
import { quoteForShell } from '../terminal/text.ts';

type CommandGroups = Readonly<Record<string, string>>;

/** Makes the command from the descriptions of all commands. `list` is called only when it runs, because this command is in the list too. */
export function createCompletionCommand(list: () => readonly Command[], groups: CommandGroups): Command {
  const names = Object.keys(shells);
  return {
    name: 'completion',
    summary: 'print shell completion',
    details: `bash: lowwater completion bash > /etc/bash_completion.d/lowwater

zsh: lowwater completion zsh > "\${fpath[1]}/_lowwater"

fish: lowwater completion fish > ~/.config/fish/completions/lowwater.fish`,
    positionals: [{ name: 'SHELL', summary: names.join(', ') }],
    usesConfiguration: false,
    examples: ['source <(lowwater completion bash)'],
    run: async (context, input) => {
      const named = input.positional('SHELL');
      const write = Object.hasOwn(shells, named) ? shells[named] : undefined;
      if (write === undefined)
        throw new UsageError(`there is no completion for "${named}"`, `there is: ${names.join(', ')}`);
      await context.stdout.write(write(listPlaces(list(), groups)));
      return exitCodes.ok;
    },
  };
}

/** Scripts that complete commands and options, and file names everywhere else. */
const shells: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: writeBash,
  zsh: writeZsh,
  fish: writeFish,
};

interface Place {
  /** The words after `lowwater`; none for the first word. */
  readonly after: readonly string[];
  readonly candidates: readonly Candidate[];
  /** The kinds of the arguments in order; empty for an unknown kind. */
  readonly values: readonly (NamedValues | '')[];
}

interface Candidate {
  readonly word: string;
  readonly summary: string;
  readonly takesValue?: boolean;
  readonly completes?: NamedValues | undefined;
}

const help: Candidate = { word: '--help', summary: 'print this help' };

/** The places with more words come first, so that the first match is the right one. */
function listPlaces(commands: readonly Command[], groups: CommandGroups): Place[] {
  const own = commands.map((command) => ({
    after: command.name.split(' '),
    candidates: [
      ...Object.entries(optionsOf(command)).map(([name, { value, summary, completes }]) => ({
        word: `--${name}`,
        summary,
        takesValue: value !== undefined,
        completes,
      })),
      help,
    ],
    values: (command.positionals ?? []).map(({ completes }): NamedValues | '' => completes ?? ''),
  }));
  const words = Object.entries(groups).map(([word, summary]) => ({ word, summary }));
  const grouped = words.map(({ word: group }) => ({
    after: [group],
    candidates: commands
      .filter(({ name }) => name.startsWith(`${group} `))
      .map(({ name, summary }) => ({ word: name.slice(group.length + 1), summary })),
    values: [],
  }));
  const first = [
    ...commands
      .filter(({ name }) => !name.includes(' '))
      .map(({ name, summary }) => ({ word: name, summary })),
    ...words,
    help,
    { word: '--version', summary: 'print the version' },
    ...own.flatMap(({ candidates }) => candidates.filter(({ word }) => word === '--config')).slice(0, 1),
  ];
  const places = [...own, ...grouped].toSorted((left, right) => right.after.length - left.after.length);
  return [...places, { after: [], candidates: first, values: [] }];
}

/** The options that take a value. */
function takingOf(places: readonly Place[]): string {
  const taking = places.flatMap(({ candidates }) => candidates).filter(({ takesValue }) => takesValue);
  return [...new Set(taking.map(({ word }) => word))].join('|');
}

/** `--account) kind=accounts ;;` for each option with a known kind of value, then the options that take any value. */
function valueCases(places: readonly Place[]): string {
  const naming = places.flatMap(({ candidates }) => candidates);
  const kinds = new Map(naming.flatMap(({ word, completes }) => (completes ? [[word, completes]] : [])));
  const arms = [...kinds].map(([word, kind]) => `${word}) kind=${kind} ;;`);
  return `${arms.join(' ')} ${takingOf(places)})`;
}

/** The kinds of all words of a line, in the format of `complete-values`; empty if none is known. */
function kindsOf({ after, values }: Place): string {
  return values.some((kind) => kind !== '') ? [...after.map(() => ''), ...values].join(',') : '';
}

function writeBash(places: readonly Place[]): string {
  const cases = places.map((place) => {
    const words = quoteForShell(place.candidates.map(({ word }) => word).join(' '));
    return `    ${patternOf(place.after)}) words=${words}; kinds=${quoteForShell(kindsOf(place))} ;;`;
  });
  return `# bash completion of lowwater
_lowwater() {
  local line="\${COMP_WORDS[*]:1:COMP_CWORD-1}" current="\${COMP_WORDS[COMP_CWORD]}" words kind= kinds= names
  line="\${line#--config * }"
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in ${valueCases(places)} return ;; esac
  if [[ -n $kind ]]; then
    COMPREPLY=($(compgen -W "$(lowwater complete-values "$kind" 2>/dev/null)" -- "$current"))
    return
  fi
  case "$line" in
${cases.join('\n')}
  esac
  if [[ -n $kinds && $current != -* ]]; then
    names="$(lowwater complete-values "$kinds" ${quoteForShell(takingOf(places))} "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" && words="$names"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _lowwater lowwater
`;
}

function writeZsh(places: readonly Place[]): string {
  const cases = places.map((place) => {
    const described = place.candidates.map(({ word, summary }) =>
      quoteForShell(`${word}:${summary.replaceAll(':', '\\:')}`),
    );
    return `    ${patternOf(place.after)}) candidates=(${described.join(' ')}); kinds=${quoteForShell(kindsOf(place))} ;;`;
  });
  return `#compdef lowwater
_lowwater() {
  local line="\${words[2,CURRENT-1]}"
  line="\${line#--config * }"
  local -a candidates
  local kind= kinds= names=
  case "\${words[CURRENT-1]}" in ${valueCases(places)} _files; return ;; esac
  if [ -n "$kind" ]; then compadd -- \${(f)"$(lowwater complete-values "$kind" 2>/dev/null)"}; return; fi
  case "$line" in
${cases.join('\n')}
  esac
  if [ -n "$kinds" ] && [[ "\${words[CURRENT]}" != -* ]] && names="$(lowwater complete-values "$kinds" ${quoteForShell(takingOf(places))} "\${(@)words[2,CURRENT-1]}" 2>/dev/null)"; then
    compadd -- \${(f)names}
    return
  fi
  _describe -t lowwater lowwater candidates || _files
}
if [ "$funcstack[1]" = "_lowwater" ]; then _lowwater "$@"; else compdef _lowwater lowwater; fi
`;
}

function writeFish(places: readonly Place[]): string {
  const lines = places.flatMap((place) => {
    const { after, candidates } = place;
    const words = candidates.filter(({ word }) => !word.startsWith('--')).map(({ word }) => word);
    const seen = after.map((word) => `__fish_seen_subcommand_from ${word}`);
    // After the second word of a group, no other second word is offered.
    const conditions =
      after.length > 0 && words.length > 0
        ? [...seen, `not __fish_seen_subcommand_from ${words.join(' ')}`]
        : seen;
    const when = conditions.length === 0 ? '__fish_use_subcommand' : conditions.join('; and ');
    const offer = (what: string): string => quoteForShell(`(lowwater complete-values ${what} 2>/dev/null)`);
    const kinds = kindsOf(place);
    const typed = `"${kinds}" "${takingOf(places)}" (commandline -opc)[2..-1]`;
    return [
      ...candidates.map(({ word, summary, takesValue, completes }) => {
        const value = completes === undefined ? '' : ` -f -a ${offer(completes)}`;
        const option = `-l ${word.slice(2)}${takesValue ? ' -r' : ''}${value}`;
        const what = word.startsWith('--') ? option : `-f -a ${word}`;
        return `complete -c lowwater -n ${quoteForShell(when)} ${what} -d ${quoteForShell(summary)}`;
      }),
      ...(kinds === '' ? [] : [`complete -c lowwater -n ${quoteForShell(when)} -f -a ${offer(typed)}`]),
    ];
  });
  return `# fish completion of lowwater\n${lines.join('\n')}\n`;
}

function patternOf(after: readonly string[]): string {
  const line = after.join(' ');
  return line === '' ? '*' : `${quoteForShell(line)}|${quoteForShell(`${line} `)}*`;
}
