import type { EntryProblem } from '../kind.ts';
import { placeholdersIn } from './placeholders.ts';
import type { AskDescription } from './prepare-request.ts';

/** Placeholders that stand for nothing where they are: a step that comes later or not at all, a token that nobody asks for. */
export function findMisplaced({ request, sign = {}, token }: AskDescription): readonly EntryProblem[] {
  const problems: EntryProblem[] = [];
  const known = new Set<string>();
  const look = (path: readonly string[], value: unknown, isKnown: (name: string) => boolean): void => {
    const wrong = placeholdersIn(JSON.stringify(value)).find(
      (name) => !name.startsWith('credentials.') && !isKnown(name),
    );
    if (wrong !== undefined) problems.push({ path, message: `{{${wrong}}} stands for nothing here` });
  };
  const isToken = (name: string) => name === 'token' && token !== undefined;
  if (token !== undefined) look(['token', 'request'], token.request, () => false);
  const inAddress = placeholdersIn(request.url).filter((name) => name.startsWith('sign.'));
  for (const [name, step] of Object.entries(sign)) {
    const isWhole = inAddress.every((each) => known.has(each));
    look(
      ['sign', name],
      step,
      (each) => known.has(each) || isToken(each) || (isWhole && each.startsWith('request.')),
    );
    known.add(`sign.${name}`);
    if ('headers' in step) known.add(`sign.${name}.names`);
  }
  look(['request'], request, (each) => known.has(each) || isToken(each));
  if (token !== undefined && !placeholdersIn(JSON.stringify([request, sign])).includes('token'))
    problems.push({ path: ['token'], message: 'is not used: the request must hold {{token}}' });
  return problems;
}
