import type { ConfigProblem } from '../../domain/config-problem.ts';
import { parseDuration } from '../../domain/duration.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, itemsAt, keysAt, problemAt, textAt, valueAt } from '../draft.ts';

/** Numbers that must fit to one another across sections. */
export function checkLimits(draft: Draft): ConfigProblem[] {
  return [...checkBackoff(draft), ...checkRetention(draft), ...checkSilences(draft), ...checkStorage(draft)];
}

function checkBackoff(draft: Draft): ConfigProblem[] {
  const entries: Path[] = [['provider'], ...keysAt(draft, ['providers']).map((name) => ['providers', name])];
  return entries.flatMap((entry) => {
    const initial = durationAt(draft, [...entry, 'backoff', 'initial'], '30s');
    const max = durationAt(draft, [...entry, 'backoff', 'max'], '1h');
    if (initial === null || max === null || initial <= max) return [];
    return valueAt(draft, [...entry, 'backoff', 'initial']) === undefined
      ? [problemAt(draft, [...entry, 'backoff', 'max'], 'must not be shorter than initial (30s by default)')]
      : [problemAt(draft, [...entry, 'backoff', 'initial'], 'must not be longer than max (1h by default)')];
  });
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

/** A silence of everything takes one key too: nobody should mute all alerts by leaving something out. */
function checkSilences(draft: Draft): ConfigProblem[] {
  return itemsAt(draft, ['silences']).flatMap((silence) => {
    const match = [...silence, 'match'];
    const keys = keysAt(draft, match).filter(
      (key) => key !== 'labels' || keysAt(draft, [...match, key]).length > 0,
    );
    const isEmpty = typeof valueAt(draft, match) === 'object' && keys.length === 0;
    return isEmpty
      ? [
          problemAt(
            draft,
            [...silence, 'match'],
            'must name what it mutes: account, rule, severity or labels',
          ),
        ]
      : [];
  });
}

function durationAt(draft: Draft, path: Path, fallback: string): number | null {
  if (valueAt(draft, path) === undefined) return parseDuration(fallback);
  const text = textAt(draft, path);
  return text === null ? null : parseDuration(text);
}
