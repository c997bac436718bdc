import { type Command, exitCodes, UsageError } from '../command.ts';
import { type CommandGroups, writeCompletion } from '../write-completion.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

/** Completes what the commands say of themselves; `list` is asked when it runs, for this command is one of them. */
export function createCompletionCommand(list: () => readonly Command[], groups: CommandGroups): Command {
  return {
    name: 'completion',
    summary: 'print shell completion',
    details: `bash: lowwater completion bash > /etc/bash_completion.d/lowwater

zsh: lowwater completion zsh > "\${fpath[1]}/_lowwater"

fish: lowwater completion fish > ~/.config/fish/completions/lowwater.fish`,
    positionals: [{ name: 'SHELL', summary: shells.join(', ') }],
    usesConfiguration: false,
    examples: ['source <(lowwater completion bash)'],
    run: async (context, input) => {
      const named = input.positional('SHELL');
      const shell = shells.find((known) => known === named);
      if (shell === undefined)
        throw new UsageError(`there is no completion for "${named}"`, `there is: ${shells.join(', ')}`);
      await context.stdout.write(writeCompletion(shell, list(), groups));
      return exitCodes.ok;
    },
  };
}
