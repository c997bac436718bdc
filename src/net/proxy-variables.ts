import { isSound } from '../domain/addresses.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { ownOf } from '../domain/own.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` in either case; the lower case wins, as in curl. Null if no proxy is named; a variable
 * that is not set gives an empty text. The caller has to see to it that this machine is never reached through a proxy.
 *
 * Throws `OperatorError` when a variable holds no address; the error names the variable and never its value.
 */
export function readProxyVariables(environment: Environment) {
  const httpsProxy = readProxy('HTTPS_PROXY', environment);
  const httpProxy = readProxy('HTTP_PROXY', environment);
  if (httpsProxy === '' && httpProxy === '') return null;
  return { httpsProxy, httpProxy, noProxy: environment.no_proxy ?? environment.NO_PROXY ?? '' };
}

/** An address without a scheme means http, as in curl. */
function readProxy(name: string, environment: Environment): string {
  const value = (ownOf(environment, name.toLowerCase()) ?? ownOf(environment, name) ?? '').trim();
  const address = value === '' || value.includes('://') ? value : `http://${value}`;
  if (address !== '' && !(/^(?:https?|socks5?):\/\//i.test(address) && isSound(address)))
    throw new OperatorError(
      `the environment variable ${name} does not hold the address of a proxy; a % of its credentials is written %25`,
    );
  return address;
}
