/**
 * The other side of the pipeline benchmark, in a process of its own: the simulated provider and a receiver of Slack webhooks.
 * It is a child of bench/pipeline.ts, which sends it `PeersOrder`s and gets one answer to each.
 */
import { subscribe } from 'node:diagnostics_channel';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseScenario } from '../../src/simulator/scenario.ts';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { startSimulator } from '../../test/support/simulator.ts';
import { accountId, accountNumber, accountSecret, burnPerHour, startBalance } from './accounts.ts';
import type { Arrival, PeersAnswer, PeersOrder, WebhookDelay } from './peers-protocol.ts';

const [, , accountsText = '', timed = ''] = process.argv;
const accountCount = Number(accountsText);

const arrivals: Arrival[] = [];
const delays: WebhookDelay[] = [];
/** When the last answer to each account was handed to the system. */
const answeredAt = new Map<number, number>();

const parsed = parseScenario({
  accounts: Array.from({ length: accountCount }, (_, number) => ({
    id: accountId(number),
    authSecret: accountSecret(number),
    sms: startBalance,
    voip: '100',
    burn: { sms: burnPerHour },
  })),
});
if (parsed.kind === 'invalid') throw new Error(parsed.problems.join('; '));
const simulator = await startSimulator({
  port: 0,
  host: '127.0.0.1',
  scenario: parsed.scenario,
  clock: systemClock,
  random: systemRandom,
});
if (timed === 'timed') watchAnswers(simulator.port);

const hooks = createServer(receiveWebhook);
await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
// A cast is safe: a server that listens on a TCP port has such an address.
const hooksPort = (hooks.address() as AddressInfo).port;

process.on('message', (order: PeersOrder) => answer(runDurably(order)));
process.on('disconnect', () => process.exit());
answer({
  kind: 'ready',
  providerUrl: simulator.url,
  providerPort: simulator.port,
  hooksUrl: `http://127.0.0.1:${hooksPort}`,
});

function runDurably(order: PeersOrder): PeersAnswer {
  switch (order.kind) {
    case 'count':
      return { kind: 'count', requests: simulator.control.requests(), at: now() };
    case 'set-balances':
      for (const number of order.accounts)
        simulator.control.setBalance(accountId(number), 'sms', order.amount);
      return { kind: 'done' };
    case 'timings':
      return { kind: 'timings', arrivals, delays };
  }
}

function answer(it: PeersAnswer): void {
  process.send?.(it);
}

/** The monotonic clock of the machine, the same in every process. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Notes when requests arrive and when their answers leave, next to the simulator: the account stands in the body. */
function watchAnswers(port: number): void {
  const accounts = new WeakMap<IncomingMessage, number>();
  // Casts are safe: Node documents what these two channels publish.
  subscribe('http.server.request.start', (it) => {
    const { request } = it as { request: IncomingMessage };
    if (request.socket.localPort !== port) return;
    const at = now();
    request.on('data', (chunk: Buffer) => {
      const account = accountNumber(chunk.toString());
      if (account === null) return;
      accounts.set(request, account);
      arrivals.push({ account, at });
    });
  });
  subscribe('http.server.response.finish', (it) => {
    const { request } = it as { request: IncomingMessage };
    const account = accounts.get(request);
    if (account !== undefined) answeredAt.set(account, now());
  });
}

/** Takes any message, as Slack would, and notes how long after the answer that caused it it came. */
function receiveWebhook(request: IncomingMessage, response: ServerResponse): void {
  const at = now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.end('ok');
    const account = accountNumber(Buffer.concat(chunks).toString());
    const from = account === null ? undefined : answeredAt.get(account);
    if (account !== null && from !== undefined) delays.push({ account, ms: at - from });
  });
}
