import { cleanText } from '../../domain/plain-text.ts';
import { plural } from '../../domain/plural.ts';
import { type Command, exitCodes } from '../command.ts';
import { loadConfiguration, printWarnings } from '../load-configuration.ts';
import { printJson } from '../terminal/output.ts';
import type { Style } from '../terminal/style.ts';

export const validateCommand: Command = {
  name: 'validate',
  summary: 'check the configuration and print it as understood',
  details: `Prints accounts, rules, channels and routes with every default filled in; secrets are hidden. Exits with 2 and every
problem, each with its path and line, when the file is not valid. --json prints the same tree as JSON.`,
  options: { json: { summary: 'print JSON' } },
  run: async (context, input) => {
    const loaded = await loadConfiguration(context, input);
    await printWarnings(context, loaded);
    const { file, settings, warnings } = loaded;
    const description = await context.rooms.describeSettings(settings, warnings);
    if (input.flag('json')) {
      await printJson(context, description);
      return exitCodes.ok;
    }
    const { stdout } = context;
    // People have read the warnings on standard error.
    const { warnings: _printed, ...tree } = { warnings: null, ...description };
    await stdout.write(formatTree(tree, stdout.style, 0));
    const counts = `${plural(settings.accounts.length, 'account')}, ${plural(settings.rules.length, 'rule')}, ${plural(settings.channels.length, 'channel')}`;
    await stdout.write(`\n${stdout.style.green(`${file} is valid`)}: ${counts}\n`);
    return exitCodes.ok;
  },
};

/** A plain tree as indented lines: `key: value`, list entries one after another. */
function formatTree(tree: object, style: Style, depth: number): string {
  const indent = '  '.repeat(depth);
  const lines = Object.entries(tree).map(([key, value]) => {
    const name = Array.isArray(tree) ? '-' : `${style.bold(cleanText(key, 80))}:`;
    if (typeof value !== 'object' || value === null) return `${indent}${name} ${formatLeaf(value, style)}\n`;
    if (Object.keys(value).length === 0) return `${indent}${name} ${style.dim('none')}\n`;
    if (isShortList(value))
      return `${indent}${name} ${value.map((item) => formatLeaf(item, style)).join(', ')}\n`;
    const inner = formatTree(value, style, depth + 1);
    return Array.isArray(tree) ? `${indent}- ${inner.trimStart()}` : `${indent}${name}\n${inner}`;
  });
  return lines.join('');
}

function isShortList(value: object): value is readonly unknown[] {
  return Array.isArray(value) && value.every((item) => typeof item !== 'object');
}

function formatLeaf(value: unknown, style: Style): string {
  return value === null || value === undefined ? style.dim('none') : cleanText(String(value), 300);
}
