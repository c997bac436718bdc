import { parseDuration } from '../../domain/duration.ts';
import type { ConfigProblem } from '../../domain/operator-error.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, itemsAt, problemAt, textAt, valueAt } from '../draft.ts';

/** Numbers that must fit to one another across sections. */
export function checkLimits(draft: Draft): ConfigProblem[] {
  return [...checkRetention(draft), ...checkStorage(draft)];
}

/** A rule that looks back further than history is kept would never have enough of it. */
function checkRetention(draft: Draft): ConfigProblem[] {
  const retention = durationAt(draft, ['storage', 'retention'], '400d');
  if (retention === null) return [];
  return itemsAt(draft, ['rules']).flatMap((rule) =>
    ['window', 'lookback'].flatMap((key) => {
      const path = [...rule, key];
      const length = valueAt(draft, path) === undefined ? null : durationAt(draft, path, '0s');
      return length === null || length <= retention
        ? []
        : [problemAt(draft, path, 'must not be longer than storage.retention: older history is deleted')];
    }),
  );
}

/** Everything is in one database, and only PostgreSQL lets several daemons share it. */
function checkStorage(draft: Draft): ConfigProblem[] {
  const postgres = valueAt(draft, ['storage', 'postgres']) !== undefined;
  const path = ['storage', 'path'];
  if (postgres && valueAt(draft, path) !== undefined)
    return [problemAt(draft, path, 'either storage.path or storage.postgres, not both')];
  if (!postgres && valueAt(draft, ['cluster']) !== undefined)
    return [
      problemAt(
        draft,
        ['cluster'],
        'needs storage.postgres.url: a SQLite file has one daemon, which no other takes over from',
      ),
    ];
  return [];
}

function durationAt(draft: Draft, path: Path, fallback: string): number | null {
  if (valueAt(draft, path) === undefined) return parseDuration(fallback);
  const text = textAt(draft, path);
  return text === null ? null : parseDuration(text);
}
