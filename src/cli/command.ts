import { OperatorError } from '../domain/operator-error.ts';
import type { CommandContext } from './context.ts';

export interface Command {
  /** The name as it is typed; two words for a member of a group, such as `silence add`. */
  readonly name: string;
  readonly summary: string;
  /** More text for the command's own help: what it does and prints, and its exit codes if they are unusual. */
  readonly details?: string;
  readonly positionals?: readonly PositionalSpec[];
  /** Without `--config` and `--help`, which every command has. */
  readonly options?: Readonly<Record<string, OptionSpec>>;
  readonly examples?: readonly string[];
  /** False for the few commands that never read the configuration. */
  readonly usesConfiguration?: boolean;
  /** Whether the command asks a running daemon, which `--server` may name instead of a configuration. */
  readonly asksDaemon?: boolean;
  run(context: CommandContext, input: CommandInput): Promise<number>;
}

/** Kinds of names that a shell completes: of a section of the configuration, or of what exists now. */
export type NamedValues =
  | 'accounts'
  | 'rules'
  | 'channels'
  | 'reports'
  | 'severities'
  /** Rules of firing alerts. The daemon is asked for them, and for the next two kinds. */
  | 'alerts'
  | 'silences'
  | 'expected';

export interface PositionalSpec {
  readonly name: string;
  readonly summary: string;
  readonly completes?: NamedValues;
  readonly optional?: boolean;
}

export interface OptionSpec {
  /** The placeholder after the option, such as `FILE`; absent for a switch. */
  readonly value?: string;
  readonly summary: string;
  readonly repeatable?: true;
  readonly maxLength?: number;
  readonly completes?: NamedValues;
}

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** The command cannot be executed as typed; the message says what is allowed. It ends with exit code 2. */
export class UsageError extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

/** The work cannot be done, for a reason that the message tells a person. Ends the command with exit code 1. */
export class CommandError extends OperatorError {}

/** The arguments of a command, checked against its declaration. */
export interface CommandInput {
  /** Throws if the command declares no such positional. The parser has checked that required ones are there. */
  positional(name: string): string;
  optionalPositional(name: string): string | null;
  option(name: string): string | null;
  options(name: string): readonly string[];
  flag(name: string): boolean;
}

export const jsonOption: OptionSpec = { summary: 'print JSON' };

export const configOption: OptionSpec = {
  value: 'FILE',
  summary: 'the configuration (else $LOWWATER_CONFIG, ./config.json, /etc/lowwater/config.json)',
};

const serverOption: OptionSpec = {
  value: 'URL',
  summary:
    'a running daemon, with its token in $LOWWATER_TOKEN; needs no configuration (else $LOWWATER_SERVER)',
};

/** The options of a command, including `--config` if it reads the configuration, but not `--help`, which all have. */
export function optionsOf(command: Command): Readonly<Record<string, OptionSpec>> {
  const own = command.options ?? {};
  if (command.usesConfiguration === false) return own;
  return { ...own, config: configOption, ...(command.asksDaemon === true ? { server: serverOption } : {}) };
}
