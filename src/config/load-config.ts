import { dirname, resolve } from 'node:path';
import { listSecretTexts } from '../daemon/known-secrets.ts';
import { inTurns } from '../daemon/slices.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { ownOf } from '../domain/own.ts';
import { atOnce, inParts, type Parts } from '../domain/parts.ts';
import { plural } from '../domain/plain-text.ts';
import { Secret } from '../domain/secret.ts';
import type { Settings } from '../domain/settings.ts';
import { loadLanguagesOf } from '../languages/load-language.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import { buildSettings, type Surroundings } from './build-settings.ts';
import { checkShape } from './check-shape.ts';
import { checkAddresses, checkChannels, checkLimits, checkNames, checkRules } from './checks/check-keys.ts';
import { checkMoney } from './checks/check-money.ts';
import { checkProviders } from './checks/check-providers.ts';
import { checkReferences } from './checks/check-references.ts';
import { type CronCheck, checkPayDays, checkSchedules } from './checks/check-schedules.ts';
import { checkThresholds } from './checks/check-thresholds.ts';
import { type Draft, draftDocument, Spot } from './draft.ts';
import { findWarnings } from './find-warnings.ts';
import { includeFiles, type ListFiles } from './include-files.ts';
import type { FileContent, FileList } from './interpolate.ts';
import { parseDocument } from './parse-document.ts';
import { type Judge, salvage } from './salvage.ts';
import { largestDocumentBytes, largestValueBytes, listFileSource, readFileSource } from './sources.ts';

export interface LoadRequest extends CronCheck {
  /** The configuration file; other paths in it are relative to where it lies. */
  readonly path: string;
  /** Reads an absolute path; more than `maxBytes` is refused. */
  readonly readFile: (path: string, maxBytes: number) => FileContent;
  readonly listFiles: (pattern: string) => FileList;
  /** For placeholders, and `LOWWATER_DATA`: the folder of the database where the file names none. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What is in force: of it remains what is as it was (`keepUnchanged`). */
  readonly before?: Settings;
}

export type LoadedConfig =
  | {
      readonly kind: 'loaded';
      readonly settings: Settings;
      /** Every text that must not leave the process, but those of accounts that are as they were before. */
      readonly secrets: readonly string[];
      /** Allowed, but perhaps not meant: looked for once this is run, by those who show it. */
      readonly warnings: Parts<readonly ConfigProblem[]>;
    }
  | {
      readonly kind: 'invalid';
      readonly problems: readonly ConfigProblem[];
    };

/**
 * Reads a configuration file: text, JSON with lines, placeholders replaced, checked in all respects at once, settings. Nothing that it
 * says quotes a value of the file or of what placeholders put in. The disk is read without holding anything up; `sources` are all that
 * was read, for the watch. What has to be read shows in what was read before: it gathers until nothing is left to read, then judges once.
 */
export async function loadConfigFile(request: Checking): Promise<{
  readonly loaded: LoadedConfig;
  readonly sources: readonly WatchedSource[];
  /** Of a file with errors: what it says all the same. */
  readonly salvage: () => ReturnType<typeof salvageSettings>;
}> {
  const sources: WatchedSource[] = [];
  const files = new Map<string, FileContent>();
  const lists = new Map<string, FileList>();
  for (;;) {
    const unread = new Map<string, number>();
    const unlisted = new Set<string>();
    const gathering = gather({
      ...request,
      readFile(path, maxBytes) {
        if (!files.has(path)) unread.set(path, maxBytes);
        return files.get(path) ?? notYet;
      },
      listFiles(pattern) {
        if (!lists.has(pattern)) unlisted.add(pattern);
        return lists.get(pattern) ?? notYet;
      },
    });
    const gathered = await inTurns(gathering);
    if (unread.size + unlisted.size === 0) {
      const loaded = await inTurns(checkAll(gathered, request));
      if (loaded.kind === 'loaded') await loadLanguagesOf(loaded.settings);
      return { loaded, sources, salvage: () => salvageSettings(gathered, request) };
    }
    for (const [path, maxBytes] of unread) {
      const { content, source } = await readFileSource(path, maxBytes);
      files.set(path, content);
      sources.push(source);
    }
    for (const pattern of unlisted) {
      const { content, source } = await listFileSource(pattern);
      lists.set(pattern, content);
      sources.push(source);
    }
  }
}

const notYet = { kind: 'failed', reason: 'not read yet' } as const;

/** The file as data, and what is wrong with it as such; a null draft where nothing can be made out. */
interface Gathered {
  readonly draft: Draft | null;
  /** False where it is not JSON: the draft is what can be made out of it. */
  readonly isSound: boolean;
  readonly problems: readonly ConfigProblem[];
}

export function* gather({ path, readFile, listFiles, env }: GatherRequest): Parts<Gathered> {
  const directory = dirname(resolve(path));
  const file = readFile(path, largestDocumentBytes);
  if (file.kind === 'failed') {
    const message = `the configuration file ${JSON.stringify(path)} cannot be read: ${file.reason}`;
    return { draft: null, isSound: false, problems: [{ path: '', line: null, message }] };
  }
  const { document, isSound, problems } = parseDocument(file.text);
  if (document === null) return { draft: null, isSound, problems };
  const files: ListFiles = {
    env: (name) => ownOf(env, name),
    names: () => Object.keys(env),
    file: (name) => readFile(resolve(directory, name), largestValueBytes),
    list: (pattern) => listFiles(resolve(directory, pattern)),
    document: (name) => readFile(name, largestDocumentBytes),
  };
  const main = draftDocument(document, files);
  yield;
  const whole = yield* includeFiles(main.draft, files);
  // Of a file that is not JSON only that is reported: what is missing mostly follows from it.
  const others = isSound ? [...main.problems, ...whole.problems] : [];
  return { draft: whole.draft, isSound, problems: [...problems, ...others] };
}

type GatherRequest = Pick<LoadRequest, 'path' | 'readFile' | 'listFiles' | 'env'>;

/** Held against the whole, in this order. */
const checks = [
  checkNames,
  checkReferences,
  checkRules,
  checkSchedules,
  checkPayDays,
  checkMoney,
  checkAddresses,
  checkProviders,
  checkChannels,
  checkLimits,
] as const satisfies readonly ((file: Spot, cron: CronCheck) => void)[];

export function* checkAll(gathered: Gathered, request: Checking): Parts<LoadedConfig> {
  const { draft } = gathered;
  if (draft === null || !gathered.isSound) return { kind: 'invalid', problems: gathered.problems };
  const judged = yield* judge(draft, request);
  const problems = [...gathered.problems, ...judged.problems];
  if (judged.config === null || problems.length > 0)
    return { kind: 'invalid', problems: inFileOrder(problems) };
  yield;
  const built = yield* buildSettings(judged.config, surroundingsOf(draft, request));
  yield;
  checkThresholds(new Spot(draft, problems), built);
  if (problems.length > 0) return { kind: 'invalid', problems: inFileOrder(problems) };
  yield;
  const { before } = request;
  const settings = before === undefined ? built : yield* keepUnchanged(before, built);
  yield;
  const secrets = yield* listSecrets(settings, before);
  return { kind: 'loaded', settings, secrets, warnings: gatherWarnings(draft, settings, request) };
}

type Checking = Omit<LoadRequest, 'readFile' | 'listFiles'>;

function* judge(draft: Draft, request: Checking): Parts<ReturnType<Judge>> {
  const problems: ConfigProblem[] = [];
  const file = new Spot(draft, problems);
  // The shape comes first: it also turns placeholders into numbers and flags where such are asked for.
  const config = yield* checkShape(file);
  for (const check of checks) {
    yield;
    check(file, request);
  }
  return { config, problems };
}

function surroundingsOf(draft: Draft, { path, env }: Checking): Surroundings {
  const directory = dirname(resolve(path));
  return { directory, dataDirectory: resolve(env.LOWWATER_DATA || directory), draft };
}

/** What a file with errors still says (`salvage.ts`), and what of it was lost; null where nothing can be made out. */
function salvageSettings({ draft }: Gathered, request: Checking) {
  if (draft === null) return null;
  const saved = salvage(draft, (candidate) => atOnce(judge(candidate, request)));
  if (saved === null) return null;
  const settings = atOnce(buildSettings(saved.config, surroundingsOf(saved.draft, request)));
  return { settings, secrets: listSecretTexts(settings), lost: saved.lost };
}

/** So many accounts are looked through, or compared, at once. */
const accountsAtOnce = 5000;

function* listSecrets({ accounts, ...others }: Settings, before?: Settings): Parts<readonly string[]> {
  const secrets = listSecretTexts(others);
  const known = new Set(before?.accounts);
  for (const part of inParts(accounts, accountsAtOnce)) {
    for (const account of part)
      if (!known.has(account)) for (const text of listSecretTexts(account)) secrets.push(text);
    yield;
  }
  return secrets;
}

/** What holds for many accounts is said once, at the first of them. */
function* gatherWarnings(
  draft: Draft,
  settings: Settings,
  request: Checking,
): Parts<readonly ConfigProblem[]> {
  const warnings = inFileOrder(yield* findWarnings(draft, settings, request));
  const kindOf = ({ path, message }: ConfigProblem): string =>
    `${path.replace(/^(?:accounts)?\[\d+\]/, 'accounts[]')} ${message}`;
  return [...Map.groupBy(warnings, kindOf).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    // In a file of its own it may be a rule, a route or a silence too.
    const count = first.file === undefined ? plural(others.length, 'more account') : `${others.length} more`;
    const more = others.length === 0 ? '' : ` (so do ${count})`;
    return [{ ...first, message: first.message + more }];
  });
}

function inFileOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0));
}

/**
 * `next` with the accounts and the rules of `before` in it where they say the same: whoever follows a change need not look into
 * tens of thousands of accounts for the one that is another. Between its parts others may have their turn.
 */
export function* keepUnchanged(before: Settings, next: Settings): Generator<undefined, Settings> {
  const known = new Map(before.accounts.map((account) => [account.id, account]));
  const accounts: Settings['accounts'][number][] = [];
  for (const account of next.accounts) {
    if (accounts.length % accountsAtOnce === 0) yield;
    const old = known.get(account.id);
    accounts.push(old !== undefined && saysSame(old, account) ? old : account);
  }
  const rules = saysSame(before.rules, next.rules) ? before.rules : next.rules;
  return { ...next, accounts, rules };
}

/** Of values as settings consist of them. */
function saysSame(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (left instanceof Secret) return right instanceof Secret && left.reveal() === right.reveal();
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every(
      (key) => Object.hasOwn(right, key) && saysSame(Reflect.get(left, key), Reflect.get(right, key)),
    )
  );
}
