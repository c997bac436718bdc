import { constants, existsSync } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { formatMoney } from '../../domain/money.ts';
import { type ConfigProblem, OperatorError } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanText, plural } from '../../domain/plain-text.ts';
import type { Settings } from '../../domain/settings.ts';
import { balanceName } from '../../wording/quantity-wording.ts';
import { type Command, exitCodes, jsonOption } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { loadConfiguration, printProblems, printWarnings } from '../load-configuration.ts';
import { withReader } from '../open-reader.ts';
import { printJson, type Style } from '../terminal/output.ts';

export const validateCommand: Command = {
  name: 'validate',
  summary: 'check the configuration and print it as understood',
  details: `Prints accounts, rules, channels and routes with every default filled in; secrets are hidden. Exits with 2 and every
problem, each with its path and line, when the file is not valid. --json prints the same tree as JSON. More than 20 accounts are
summed up; --full prints all of them.`,
  options: { json: jsonOption, full: { summary: 'print every account and setting, however many there are' } },
  run: async (context, input) => {
    const loaded = await loadConfiguration(context, input);
    await printWarnings(context, loaded);
    const { file, settings } = loaded;
    const { path } = settings.storage;
    const unusable = path === undefined ? null : await findUnusable(path);
    if (unusable !== null) {
      const { readDraft } = await import('../../config/read-draft.ts');
      const { draft } = (await readDraft({ path: file, env: context.env })).gathered;
      const place = draft?.placeOf(['storage', 'path']) ?? { path: 'storage.path', line: null };
      return printProblems(context, file, [{ ...place, message: unusable }]);
    }
    const { style } = context.stderr;
    const unwatched = [...findMissingFolder(path), ...(await findUnwatched(context, settings))];
    for (const { message } of unwatched)
      await context.stderr.write(`${style.yellow('warning')}: ${message}\n`);
    const warnings = [...loaded.warnings, ...unwatched];
    const { describeSettings } = await import('../../config/describe-settings.ts');
    const { accountsInFull, summarizeDescription } = await import('../../config/summarize-settings.ts');
    const description = describeSettings(settings, warnings);
    if (input.flag('json')) {
      await printJson(context, description);
      return exitCodes.ok;
    }
    const { stdout } = context;
    // Left out, because the warnings were printed on standard error.
    const { warnings: _printed, ...whole } = description;
    const isWhole = input.flag('full') || settings.accounts.length <= accountsInFull;
    await stdout.write(formatTree(isWhole ? whole : summarizeDescription(description), stdout.style, 0));
    if (!isWhole) await stdout.write(`\n${stdout.style.dim('--full prints every account and setting')}\n`);
    const counts = `${plural(settings.accounts.length, 'account')}, ${plural(settings.rules.length, 'rule')}, ${plural(settings.channels.length, 'channel')}`;
    await stdout.write(`\n${stdout.style.green(`${file} is valid`)}: ${counts}\n`);
    return exitCodes.ok;
  },
};

/** Why `run` would refuse the database, as far as that shows without opening it; null if nothing is wrong, or if it does not exist yet. */
async function findUnusable(path: string): Promise<string | null> {
  const directory = dirname(path);
  if (!existsSync(directory)) return null;
  if (!(await mayUse(directory, constants.X_OK))) return `${directory} cannot be used by this user`;
  const { findMisplacement } = await import('../../store/sqlite/file-system.ts');
  const misplaced = findMisplacement(path);
  if (misplaced !== null) return `database ${path}${misplaced}`;
  const stats = await stat(path).catch(() => null);
  const place = stats === null ? directory : path;
  if (!(await mayUse(place, constants.W_OK))) return `${place} cannot be written by this user`;
  if (stats === null || stats.size === 0) return null;
  const head = Buffer.alloc(sqliteHead.length);
  const opened = await open(path);
  await opened.read(head, 0, head.length, 0).finally(() => opened.close());
  return head.toString('latin1') === sqliteHead
    ? null
    : 'is another file, and no database; it is left as it is';
}

function mayUse(place: string, mode: number): Promise<boolean> {
  return access(place, mode).then(
    () => true,
    () => false,
  );
}

/** The first bytes of every SQLite file (https://www.sqlite.org/fileformat.html, 1.3). */
const sqliteHead = 'SQLite format 3\0';

/** Only a warning, because the folder may exist on the machine on which the daemon runs. */
function findMissingFolder(path: string | undefined): readonly ConfigProblem[] {
  if (path === undefined || existsSync(dirname(path))) return [];
  const message = `storage.path: the folder ${dirname(path)} is not on this machine: "lowwater run" needs it`;
  return [{ path: 'storage.path', line: null, message }];
}

/** Balances with a reading other than 0 in the database that no rule watches. */
async function findUnwatched(context: CommandContext, settings: Settings): Promise<readonly ConfigProblem[]> {
  const { path } = settings.storage;
  if (path === undefined || !existsSync(path)) return [];
  const { rulesForAccount } = await import('../../rules/rules-for-account.ts');
  try {
    const { accounts } = await withReader(context, settings.storage, (reader) => reader.load());
    const readings = new Map(accounts.map(({ account, reading }) => [account, reading]));
    return settings.accounts.flatMap((account) => {
      const reading = readings.get(account.id) ?? null;
      const watched = new Set(rulesForAccount(settings, account).map(({ balance }) => balance));
      return account.balances.flatMap(({ id, label }) => {
        const micros = ownOf(reading?.balances, id) ?? 0;
        if (micros === 0 || watched.has(id)) return [];
        const message = `no rule watches the ${balanceName(label)} of ${account.id}, last read as ${formatMoney(micros)}: rules for it say "balance": "${id}"`;
        return [{ path: 'rules', line: null, message }];
      });
    });
  } catch (error) {
    // Only the configuration is checked here. `run` reports what is wrong with the database.
    if (error instanceof OperatorError) return [];
    throw error;
  }
}

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

export const schemaCommand: Command = {
  name: 'schema',
  summary: 'print the JSON Schema of the configuration',
  details: 'Name it in the configuration as "$schema", and editors complete and check the file as you type.',
  usesConfiguration: false,
  examples: ['lowwater schema > config.schema.json'],
  run: async (context) => {
    const { editorJsonSchema } = await import('../../config/json-schema.ts');
    await context.stdout.write(`${JSON.stringify(editorJsonSchema(), null, 1)}\n`);
    return exitCodes.ok;
  },
};
