import type { ConfigProblem } from '../domain/operator-error.ts';
import type { Matcher } from '../domain/rule.ts';
import type { Settings } from '../domain/settings.ts';
import { listWords } from '../wording/lists.ts';
import type { Path } from './config-problem.ts';
import { type Draft, itemsAt, problemAt } from './draft.ts';

/** Alerts that no route matches, routes and channels that nothing would reach, and labels that no account has. */
export function findRouteWarnings(draft: Draft, settings: Settings): ConfigProblem[] {
  return [...warnOfGaps(draft, settings), ...warnOfUnused(draft, settings), ...warnOfLabels(draft, settings)];
}

function warnOfGaps(draft: Draft, settings: Settings): ConfigProblem[] {
  if (itemsAt(draft, ['routes']).length === 0) return [];
  const catchAll = settings.routes.findIndex((route) => matchesAll(route.match) && !route.continue);
  if (catchAll === -1 && !settings.routes.some((route) => matchesAll(route.match))) {
    return [
      problemAt(
        draft,
        ['routes'],
        'an alert that no route matches goes to every channel; end with a route without match',
      ),
    ];
  }
  if (catchAll === -1 || catchAll === settings.routes.length - 1) return [];
  return [
    problemAt(
      draft,
      ['routes', catchAll + 1],
      'is never reached: the route before it takes everything and does not continue',
    ),
  ];
}

function matchesAll(match: Matcher): boolean {
  return Object.entries(match).every(([key, value]) => key === 'labels' && Object.keys(value).length === 0);
}

function warnOfUnused(draft: Draft, settings: Settings): ConfigProblem[] {
  const used = new Set([
    ...settings.routes.flatMap((route) => [...route.channels, ...(route.escalate?.channels ?? [])]),
    ...settings.reports.flatMap((report) => report.channels),
  ]);
  return settings.channels
    .filter((channel) => !used.has(channel.name))
    .map((channel) =>
      problemAt(draft, ['channels', channel.name], 'no route and no report uses this channel'),
    );
}

function warnOfLabels(draft: Draft, settings: Settings): ConfigProblem[] {
  const places: { readonly path: Path; readonly match: Matcher | undefined }[] = [
    ...itemsAt(draft, ['rules']).map((path, index) => ({ path, match: settings.rules[index]?.match })),
    ...itemsAt(draft, ['routes']).map((path, index) => ({ path, match: settings.routes[index]?.match })),
    ...itemsAt(draft, ['silences']).map((path, index) => ({ path, match: settings.silences[index]?.match })),
  ];
  const names = new Set(settings.accounts.flatMap((account) => Object.keys(account.labels)));
  return places.flatMap(({ path, match }) =>
    Object.entries(match?.labels ?? {}).flatMap(([label, values]) => {
      const place = [...path, 'match', 'labels', label];
      if (!names.has(label)) {
        const known = names.size === 0 ? '' : `; there is ${listWords([...names].slice(0, 10), 'and')}`;
        return [problemAt(draft, place, `no account has this label${known}`)];
      }
      const isSeen = settings.accounts.some(
        ({ labels }) => Object.hasOwn(labels, label) && values.includes(labels[label] ?? ''),
      );
      return isSeen ? [] : [problemAt(draft, place, 'no account has this label with such a value')];
    }),
  );
}
