import { nearestWord } from '../domain/nearest-word.ts';
import type { ValueSource } from '../domain/settings.ts';

/** The sources of the values of placeholders. */
export interface InterpolationSources {
  env(name: string): string | undefined;
  /** The names of all variables, for a suggestion. */
  names?(): readonly string[];
  /** A path as it is written in the configuration. */
  file(path: string): FileContent;
}

/** The reason why something cannot be read: a phrase such as "no such file". */
export interface Unread {
  readonly failed: string;
}

export type FileContent = { readonly text: string } | Unread;

/** Files that a pattern names, absolute. */
export type FileList = { readonly paths: readonly string[] } | Unread;

/** The value that one placeholder put in. */
export interface PutIn {
  readonly source: ValueSource;
  readonly text: string;
}

const forms = `use \${env:NAME}, \${env:NAME:-default} or \${file:/path}; $\${ stands for a literal \${`;

/**
 * Replaces `${env:NAME}`, `${env:NAME:-default}` and `${file:path}`; `$${` is a literal `${`.
 *
 * Values that are put in are not searched for placeholders. A variable that is unset or empty needs a default (which may be empty); a file
 * must be readable and not empty, and loses one newline at its end. Messages name the variable or the file, never a value.
 */
export function interpolate(text: string, sources: InterpolationSources) {
  const messages: string[] = [];
  const from: PutIn[] = [];
  let whole = false;
  const result = text.replace(
    // A default may hold pairs of braces. A single brace ends it, or is a part of it.
    /\$\$\{|\$\{((?:[^{}]|\{[^{}]*\})*)\}|\$\{([^}]*)(\}?)/g,
    (found, balanced?: string, other?: string, closing?: string) => {
      const body = balanced ?? other;
      if (body === undefined) return '${';
      whole ||= found.length === text.length;
      const value =
        closing === '' ? { failed: `a placeholder is not closed; ${forms}` } : resolve(body, sources);
      if ('failed' in value) {
        messages.push(value.failed);
        return '';
      }
      from.push(value);
      return value.text;
    },
  );
  if (messages.length > 0) return { kind: 'failed', messages } as const;
  return { kind: 'text', text: result, from, whole } as const;
}

type Resolved = PutIn | Unread;

function resolve(body: string, sources: InterpolationSources): Resolved {
  // The first closing brace would end the outer placeholder, and the rest of it would become part of the value.
  if (body.includes('${')) return { failed: `a placeholder cannot hold another; ${forms}` };
  const variable = /^env:([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(body);
  if (variable?.[1] !== undefined) return resolveVariable(variable[1], variable[2], sources);
  const file = /^file:(.+)$/s.exec(body);
  if (file?.[1] !== undefined) return resolveFile(file[1], sources);
  return { failed: `unknown placeholder; ${forms}` };
}

function resolveVariable(
  name: string,
  fallback: string | undefined,
  sources: InterpolationSources,
): Resolved {
  const value = sources.env(name);
  const source = { kind: 'environment', name } as const;
  if (value !== undefined && value !== '') return { text: value, source };
  if (fallback !== undefined) return { text: fallback, source };
  const meant = value === '' ? null : nearestWord(name, sources.names?.() ?? []);
  const advice = meant === null ? '' : ` (${meant} is)`;
  return {
    failed: `the environment variable ${name} is ${value === '' ? 'empty' : 'not set'}${advice}; set it, or give a default as in \${env:${name}:-default}`,
  };
}

function resolveFile(path: string, sources: InterpolationSources): Resolved {
  const shown = JSON.stringify(path);
  const content = sources.file(path);
  if ('failed' in content) return { failed: `the file ${shown} cannot be read: ${content.failed}` };
  const text = content.text.replace(/\r?\n$/, '');
  return text === '' ? { failed: `the file ${shown} is empty` } : { text, source: { kind: 'file', path } };
}
