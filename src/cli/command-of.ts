/** The command among the words of a command line: nothing but `--config` stands before it. */
export function commandOf([first, ...rest]: readonly string[]): string | undefined {
  if (first === '--config') return rest[1];
  return first?.startsWith('--config=') ? rest[0] : first;
}
