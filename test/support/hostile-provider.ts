import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One way in which a provider lies, hangs, floods or cuts. */
export interface HostileRow {
  readonly name: string;
  /** How the poll ends, by the API. */
  readonly outcome: string;
  readonly serve: (response: ServerResponse, request: IncomingMessage) => void;
  /** The SMS balance that is shown then; without it the one from before. */
  readonly sms?: string;
}

const goodBody =
  '{"msg":"SUCCESS","code":200,"result":{"smsBalance":1000,"voipBalance":40,"currency":"CNY"}}';

/** What the body of every HTML or otherwise foreign answer holds, to be found nowhere afterwards. */
export const bodyMark = 'BODY-MARK-8731';

const json =
  (body: string, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };

const envelope = (code: number, msg = 'said the provider'): string => JSON.stringify({ msg, code });

const withBalance = (sms: string, more = '', currency = '"CNY"'): string =>
  `{"msg":"SUCCESS","code":200,"result":{"smsBalance":${sms},"voipBalance":40,"currency":${currency}${more}}}`;

const html =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(`<html>${bodyMark}</html>`);
  };

function flood(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  let left = 100;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
}

function cutShort(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
  response.write('{"m', () => response.destroy());
}

function trickle(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : response.write(' ')), 50);
}

const never = (): void => undefined;
const reset = (response: ServerResponse): void => {
  response.socket?.resetAndDestroy();
};

/** Every row of the table of provider faults that an HTTP server can play. */
export const hostileRows: readonly HostileRow[] = [
  ['-22 with HTTP 200', 'auth_failed', json(envelope(-22, 'auth secret error!'))],
  ['-22 with HTTP 400', 'auth_failed', json(envelope(-22, 'auth secret error!'), 400)],
  ['-22 with HTTP 401', 'auth_failed', json(envelope(-22, 'auth secret error!'), 401)],
  ['-22 with HTTP 403', 'auth_failed', json(envelope(-22, 'auth secret error!'), 403)],
  [
    '-22 with a wait',
    'auth_failed',
    json(envelope(-22, 'auth secret error!'), 400, { 'retry-after': '300' }),
  ],
  ['-32 with HTTP 200', 'rate_limited', json(envelope(-32, 'Too Many Requests'))],
  ['an unknown negative code', 'api_error', json(envelope(-99))],
  ['code 0 without a result', 'api_error', json('{"msg":"ok","code":0}')],
  ['code 0 and a result of null', 'api_error', json('{"msg":"ok","code":0,"result":null}')],
  ['success without a result', 'invalid_response', json('{"msg":"SUCCESS","code":200}')],
  ['a result that is a list', 'invalid_response', json('{"msg":"SUCCESS","code":200,"result":[]}')],
  ['a result that is a text', 'invalid_response', json('{"msg":"SUCCESS","code":200,"result":""}')],
  ['401 without an envelope', 'http_error', html(401)],
  ['403 without an envelope', 'http_error', html(403)],
  ['429 with seconds', 'rate_limited', html(429, { 'retry-after': '30' })],
  [
    '429 with a date',
    'rate_limited',
    (response: ServerResponse) =>
      html(429, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() })(response),
  ],
  ['429 with garbage', 'rate_limited', html(429, { 'retry-after': 'later' })],
  ['429 with ten years', 'rate_limited', html(429, { 'retry-after': '315360000' })],
  ['429 with a negative wait', 'rate_limited', html(429, { 'retry-after': '-5' })],
  ['500 with HTML', 'http_error', html(500)],
  ['502 with HTML', 'http_error', html(502)],
  ['503 with HTML', 'http_error', html(503)],
  ['504 with HTML', 'http_error', html(504)],
  ['200 with HTML', 'invalid_response', html(200)],
  ['a body of 100 MB', 'invalid_response', flood],
  ['no answer', 'timeout', never],
  ['a body that trickles', 'timeout', trickle],
  ['a body cut short', 'network_error', cutShort],
  ['a reset', 'network_error', reset],
  ...[301, 302, 307, 308].map(
    (status) => [`a redirect with ${status}`, 'http_error', html(status, { location: '/stolen' })] as const,
  ),
  ['a balance as text', 'invalid_response', json(withBalance('"12.50"'))],
  ...['null', '""', 'true', '[]', '{}'].map(
    (value) => [`a balance of ${value}`, 'invalid_response', json(withBalance(value))] as const,
  ),
  [
    'no balance',
    'invalid_response',
    json('{"msg":"","code":200,"result":{"voipBalance":1,"currency":"CNY"}}'),
  ],
  ['NaN', 'invalid_response', json(withBalance('NaN'))],
  ['Infinity', 'invalid_response', json(withBalance('-Infinity'))],
  ['1e400', 'invalid_response', json(withBalance('1e400'))],
  ['twenty digits', 'invalid_response', json(withBalance('12345678901234567890'))],
  ['keys of the prototype', 'invalid_response', json('{"__proto__":{"code":200},"constructor":{"msg":""}}')],
  ['depth', 'invalid_response', json('['.repeat(30_000) + ']'.repeat(30_000))],
  [
    'no currency',
    'invalid_response',
    json('{"msg":"","code":200,"result":{"smsBalance":1,"voipBalance":1}}'),
  ],
  ['a currency of 40 characters', 'invalid_response', json(withBalance('1', '', `"${'X'.repeat(40)}"`))],
].map(([name, outcome, serve]) => ({ name, outcome, serve }) as HostileRow);

/** Odd answers that are good readings all the same. */
export const oddRows: readonly HostileRow[] = [
  { name: 'minus zero', outcome: 'ok', serve: json(withBalance('-0')), sms: '0' },
  {
    name: 'noise of a float',
    outcome: 'ok',
    serve: json(withBalance('-18.383000000000003')),
    sms: '-18.383',
  },
  { name: 'half of the last decimal', outcome: 'ok', serve: json(withBalance('999.0000005')), sms: '999' },
  { name: 'an exponent', outcome: 'ok', serve: json(withBalance('1E+3')), sms: '1000' },
  { name: 'a tiny exponent', outcome: 'ok', serve: json(withBalance('1e-7')), sms: '0' },
  {
    name: 'digits beyond a double',
    outcome: 'ok',
    serve: json(withBalance('9007199253.123456')),
    sms: '9007199253.123456',
  },
  {
    name: 'fields that nobody knows',
    outcome: 'ok',
    serve: json(withBalance('999', ',"credit":{"a":[1]}')),
    sms: '999',
  },
  { name: 'a good envelope with HTTP 500', outcome: 'ok', serve: json(withBalance('998'), 500), sms: '998' },
];

export interface HostileProvider {
  readonly origin: string;
  /** Paths and bodies of requests, in order. */
  readonly requests: readonly { readonly path: string; readonly at: number }[];
  /** From now on each account meets its row; before, all get a good answer. */
  turn(): void;
  close(): Promise<void>;
}

/** Serves row number n under `/n`. */
export async function startHostileProvider(rows: readonly HostileRow[]): Promise<HostileProvider> {
  const requests: { path: string; at: number }[] = [];
  let hostile = false;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push({ path, at: Date.now() });
    response.on('error', () => undefined);
    request.resume();
    const row = rows[Number(/^\/(\d+)\//.exec(path)?.[1])];
    if (hostile && row !== undefined) row.serve(response, request);
    else json(goodBody)(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A server that listens on TCP has such an address.
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    turn() {
      hostile = true;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
