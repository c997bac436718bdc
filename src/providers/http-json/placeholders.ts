import type { EntryProblem } from '../kind.ts';
import type { AskDescription } from './prepare-request.ts';

/** `{{credentials.name}}`, `{{sign.step}}` or `{{token}}`, wherever a text of a request may hold it; `{{request.part}}` in what is signed. */
const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** What may be signed of a request, as it is sent. */
const requestParts = 'method|url|host|hostname|path|pathWithSlash|query|body';

const known = new RegExp(
  `^(?:credentials\\.[a-zA-Z][\\w-]{0,62}|sign\\.[a-zA-Z][\\w-]{0,62}(?:\\.names)?|token|request\\.(?:${requestParts}))$`,
);

const prefix = 'credentials.';

/** The names of the credentials that a text asks for, in order. */
export function credentialsIn(text: string): readonly string[] {
  return placeholdersIn(text).flatMap((name) =>
    name.startsWith(prefix) && known.test(name) ? [name.slice(prefix.length)] : [],
  );
}

/** True where a text holds a placeholder that stands for nothing anywhere. */
export function hasUnknownPlaceholder(text: string): boolean {
  return placeholdersIn(text).some((name) => !known.test(name));
}

/** The text with each placeholder in it as `write` puts it. */
export function fillPlaceholders(text: string, write: (name: string) => string): string {
  return text.replace(placeholder, (_, name: string) => write(name));
}

export function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name);
}

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
