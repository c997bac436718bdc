import { isLoopbackHost } from '../../domain/addresses.ts';
import type { ConfigProblem } from '../../domain/operator-error.ts';
import type { Path } from '../config-problem.ts';
import { type Draft, itemsWith, keysAt, problemAt, textAt, valueAt } from '../draft.ts';

/** Secrets must not travel unencrypted, and the page must not be open to everybody, unless the file says so. */
export function checkAddresses(draft: Draft): ConfigProblem[] {
  const own = itemsWith(draft, ['accounts'], 'baseUrl');
  const baseUrls: Path[] = [
    ['provider', 'baseUrl'],
    ...keysAt(draft, ['providers']).map((name) => ['providers', name, 'baseUrl']),
    ...own.map((account) => [...account, 'baseUrl']),
  ];
  return [...baseUrls.flatMap((path) => checkEncrypted(draft, path)), ...checkServer(draft)];
}

function checkEncrypted(draft: Draft, path: Path): ConfigProblem[] {
  const allowed = [...(path[0] === 'providers' ? path.slice(0, 2) : ['provider']), 'allowInsecureHttp'];
  const address = textAt(draft, path);
  if (address === null || valueAt(draft, allowed) === true || draft.isBroken(allowed)) return [];
  const url = URL.parse(address);
  if (url?.protocol !== 'http:' || isLoopbackHost(url.hostname)) return [];
  return [
    problemAt(
      draft,
      path,
      `http:// would send the secret unencrypted to another machine: use https://, or set ${allowed.join('.')} to true`,
    ),
  ];
}

function checkServer(draft: Draft): ConfigProblem[] {
  return [...checkViewer(draft), ...checkListening(draft)];
}

function checkViewer(draft: Draft): ConfigProblem[] {
  const [token = '', viewer = ''] = ['token', 'viewerToken'].map(
    (key) => textAt(draft, ['server', key]) ?? '',
  );
  const path = ['server', 'viewerToken'];
  if (viewer === '' || draft.isBroken(['server', 'token'])) return [];
  if (token === '')
    return [
      problemAt(draft, path, 'is only of use beside server.token: without one everybody may change things'),
    ];
  return token === viewer ? [problemAt(draft, path, 'must differ from server.token')] : [];
}

function checkListening(draft: Draft): ConfigProblem[] {
  const [host, token, allowed] = ['host', 'token', 'allowUnauthenticated'].map((key) => ['server', key]);
  if (host === undefined || token === undefined || allowed === undefined) return [];
  const address = textAt(draft, host);
  if (address === null || isLoopbackHost(address)) return [];
  const isProtected = draft.isBroken(token) || (textAt(draft, token) ?? '') !== '';
  if (isProtected || valueAt(draft, allowed) === true || draft.isBroken(allowed)) return [];
  return [
    problemAt(
      draft,
      host,
      'other machines could use page and API without a token: set server.token, or listen on 127.0.0.1, or set server.allowUnauthenticated to true',
    ),
  ];
}
