import type { ConfigProblem } from '../../domain/operator-error.ts';
import { kindOfRuleNamed } from '../../rules/registry.ts';
import { type Draft, itemsAt, problemAt, textAt, valueAt } from '../draft.ts';

/** What holds between the keys of one rule: its kind knows. */
export function checkRules(draft: Draft): ConfigProblem[] {
  return itemsAt(draft, ['rules']).flatMap((rule) => {
    const kind = kindOfRuleNamed(textAt(draft, [...rule, 'type']));
    const problems = kind?.check?.({
      valueAt: (path) => valueAt(draft, [...rule, ...path]),
      isBroken: (path) => draft.isBroken([...rule, ...path]),
    });
    return (problems ?? []).map(({ path, message }) => problemAt(draft, [...rule, ...path], message));
  });
}
