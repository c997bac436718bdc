import type { ServerResponse } from 'node:http';
import type { Clock, Random } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import { answerRequest, readRequest, type SimulatedAnswer } from './answers.ts';
import { type HttpService, type ServiceAddress, startHttpService } from './http-service.ts';
import type { Scenario } from './scenario.ts';
import { type Fault, SimulatedWorld } from './world.ts';

export interface SimulatorOptions extends ServiceAddress {
  readonly scenario: Scenario;
  readonly clock: Clock;
  readonly random: Random;
  /** Told of the script's events; never of secrets. */
  readonly log?: Log;
  /** Called with each request's path and account; null for an account that nobody knows. */
  readonly onRequest?: (url: string, account: string | null) => void;
}

export interface Simulator extends HttpService {
  /** Changes things while it runs. */
  readonly world: SimulatedWorld;
}

/**
 * The documented interface of the provider over HTTP, played by a script. Rejects where the address cannot be
 * listened on.
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const world = new SimulatedWorld(options);
  const service = await startHttpService(options, (request, response, body) => {
    world.advance();
    const { url = '/', method = 'GET' } = request;
    const read = readRequest(world, body, request.headers['content-type']);
    const account = read.account?.id ?? null;
    options.onRequest?.(url, account);
    const fault = world.fault(account);
    const send =
      fault === null
        ? () => reply(response, answerRequest(world, { method, url, ...read }))
        : () => misbehave(response, fault);
    const latencyMs = world.latencyMs(account);
    if (latencyMs === 0) send();
    else options.clock.setTimer(latencyMs, send);
  });
  return { ...service, world };
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
