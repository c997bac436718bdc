import { isSound } from '../domain/addresses.ts';
import { OperatorError } from '../domain/operator-error.ts';
import { ownOf } from '../domain/own.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in either case; the lower one wins, as in curl. Null
 * where no proxy is named, an empty text where one is not set. This machine is never reached through a proxy: that is for the caller to see to.
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
