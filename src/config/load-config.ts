import { dirname, resolve } from 'node:path';
import { listSecretTexts } from '../daemon/known-secrets.ts';
import type { Calendar } from '../domain/ports.ts';
import type { Settings } from '../domain/settings.ts';
import { buildSettings } from './build-settings.ts';
import { checkShape } from './check-shape.ts';
import { checkAddresses } from './checks/check-addresses.ts';
import { checkLimits } from './checks/check-limits.ts';
import { checkNames } from './checks/check-names.ts';
import { checkReferences } from './checks/check-references.ts';
import { checkRules } from './checks/check-rules.ts';
import { checkSchedules, type FindCronProblem } from './checks/check-schedules.ts';
import type { ConfigProblem } from './config-problem.ts';
import { draftDocument } from './draft.ts';
import { findWarnings } from './find-warnings.ts';
import type { FileContent } from './interpolate.ts';
import { parseDocument } from './parse-document.ts';

export interface LoadRequest {
  /** The configuration file; other paths in it are relative to where it lies. */
  readonly path: string;
  readonly readFile: (path: string) => FileContent;
  /** For placeholders, and `LOWWATER_DATA`: the folder of the database where the file names none. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly findCronProblem: FindCronProblem;
  readonly calendar: Calendar;
  /** Milliseconds since 1970: a cron expression must run after it. */
  readonly now: number;
}

export type LoadedConfig =
  | {
      readonly kind: 'loaded';
      readonly settings: Settings;
      /** Every text that must not leave the process, for the scrubber of the log. */
      readonly secrets: readonly string[];
      /** Allowed, but perhaps not meant. */
      readonly warnings: readonly ConfigProblem[];
      /** Absolute paths of the files that placeholders named. */
      readonly watchedFiles: readonly string[];
    }
  | {
      readonly kind: 'invalid';
      /** All of them, in the order of the file. */
      readonly problems: readonly ConfigProblem[];
      readonly watchedFiles: readonly string[];
    };

/**
 * Reads a configuration file: text, JSON with lines, placeholders replaced, checked in all respects at once,
 * settings. Pure apart from the functions that it is given. Nothing that it says quotes a value of the file
 * or of what placeholders put in.
 */
export function loadConfig(request: LoadRequest): LoadedConfig {
  const directory = dirname(resolve(request.path));
  const file = request.readFile(request.path);
  if (file.kind === 'failed') {
    const message = `the configuration file ${JSON.stringify(request.path)} cannot be read: ${file.reason}`;
    return { kind: 'invalid', problems: [{ path: '', line: null, message }], watchedFiles: [] };
  }
  const parsed = parseDocument(file.text);
  if (parsed.kind === 'unreadable') return { kind: 'invalid', problems: parsed.problems, watchedFiles: [] };

  const watched = new Set<string>();
  const { draft, problems: placeholderProblems } = draftDocument(parsed.document, {
    env: (name) => (Object.hasOwn(request.env, name) ? request.env[name] : undefined),
    file: (path) => {
      const absolute = resolve(directory, path);
      watched.add(absolute);
      return request.readFile(absolute);
    },
  });
  const watchedFiles = [...watched];
  // The shape comes first: it also turns placeholders into numbers and flags where such are asked for.
  const shape = checkShape(draft);
  const problems = [
    ...parsed.problems,
    ...placeholderProblems,
    ...shape.problems,
    ...checkNames(draft),
    ...checkReferences(draft),
    ...checkRules(draft),
    ...checkSchedules(draft, request),
    ...checkAddresses(draft),
    ...checkLimits(draft),
  ];
  if (shape.config === null || problems.length > 0) {
    return { kind: 'invalid', problems: inFileOrder(problems), watchedFiles };
  }
  const dataDirectory = resolve(request.env.LOWWATER_DATA || directory);
  const settings = buildSettings(shape.config, { directory, dataDirectory });
  return {
    kind: 'loaded',
    settings,
    secrets: [...new Set(listSecretTexts(settings))],
    warnings: inFileOrder(findWarnings(draft, settings, request)),
    watchedFiles,
  };
}

function inFileOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return problems.toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0));
}
