import { isLoopbackHost } from '../domain/addresses.ts';
import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Settings } from '../domain/settings.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { formatPath, type Path } from './config-problem.ts';

/**
 * Parts of this configuration that meant something else to the program that made a database, each with the line that keeps the old meaning.
 * `schema` is the number of the database's newest migration: 1 is that of 0.1, 2 that of 0.2.
 */
export function listChangedMeanings(
  settings: Pick<Settings, 'rules' | 'server' | 'routes'>,
  schema: number,
): readonly ConfigProblem[] {
  return [...(schema < 2 ? listSinceFirst(settings) : []), ...(schema < 3 ? listReminders(settings) : [])];
}

function listSinceFirst({ rules, server }: Pick<Settings, 'rules' | 'server'>): ConfigProblem[] {
  // Built-in rules come after those of the file, so the index is that of the file.
  const ofRules = rules.flatMap((rule, index) => {
    const found = rule.builtIn ? null : (ruleKindOf(rule).meantBefore?.(rule) ?? null);
    return found === null ? [] : [warning(['rules', index, ...found.path], found.message)];
  });
  const isScraped =
    server !== null && server.token !== null && !isLoopbackHost(server.host) && !server.openMetrics;
  if (!isScraped) return ofRules;
  const message = '/metrics asks for the token since 0.2.0: "openMetrics": true keeps it open to everybody';
  return [...ofRules, warning(['server', 'openMetrics'], message)];
}

function listReminders({ routes }: Pick<Settings, 'routes'>): ConfigProblem[] {
  const message =
    'reminders go by severity since 0.3.0 (info never, warning daily, critical every 4 h): "repeatEvery": "4h" keeps the old pace';
  return routes.flatMap(({ repeatEveryMs }, index) =>
    repeatEveryMs === null ? [warning(['routes', index, 'repeatEvery'], message)] : [],
  );
}

function warning(path: Path, message: string): ConfigProblem {
  return { path: formatPath(path), line: null, message };
}
