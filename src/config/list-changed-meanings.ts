import { isLoopbackHost } from '../domain/loopback-host.ts';
import type { Settings } from '../domain/settings.ts';
import { ruleKindOf } from '../rules/registry.ts';
import { formatPath, type Path } from './config-problem.ts';

/** What this configuration meant before 0.2.0 and does not any more, each with the line that keeps it. */
export function listChangedMeanings({ rules, server }: Pick<Settings, 'rules' | 'server'>) {
  // Those that are built in come after those of the file.
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

function warning(path: Path, message: string) {
  return { path: formatPath(path), line: null, message };
}
