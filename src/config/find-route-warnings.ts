import type { Matcher } from '../domain/rule.ts';
import type { Settings } from '../domain/settings.ts';
import { listWords } from '../wording/lists.ts';
import type { Spot } from './draft.ts';

/** Alerts that no route matches, routes and channels that nothing would reach, and labels that no account has. */
export function findRouteWarnings(file: Spot, settings: Settings): void {
  if (file.at('routes').items().length > 0) warnOfGaps(file.at('routes'), settings);
  warnOfUnused(file.at('channels'), settings);
  warnOfLabels(file, settings);
}

function warnOfGaps(list: Spot, { routes }: Settings): void {
  const catchAll = routes.findIndex((route) => matchesAll(route.match) && !route.continue);
  if (catchAll === -1 && !routes.some((route) => matchesAll(route.match)))
    list.report('an alert that no route matches goes to every channel; end with a route without match');
  if (catchAll !== -1 && catchAll < routes.length - 1)
    list
      .at(catchAll + 1)
      .report('is never reached: the route before it takes everything and does not continue');
}

function matchesAll(match: Matcher): boolean {
  return Object.entries(match).every(([key, value]) => key === 'labels' && Object.keys(value).length === 0);
}

function warnOfUnused(list: Spot, { routes, reports, channels }: Settings): void {
  const used = new Set([
    ...routes.flatMap((route) => [...route.channels, ...(route.escalate?.channels ?? [])]),
    ...reports.flatMap((report) => report.channels),
  ]);
  for (const { name } of channels)
    if (!used.has(name)) list.at(name).report('no route and no report uses this channel');
}

function warnOfLabels(file: Spot, settings: Settings): void {
  const names = new Set(settings.accounts.flatMap((account) => Object.keys(account.labels)));
  for (const section of ['rules', 'routes', 'silences'] as const)
    for (const [index, item] of file.at(section).items().entries())
      for (const [label, values] of Object.entries(settings[section][index]?.match?.labels ?? {})) {
        const spot = item.at('match', 'labels', label);
        const known = names.size === 0 ? '' : `; there is ${listWords([...names].slice(0, 10), 'and')}`;
        const isSeen = settings.accounts.some(
          ({ labels }) => Object.hasOwn(labels, label) && values.includes(labels[label] ?? ''),
        );
        if (!names.has(label)) spot.report(`no account has this label${known}`);
        else if (!isSeen) spot.report('no account has this label with such a value');
      }
}
