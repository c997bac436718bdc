import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, Random } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { answerRequest, readRequest, type SimulatedAnswer } from './answers.ts';
import { createControl, RequestCounter, type SimulatorControl } from './control.ts';
import type { Scenario } from './scenario.ts';
import { type Fault, SimulatedWorld } from './world.ts';

export interface SimulatorOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly host: string;
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of the script's events; never of secrets. */
  readonly log?: Log;
}

export interface Simulator {
  /** Base address for `provider.baseUrl`. */
  readonly url: string;
  readonly port: number;
  /** Changes things while it runs. */
  readonly control: SimulatorControl;
  /** Ends every connection at once, hanging ones included. */
  close(): Promise<void>;
}

/** Larger request bodies are refused. */
const maxBodyBytes = 64 * 1024;

/** Long, so that clients that keep connections warm can. */
const keepAliveMs = 75_000;

/**
 * The documented interface of the provider over HTTP, played by a script. Rejects where the address cannot be
 * listened on.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const world = new SimulatedWorld(options);
  const counter = new RequestCounter();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (request, response) => {
    readBody(request, (body) => serve({ world, counter, clock: options.clock, request, response, body }));
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  // A cast is safe: a server that listens on a TCP port has such an address.
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    port,
    control: createControl(world, counter),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Reads to the end in any case: a client that still writes would not see the answer. */
function readBody(request: IncomingMessage, done: (body: string | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  });
  request.on('end', () => done(bytes > maxBodyBytes ? null : Buffer.concat(chunks).toString()));
}

interface Serving {
  readonly world: SimulatedWorld;
  readonly counter: RequestCounter;
  readonly clock: Clock;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: string | null;
}

function serve({ world, counter, clock, request, response, body }: Serving): void {
  world.advance();
  const { url = '/', method = 'GET' } = request;
  const read = readRequest(world, body, request.headers['content-type']);
  const account = read.account?.id ?? null;
  counter.count(url, account);
  const fault = world.fault(account);
  const send =
    fault === null
      ? () => reply(response, answerRequest(world, { method, url, ...read }))
      : () => misbehave(response, fault);
  const latencyMs = world.latencyMs(account);
  if (latencyMs === 0) send();
  else clock.setTimer(latencyMs, send);
}

function reply(response: ServerResponse, { status, body, headers }: SimulatedAnswer): void {
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, ['content-type', 'application/json', 'content-length', length, ...headers]);
  response.end(body);
}

function misbehave(response: ServerResponse, fault: Fault): void {
  switch (fault.kind) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'truncated':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{"m', () => response.destroy());
      return;
    case 'http-error':
      response.writeHead(fault.status, { 'content-type': 'text/html' });
      response.end(`<html><body><h1>${fault.status}</h1></body></html>`);
      return;
    case 'body':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(fault.body);
  }
}
