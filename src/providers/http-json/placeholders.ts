/** `{{credentials.name}}`, wherever a text of a request may hold it. */
const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g;

const prefix = 'credentials.';
const namePattern = /^[a-zA-Z][\w-]{0,62}$/;

/** The names of the credentials that a text asks for, in order. */
export function credentialsIn(text: string): readonly string[] {
  return placeholdersIn(text).flatMap((name) => (isCredential(name) ? [name.slice(prefix.length)] : []));
}

/** True where a text holds a placeholder that is not `{{credentials.<name>}}`. */
export function hasUnknownPlaceholder(text: string): boolean {
  return placeholdersIn(text).some((name) => !isCredential(name));
}

/** The text with each credential in it as `write` puts it. */
export function fillPlaceholders(text: string, write: (name: string) => string): string {
  return text.replace(placeholder, (_, name: string) => write(name.slice(prefix.length)));
}

function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name);
}

function isCredential(name: string): boolean {
  return name.startsWith(prefix) && namePattern.test(name.slice(prefix.length));
}
