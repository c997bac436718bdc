import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openHttpConnections, postOnce } from '../../src/channels/http-post.ts';
import { Secret } from '../../src/domain/secret.ts';

async function listen(answer: string) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end(answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { seen, port, close: () => server.close() };
}

async function post(url: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const dispatcher = openHttpConnections(new Secret(url), environment);
  const { signal } = new AbortController();
  const answer = await postOnce({ url, headers: {}, body: '{}', signal, dispatcher });
  await dispatcher.close();
  return answer.body;
}

describe('the way to a receiver', () => {
  it('goes past a proxy for this machine', async () => {
    const [proxy, receiver] = await Promise.all([listen('proxy'), listen('receiver')]);
    const environment = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    expect(await post(`http://localhost:${receiver.port}/hook`, environment)).toBe('receiver');
    expect(proxy.seen).toEqual([]);
    proxy.close();
    receiver.close();
  });

  it('leads through a proxy elsewhere, be its address with a scheme or without one', async () => {
    const proxy = await listen('proxy');
    for (const address of [`http://127.0.0.1:${proxy.port}`, `127.0.0.1:${proxy.port}`]) {
      expect(await post('http://receiver.example/hook', { http_proxy: address })).toBe('proxy');
    }
    proxy.close();
  });

  it('names a variable that holds no address, and not what it holds', () => {
    const open = () =>
      openHttpConnections(new Secret('https://receiver.example'), { HTTPS_PROXY: 'pass:word@::' });
    expect(open).toThrow('the environment variable HTTPS_PROXY does not hold the address of a proxy');
  });
});
