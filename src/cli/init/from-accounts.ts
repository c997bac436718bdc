import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checkAll } from '../../config/load-config.ts';
import { gather } from '../../config/read-draft.ts';
import { inTurns } from '../../daemon/slices.ts';
import type { ConfigProblem } from '../../domain/operator-error.ts';
import { ownOf } from '../../domain/own.ts';
import { plural } from '../../domain/plain-text.ts';
import { severities } from '../../domain/severity.ts';
import type { ProviderDescription } from '../../providers/describe-provider.ts';
import { suggestUnread } from '../../rules/registry.ts';
import { cronCalendar as calendar } from '../../system/calendar.ts';
import { UsageError } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { alreadyThere, explainWriting, format } from './new-file.ts';
import { readAccounts, type SheetAccount, type SheetProblem } from './read-accounts.ts';

const folder = 'accounts.d';

/** The most problems that are shown, one screen: a wrong column is wrong in each line. */
const maxProblems = 20;

interface SheetOrder {
  /** The configuration to write. */
  readonly file: string;
  readonly sheet: string;
  readonly kinds: readonly ProviderDescription[];
  /** The parts of the configuration that are not in the spreadsheet. */
  readonly base: object & { readonly channels: object };
  /** A label that has a channel for each of its values; null: every alert goes to every channel. */
  readonly routeBy: string | null;
  /** The lead time for accounts without one of their own; empty if unknown. */
  readonly leadTime: string;
}

/**
 * Writes a configuration with the accounts of a spreadsheet, one file for each kind of provider. Writes nothing if there is any
 * problem, and never over a file. Returns a sentence about what it used.
 */
export async function writeFromAccounts(context: CommandContext, order: SheetOrder): Promise<string> {
  const { file, sheet, kinds, base } = order;
  const directory = join(dirname(file), folder);
  if (existsSync(directory)) throw alreadyThere(directory);
  const { accounts, ...read } = await readAccounts(context, sheet, kinds);
  const problems = [...read.problems];
  const byFile = Map.groupBy(accounts, ({ type }) => join(directory, `${type}.json`));
  const known = order.leadTime === '' ? {} : { leadTime: order.leadTime };
  const entries = entriesOf(accounts, kinds);
  const write = ({ type, url, account }: SheetAccount): object => {
    const entry = entries.find((each) => each.type === type && each.url === url);
    return { ...known, ...account, ...(entry && { provider: entry.name }) };
  };
  const texts = [...byFile].map(([path, its]) => [path, format(its.map(write))] as const);
  const providers = entries.map(({ name, type, url }) => [name, { type, ...(url && { baseUrl: url }) }]);
  const config = {
    ...base,
    ...(providers.length > 0 && { providers: Object.fromEntries(providers) }),
    accounts: { files: `${folder}/*.json` },
    rules: rulesOf(accounts, order.leadTime !== '' || accounts.every(saysLeadTime), problems),
    ...routesOf(accounts, order, problems),
  };
  const whole = new Map([...texts, [file, format(config)]]);
  const found = problems.length > 0 ? [] : await validate(file, whole, context.env);
  const wrong = [...problems, ...found.flatMap((problem) => inSheet(problem, byFile))];
  if (wrong.length > 0) {
    const lines = wrong
      .toSorted((left, right) => left.line - right.line)
      .map(
        ({ line, column, message }) => `${sheet}:${line}: ${column === null ? '' : `${column}: `}${message}`,
      );
    const said = [...new Set(lines)];
    const rest = said.length > maxProblems ? `\nand ${said.length - maxProblems} more` : '';
    throw new UsageError(`nothing was written:\n${said.slice(0, maxProblems).join('\n')}${rest}`);
  }
  explainWriting(directory, () => mkdirSync(directory, { mode: 0o700 }));
  explainWriting(file, () => {
    try {
      for (const [path, text] of whole) writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    } catch (error) {
      rmSync(directory, { recursive: true });
      throw error;
    }
  });
  const files = [...byFile].map(([path, its]) => `${basename(path)} ${its.length}`).join(', ');
  const withThresholds = accounts.filter(({ thresholds }) => Object.keys(thresholds).length > 0).length;
  const own = withThresholds === 0 ? '' : `, ${withThresholds} of them with thresholds of their own`;
  return `${plural(accounts.length, 'account')} taken from ${sheet}${own}: ${folder}/ has ${files}.\n`;
}

function saysLeadTime({ account }: SheetAccount): boolean {
  return 'leadTime' in account;
}

/** A provider entry for each address of a kind; the first has the kind's name. The usual kind needs none: its accounts have their own addresses. */
function entriesOf(accounts: readonly SheetAccount[], [usual]: readonly ProviderDescription[]) {
  const byType = Map.groupBy(accounts, ({ type }) => type);
  byType.delete(usual?.type ?? '');
  return [...byType].flatMap(([type, its]) =>
    [...new Set(its.map(({ url }) => url))].map((url, index) => ({
      name: index === 0 ? type : `${type}-${index + 1}`,
      type,
      url,
    })),
  );
}

/** The rule for low balances. An account's own thresholds override it. For accounts without any, it has the lowest that was given. */
function rulesOf(
  accounts: readonly SheetAccount[],
  hasLeadTime: boolean,
  problems: SheetProblem[],
): readonly object[] {
  const lowest = severities.flatMap((severity) => {
    const given = accounts.flatMap(({ thresholds }) => thresholds[severity] ?? []);
    return given.length === 0 ? [] : [[severity, Math.min(...given)] as const];
  });
  const rule = Object.fromEntries(lowest);
  const words = lowest.map((step) => step.join('=')).join(' ');
  for (const { line, thresholds } of accounts) {
    const ladder = severities.flatMap((severity) => ({ ...rule, ...thresholds })[severity] ?? []);
    const falls = ladder.every((step, place) => place === 0 || step < (ladder[place - 1] ?? step));
    if (!falls && Object.keys(thresholds).length > 0)
      problems.push({
        line,
        column: 'thresholds',
        message: `must fall from info to critical; what it leaves out is ${words} here, the lowest of all lines`,
      });
  }
  return [
    ...(lowest.length === 0 ? [] : [{ id: 'low', type: 'below', thresholds: rule }]),
    suggestUnread({ hasLeadTime }),
  ];
}

function routesOf(
  accounts: readonly SheetAccount[],
  { routeBy, base }: SheetOrder,
  problems: SheetProblem[],
): object {
  if (routeBy === null) return {};
  const lines = new Map<string, number>();
  for (const { line, labels } of accounts) {
    const value = ownOf(labels, routeBy);
    if (value === undefined)
      problems.push({ line, column: 'labels', message: `lacks "${routeBy}", by which messages are routed` });
    else if (!lines.has(value)) lines.set(value, line);
  }
  const channels = Object.keys(base.channels);
  for (const [value, line] of lines)
    if (!channels.includes(value))
      problems.push({ line, column: 'labels', message: `no --channel is called "${value}"` });
  const routes = [...lines.keys()].map((value) => ({
    match: { labels: { [routeBy]: value } },
    channels: [value],
  }));
  // Alerts of no team, such as those about lowwater itself, go to all channels.
  return { routes: [...routes, { channels }] };
}

/** Validates the files as the program would. Whether a key exists and works shows only when the provider is polled. */
async function validate(
  file: string,
  texts: ReadonlyMap<string, string>,
  env: CommandContext['env'],
): Promise<readonly ConfigProblem[]> {
  const named = [...texts.values()].flatMap((text) => [...text.matchAll(/\$\{env:(\w+)\}/g)]);
  const request = {
    path: file,
    env: { ...Object.fromEntries(named.map(([, name]) => [name, 'unset'])), ...env },
    calendar,
    now: 0,
    readFile: (path: string) => ({ text: texts.get(path) ?? 'unread' }),
    listFiles: () => ({ paths: [...texts.keys()].filter((path) => path !== file) }),
  };
  const checked = await inTurns(checkAll(await inTurns(gather(request)), request));
  return checked.kind === 'invalid'
    ? checked.problems.filter(({ path }) => !/credentials|authSecret/.test(path))
    : [];
}

/** The place of a problem in the spreadsheet. Throws if the problem is not about one of its accounts. */
function inSheet(
  { file, path, message }: ConfigProblem,
  byFile: ReadonlyMap<string, readonly SheetAccount[]>,
): SheetProblem {
  const [, index, key = null] = /^\[(\d+)\](?:\.(\w+))?/.exec(path) ?? [];
  const found = byFile.get(file ?? '')?.[Number(index)];
  if (found === undefined) throw new UsageError(`nothing was written: ${path}: ${message}`);
  return { line: found.line, column: key === 'baseUrl' ? 'url' : key, message };
}
