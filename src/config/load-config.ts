import { listProxySecrets, listSecretTexts } from '../daemon/known-secrets.ts';
import { inTurns } from '../daemon/slices.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import { accountsAtOnce, atOnce, inParts, type Parts } from '../domain/parts.ts';
import { plural } from '../domain/plain-text.ts';
import { Secret } from '../domain/secret.ts';
import type { Settings } from '../domain/settings.ts';
import { loadLanguagesOf } from '../languages/load-language.ts';
import type { WatchedSource } from '../ports/watched-source.ts';
import { buildSettings } from './build-settings.ts';
import { checkShape } from './check-shape.ts';
import { checkAddresses, checkChannels, checkLimits, checkNames, checkRules } from './checks/check-keys.ts';
import { checkMoney } from './checks/check-money.ts';
import { checkProviders } from './checks/check-providers.ts';
import { checkReferences } from './checks/check-references.ts';
import { type CronCheck, checkPayDays, checkSchedules } from './checks/check-schedules.ts';
import { checkThresholds } from './checks/check-thresholds.ts';
import { type Draft, Position } from './draft.ts';
import { findWarnings } from './find-warnings.ts';
import { type Gathered, type Reading, readDraft } from './read-draft.ts';
import { type Judge, salvage } from './salvage.ts';

export interface LoadRequest extends CronCheck, Reading {
  /** The settings in force: parts that did not change are reused (`keepUnchanged`). */
  readonly before?: Settings;
}

export type LoadedConfig =
  | {
      readonly kind: 'loaded';
      readonly settings: Settings;
      /** Every text that must not leave the process, except those of accounts that did not change. */
      readonly secrets: readonly string[];
      /** Allowed, but perhaps not meant. They are computed when this is run, by those who show them. */
      readonly warnings: Parts<readonly ConfigProblem[]>;
    }
  | {
      readonly kind: 'invalid';
      readonly problems: readonly ConfigProblem[];
    };

/**
 * Reads a configuration file: text, JSON with lines, placeholders replaced, checked in all respects at once, settings. Its problems quote no
 * value of the file and none that placeholders put in. `sources` is everything that was read, for the watch.
 */
export async function loadConfigFile(request: LoadRequest): Promise<{
  readonly loaded: LoadedConfig;
  readonly sources: readonly WatchedSource[];
  /** The settings that a file with errors still gives. */
  readonly salvage: () => ReturnType<typeof salvageSettings>;
}> {
  const { gathered, sources } = await readDraft(request);
  const checked = await inTurns(checkAll(gathered, request));
  const loaded = checked.kind === 'loaded' ? await withLanguages(checked) : checked;
  return { loaded, sources, salvage: () => salvageSettings(gathered, request) };
}

/** A running daemon may have no file descriptor left, or its program was replaced on disk: then it keeps the settings in force. */
async function withLanguages(
  loaded: Extract<LoadedConfig, { readonly kind: 'loaded' }>,
): Promise<LoadedConfig> {
  try {
    await loadLanguagesOf(loaded.settings);
    return loaded;
  } catch (error) {
    const message = `its translations cannot be loaded: ${error instanceof Error ? error.message : ''}`;
    return { kind: 'invalid', problems: [{ path: 'language', line: null, message }] };
  }
}

/** Checks of the whole file, in this order. */
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
] as const satisfies readonly ((file: Position, cron: CronCheck) => void)[];

export function* checkAll(gathered: Gathered, request: LoadRequest): Parts<LoadedConfig> {
  const { draft } = gathered;
  if (draft === null || !gathered.isSound) return { kind: 'invalid', problems: gathered.problems };
  const judged = yield* judge(draft, request);
  const problems = [...gathered.problems, ...judged.problems];
  if (judged.config === null || problems.length > 0)
    return { kind: 'invalid', problems: inFileOrder(problems) };
  yield;
  const built = yield* buildSettings(judged.config, { ...request, draft });
  yield;
  checkThresholds(new Position(draft, problems), built);
  if (problems.length > 0) return { kind: 'invalid', problems: inFileOrder(problems) };
  yield;
  const { before } = request;
  const settings = before === undefined ? built : yield* keepUnchanged(before, built);
  yield;
  const secrets = [...(yield* listSecrets(settings, before)), ...listProxySecrets(request.env)];
  return { kind: 'loaded', settings, secrets, warnings: gatherWarnings(draft, settings, request) };
}

function* judge(draft: Draft, request: LoadRequest): Parts<ReturnType<Judge>> {
  const problems: ConfigProblem[] = [];
  const file = new Position(draft, problems);
  // The shape comes first, because it also turns placeholders into the numbers and flags that are expected.
  const config = yield* checkShape(file);
  for (const check of checks) {
    yield;
    check(file, request);
  }
  return { config, problems };
}

/** The settings that a file with errors still gives (`salvage.ts`), and what was lost; null if nothing can be made of it. */
function salvageSettings({ draft, problems }: Gathered, request: LoadRequest) {
  if (draft === null) return null;
  const saved = salvage(draft, (candidate) => atOnce(judge(candidate, request)));
  if (saved === null) return null;
  const settings = atOnce(buildSettings(saved.config, { ...request, draft: saved.draft }));
  const others = [...problems];
  checkThresholds(new Position(saved.draft, others), settings);
  // A key that is written twice is an error, but takes nothing away.
  const lost = others.length === 0 ? saved.lost : saved.lost.add('');
  return { settings, secrets: listSecretTexts(settings), lost };
}

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

/** Reports a warning about many accounts once, at the first of them. */
function* gatherWarnings(
  draft: Draft,
  settings: Settings,
  request: LoadRequest,
): Parts<readonly ConfigProblem[]> {
  const warnings = inFileOrder(yield* findWarnings(draft, settings, request));
  const kindOf = ({ path, message }: ConfigProblem): string =>
    `${path.replace(/^(?:accounts)?\[\d+\]/, 'accounts[]')} ${message}`;
  return [...Map.groupBy(warnings, kindOf).values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    // In a file of its own, the others may be rules, routes or silences too.
    const count = first.file === undefined ? plural(others.length, 'more account') : `${others.length} more`;
    const more = others.length === 0 ? '' : ` (so do ${count})`;
    return [{ ...first, message: first.message + more }];
  });
}

/** Each problem once, because the check of a value and a check across keys may find the same. */
function inFileOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const found = new Map(problems.map((each) => [`${each.file} ${each.path} ${each.message}`, each]));
  return [...found.values()].toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0));
}

/**
 * `next`, with the accounts and rules of `before` where both are equal: code that follows a change need not search tens of thousands of
 * accounts for the one that differs. Yields between parts, so that other work has its turn.
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

/** Compares values of the types that settings consist of. */
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
