import type { CommandContext } from './context.ts';

/** One JSON document on standard output: indented for a person, on one line for a program. */
export async function printJson(context: CommandContext, value: unknown): Promise<void> {
  await context.stdout.write(`${JSON.stringify(value, null, context.stdout.isTerminal ? 2 : undefined)}\n`);
}
