import type { Call } from './call.ts';
import { type Reply, RequestError } from './reply.ts';

/**
 * Who may call a route.
 * - `open`: anybody.
 * - `page`, `api`: whoever is signed in or brings the token, when there is a token. A page sends people to
 *   the sign-in instead. A changing method is refused to other sites' pages, whatever the access.
 */
export type Access = 'open' | 'page' | 'api';

export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Segments in braces are parameters: `/api/v1/accounts/{id}`. */
  readonly pattern: string;
  readonly access: Access;
  readonly handle: (call: Call) => Reply | Promise<Reply>;
}

export interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds routes by method and path. Throws a `RequestError` for a path or a method that nobody serves. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Found {
  const fixed = new Map<string, Route[]>();
  const patterned: { readonly expression: RegExp; readonly route: Route }[] = [];
  for (const route of routes) {
    if (route.pattern.includes('{')) patterned.push({ expression: compilePattern(route.pattern), route });
    else fixed.set(route.pattern, [...(fixed.get(route.pattern) ?? []), route]);
  }
  return (method, path) => {
    const candidates: Found[] = (fixed.get(path) ?? []).map((route) => ({ route, params: {} }));
    if (candidates.length === 0) {
      for (const { expression, route } of patterned) {
        const groups = expression.exec(path)?.groups;
        if (groups !== undefined) candidates.push({ route, params: decodeParams(groups) });
      }
    }
    return chooseMethod(candidates, method);
  };
}

function chooseMethod(candidates: readonly Found[], method: string): Found {
  if (candidates.length === 0) throw new RequestError('not_found', 'There is nothing at this address.');
  const found = candidates.find(({ route }) => route.method === method);
  if (found !== undefined) return found;
  const allowed = [...new Set(candidates.map(({ route }) => route.method))];
  const allow = allowed.includes('GET') ? ['HEAD', ...allowed] : allowed;
  throw new RequestError('method_not_allowed', `This address takes ${allow.join(', ')}.`, {
    allow: allow.join(', '),
  });
}

function compilePattern(pattern: string): RegExp {
  const segments = pattern.split('/').map((segment) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    return name === undefined ? segment.replaceAll('.', '\\.') : `(?<${name}>[^/]+)`;
  });
  return new RegExp(`^${segments.join('/')}$`);
}

function decodeParams(groups: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeSegment(value)]));
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new RequestError('bad_request', 'The address holds a broken percent sign.');
  }
}
