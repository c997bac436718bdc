import type { Micros } from '../domain/money.ts';
import { hourMs } from '../domain/time.ts';
import { type ServiceAddress, startHttpService } from '../net/http-service.ts';
import type { Clock } from '../ports/clock.ts';
import type {
  ProviderKind,
  ProviderSimulation,
  SimulatedBalances,
  SimulatedRequest,
  SimulatedResponse,
} from '../providers/kind.ts';
import { RateWindow } from './account.ts';

interface SimulatedApiOptions extends ServiceAddress {
  readonly simulation: ProviderSimulation;
  readonly accounts: readonly SimulatedBalances[];
  /** Requests per second that are answered; more are refused as too many. */
  readonly requestsPerSecond: number;
  /** The loss of each balance per hour. */
  readonly spentPerHour: Micros;
  readonly clock: Clock;
}

export type SimulatedApi = Awaited<ReturnType<typeof startSimulatedApi>>;

/** The API of a kind of provider over HTTP, for accounts that spend. Rejects if it cannot listen on the address. */
export async function startSimulatedApi(options: SimulatedApiOptions) {
  const { simulation, clock, requestsPerSecond, spentPerHour } = options;
  let { accounts } = options;
  let since = clock.monotonic();
  const limit = new RateWindow(requestsPerSecond);

  function answer(request: SimulatedRequest): SimulatedResponse {
    const account = simulation.identify(request, accounts);
    if (account === null) return simulation.refuseKey(request);
    const now = clock.monotonic();
    if (!limit.take(now)) return simulation.limitRate(request);
    const spent = Math.floor((spentPerHour * (now - since)) / hourMs);
    const left = Object.entries(account.balances).map(([id, micros]) => [id, micros - spent]);
    return simulation.succeed({ ...account, balances: Object.fromEntries(left) }, request);
  }

  const service = await startHttpService(
    options,
    ({ method = 'GET', url = '/', headers: sent }, response, body) => {
      const {
        status,
        headers,
        body: text,
      } = answer({ method, url, headers: sent, body: body ?? '', receivedAt: clock.now() });
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
    },
  );
  return {
    ...service,
    /** Replaces the accounts from now on. */
    setAccounts(changed: readonly SimulatedBalances[]): void {
      accounts = changed;
      since = clock.monotonic();
    },
  };
}

/** The API of a kind with one account that spends, to look at; null if the kind cannot be simulated. */
export async function startDemoApi(
  kind: ProviderKind,
  options: Pick<SimulatedApiOptions, 'host' | 'port' | 'spentPerHour' | 'clock'>,
) {
  const simulation = await kind.loadSimulation?.();
  if (simulation === undefined) return null;
  const account = demoAccount(kind);
  const api = await startSimulatedApi({ ...options, simulation, accounts: [account], requestsPerSecond: 10 });
  return { account, api };
}

/** An account to look at a kind: each balance 100, and credentials that say their names. */
export function demoAccount(kind: ProviderKind): SimulatedBalances {
  const { balances = [], currency = '' } = kind.details?.() ?? {};
  const credentials = kind.credentials({ type: kind.type }).map(({ name }) => [name, `simulated-${name}`]);
  return {
    credentials: Object.fromEntries(credentials),
    balances: Object.fromEntries(balances.map(({ id }) => [id, 100_000_000])),
    currency: /^[A-Z]{3}\b/.exec(currency)?.[0] ?? 'EUR',
  };
}
