import type { Command, OptionSpec } from './command.ts';

export const configOption: OptionSpec = {
  value: 'FILE',
  summary: 'the configuration (else $LOWWATER_CONFIG, ./config.json, /etc/lowwater/config.json)',
};

/** The options of a command, `--config` among them where it reads the configuration; not `--help`, which all have. */
export function optionsOf(command: Command): Readonly<Record<string, OptionSpec>> {
  const own = command.options ?? {};
  return command.usesConfiguration === false ? own : { ...own, config: configOption };
}
