/** The command in the words of a command line. Only `--config` may come before it. */
export function commandOf([first, ...rest]: readonly string[]): string | undefined {
  if (first === '--config') return rest[1];
  return first?.startsWith('--config=') ? rest[0] : first;
}
