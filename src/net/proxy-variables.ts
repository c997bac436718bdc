import { OperatorError } from '../domain/operator-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the proxy variables say, in the form that undici takes; an empty text where one is not set. */
export interface ProxyVariables {
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
}

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in either case; the lower one wins, as in curl. Null
 * where no proxy is named. This machine is never reached through a proxy: that is for the caller to see to.
 *
 * Throws `ProxyVariableError` when a variable holds no address; the error names the variable and never its value.
 */
export function readProxyVariables(environment: Environment): ProxyVariables | null {
  const httpsProxy = readProxy('HTTPS_PROXY', environment);
  const httpProxy = readProxy('HTTP_PROXY', environment);
  if (httpsProxy === '' && httpProxy === '') return null;
  return { httpsProxy, httpProxy, noProxy: environment.no_proxy ?? environment.NO_PROXY ?? '' };
}

/** As in curl, an address without a scheme means http. */
function readProxy(name: string, environment: Environment): string {
  const value = (environment[name.toLowerCase()] ?? environment[name] ?? '').trim();
  const address = value === '' || value.includes('://') ? value : `http://${value}`;
  if (address !== '' && !/^(?:https?|socks5?):\/\//i.test(address)) throw new ProxyVariableError(name);
  if (address !== '' && !URL.canParse(address)) throw new ProxyVariableError(name);
  return address;
}

/** A proxy variable that holds no address. */
export class ProxyVariableError extends OperatorError {
  constructor(name: string) {
    super(`the environment variable ${name} does not hold the address of a proxy`);
    this.name = 'ProxyVariableError';
  }
}
