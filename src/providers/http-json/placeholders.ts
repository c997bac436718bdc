/** `{{credentials.name}}`, `{{sign.step}}` or `{{token}}` in any text of a request; `{{request.part}}` in texts to sign. */
const placeholder = /\{\{([^{}]*)\}\}/g;

/** The parts of a request that may be signed, as it is sent. */
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

/** Whether a text holds a placeholder that has no meaning anywhere. */
export function hasUnknownPlaceholder(text: string): boolean {
  return placeholdersIn(text).some((name) => !known.test(name));
}

/** The text with each placeholder replaced by what `write` returns. */
export function fillPlaceholders(text: string, write: (name: string) => string): string {
  return text.replace(placeholder, (_, name: string) => write(name.trim()));
}

export function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name.trim());
}
