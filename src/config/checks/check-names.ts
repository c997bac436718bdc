import type { ConfigProblem } from '../../domain/operator-error.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, keysAt, problemAt, textsAt, valueAt } from '../draft.ts';

/** Ids must be unique, and there must be somewhere to send messages to. */
export function checkNames(draft: Draft): ConfigProblem[] {
  return [
    ...findRepeated(draft, ['accounts'], 'account'),
    ...findRepeated(draft, ['rules'], 'rule'),
    ...findRepeated(draft, ['reports'], 'report'),
    ...checkChannelsExist(draft),
  ];
}

function findRepeated(draft: Draft, list: Path, what: string): ConfigProblem[] {
  const first = new Map<string, number>();
  const problems: ConfigProblem[] = [];
  for (const [index, id] of textsAt(draft, list, 'id').entries()) {
    if (id === null) continue;
    const other = first.get(id);
    if (other === undefined) {
      first.set(id, index);
      continue;
    }
    const { file, line } = draft.placeOf([...list, other, 'id']);
    const where = file === undefined ? `in line ${line}` : `in line ${line} of ${file}`;
    const path = [...list, index, 'id'];
    problems.push(problemAt(draft, path, `another ${what} has this id already, ${where}`));
  }
  return problems;
}

function checkChannelsExist(draft: Draft): ConfigProblem[] {
  const channels = valueAt(draft, ['channels']);
  const isEmpty =
    typeof channels === 'object' && channels !== null && keysAt(draft, ['channels']).length === 0;
  return isEmpty && !Array.isArray(channels)
    ? [problemAt(draft, ['channels'], 'must hold at least one channel')]
    : [];
}
