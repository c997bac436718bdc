import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hourMs } from '../domain/duration.ts';
import type { Micros } from '../domain/money.ts';
import type { Clock } from '../ports/clock.ts';
import type {
  ProviderKind,
  ProviderSimulation,
  SimulatedBalances,
  SimulatedRequest,
  SimulatedResponse,
} from '../providers/kind.ts';

export interface SimulatedApiOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
  readonly simulation: ProviderSimulation;
  readonly accounts: readonly SimulatedBalances[];
  /** Requests a second that are answered; more are refused as too many. */
  readonly requestsPerSecond: number;
  /** What each balance loses in an hour. */
  readonly spentPerHour: Micros;
  readonly clock: Clock;
}

export interface SimulatedApi {
  /** For `baseUrl` of an entry. */
  readonly url: string;
  /** Other accounts from now on. */
  setAccounts(accounts: readonly SimulatedBalances[]): void;
  close(): Promise<void>;
}

/** The API of a kind of provider over HTTP, for accounts that spend. Rejects where the address cannot be listened on. */
export async function startSimulatedApi(options: SimulatedApiOptions): Promise<SimulatedApi> {
  const { simulation, clock, requestsPerSecond, spentPerHour } = options;
  let { accounts } = options;
  let since = clock.monotonic();
  const answered: number[] = [];

  function answer(request: SimulatedRequest): SimulatedResponse {
    const account = simulation.identify(request, accounts);
    if (account === null) return simulation.refuseKey(request);
    const now = clock.monotonic();
    while ((answered[0] ?? now) <= now - 1000) answered.shift();
    if (answered.length >= requestsPerSecond) return simulation.limitRate(request);
    answered.push(now);
    const spent = Math.floor((spentPerHour * (now - since)) / hourMs);
    const left = Object.entries(account.balances).map(([id, micros]) => [id, micros - spent]);
    return simulation.succeed({ ...account, balances: Object.fromEntries(left) }, request);
  }

  const server = createServer((request, response) => {
    void readRequest(request).then((read) => {
      const { status, headers, body } = answer(read);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  // A cast is safe: a server that listens on a TCP port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    setAccounts(changed) {
      accounts = changed;
      since = clock.monotonic();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An account for a look at a kind: each balance 100, credentials that say what they are. */
export function demoAccount(kind: ProviderKind): SimulatedBalances {
  const { balances = [], currency = '' } = kind.details?.() ?? {};
  const credentials = kind.credentials({ type: kind.type }).map(({ name }) => [name, `simulated-${name}`]);
  return {
    credentials: Object.fromEntries(credentials),
    balances: Object.fromEntries(balances.map(({ id }) => [id, 100_000_000])),
    currency: /^[A-Z]{3}\b/.exec(currency)?.[0] ?? 'EUR',
  };
}

async function readRequest(request: IncomingMessage): Promise<SimulatedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { method = 'GET', url = '/', headers } = request;
  return { method, url, headers, body: Buffer.concat(chunks).toString() };
}
