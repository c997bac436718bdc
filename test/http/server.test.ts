import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { StorageError } from '../../src/domain/operator-error.ts';
import { readParts } from '../../src/http/page/live.ts';
import { hourMs, smsLow, units } from '../support/account-facts.ts';
import { give } from '../support/orders.ts';
import { makeAccount } from '../support/settings.ts';
import { type RunningServer, runServer } from '../support/web-server.ts';
import { read, startWorld, step, World } from '../support/world.ts';

let server: RunningServer;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

const hasty = {
  headersTimeoutMs: 100,
  requestTimeoutMs: 150,
  connectionCheckMs: 20,
  keepAliveTimeoutMs: 100,
};

describe('a slow client', () => {
  it('that never ends its headers is let go, and others are answered meanwhile', async () => {
    server = await runServer({ limits: hasty });
    const slow = dial('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: ');
    // On a busy machine an honest client may be as slow once.
    await expect.poll(async () => (await fetch(`${server.url}/livez`)).status).toBe(200);
    expect(await slow.received).toContain('408 Request Timeout');
  });

  it('that never ends its body is let go', async () => {
    server = await runServer({ limits: hasty });
    const slow = dial(
      'POST /api/v1/alerts/a/b/ack HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    );
    await slow.received;
    expect(server.logged).toEqual([]);
  });

  it('that says nothing at all is let go', async () => {
    server = await runServer({ limits: hasty });
    await dial('').received;
  });

  describe('beyond the limit of connections', () => {
    const patient = { headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
    const probe = 'GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n';

    it('whoever has owed a request for longest makes room', async () => {
      server = await runServer({ limits: { ...patient, maxConnections: 2 } });
      const [silent, half] = [dial(''), dial('GET / HTTP/1.1\r\n')];
      expect(await dial(probe).received).toContain('200 OK');
      expect(await silent.received).toBe('');
      expect(half.socket.destroyed).toBe(false);
      const after = [dial(''), dial(probe)];
      expect(await after[1]?.received).toContain('200 OK');
      expect(await half.received).toBe('');
      expect(after[0]?.socket.destroyed).toBe(false);
    });

    it('whoever was answered and asks nothing more makes room', async () => {
      server = await runServer({ limits: { ...patient, maxConnections: 1 } });
      const kept = dial('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      await new Promise((resolve) => kept.socket.once('data', resolve));
      expect(await dial(probe).received).toContain('200 OK');
      expect(await kept.received).toContain('200 OK');
    });

    it('a body that never ends makes room', async () => {
      server = await runServer({ limits: { ...patient, maxConnections: 1 } });
      const endless = dial('POST /api/v1/silences HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{');
      expect(await dial(probe).received).toContain('200 OK');
      await endless.received;
      expect(server.logged).toEqual([]);
    });

    it('nobody who waits for us is cut off', async () => {
      server = await runServer({ limits: { ...patient, maxConnections: 1 } });
      const waiting = dial('GET /events HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
      await new Promise((resolve) => waiting.socket.once('data', resolve));
      expect(await dial(probe).received).toBe('');
      waiting.socket.destroy();
      await expect.poll(() => dial(probe).received).toContain('200 OK');
    });
  });
});

describe('an answer that breaks while it is sent', () => {
  it('is cut off and reported in the log, with nothing of it on the terminal or for who asked', async () => {
    const world = new World({ accounts: Array.from({ length: 2_000 }, (_, index) => `a-${index}`) });
    const { accounts } = world.views;
    Object.assign(world.views, {
      accounts: (ids?: readonly string[]) => {
        if (ids?.includes('a-1500')) throw new Error('the inside of it');
        return accounts(ids);
      },
    });
    server = await runServer({ world });
    const terminal = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const asked = dial('GET /api/v1/accounts HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    const received = await asked.received;
    expect(received).toContain('200 OK');
    expect(received).not.toMatch(/the inside of it|nextCursor/);
    expect(server.logged).toMatchObject([
      { fields: { err: { message: 'the inside of it' } }, message: 'an answer was cut off' },
    ]);
    expect(terminal).not.toHaveBeenCalled();
    terminal.mockRestore();
  });
});

describe('a rude client', () => {
  it('that names two hosts is refused, whichever comes first', async () => {
    server = await runServer();
    const rude = dial('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n');
    expect(await rude.received).toContain('400 Bad Request');
  });

  it('gets nothing by an address that names another host in its path', async () => {
    server = await runServer();
    for (const target of ['//evil.example/livez', '/\\evil.example/livez']) {
      const rude = dial(`GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`);
      expect(await rude.received, target).toMatch(/ (?:404 Not Found|400 Bad Request)/);
    }
  });

  it('that asks for the head of the events holds no stream', async () => {
    server = await runServer({ limits: { maxStreams: 1 } });
    for (let time = 0; time < 2; time += 1) {
      const head = dial('HEAD /events HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n');
      expect(await head.received).toMatch(/200 OK[\s\S]*text\/event-stream[\s\S]*\r\n\r\n$/);
    }
  });

  it('is refused headers larger than the limit', async () => {
    server = await runServer();
    const rude = dial(`GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`);
    expect(await rude.received).toContain('431');
  });

  it.each(['/livez', '/readyz', '/healthz', '/metrics'])(
    'that posts to %s learns which methods it takes',
    async (path) => {
      server = await runServer();
      const response = await fetch(`${server.url}${path}`, { method: 'POST' });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'HEAD, GET']);
    },
  );

  it('is refused a TRACE, and nothing goes to the log', async () => {
    server = await runServer();
    const trace = dial('TRACE / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n');
    expect(await trace.received).toMatch(/^HTTP\/1\.1 405 /);
    expect(server.logged).toEqual([]);
  });

  it('is refused what is no HTTP', async () => {
    server = await runServer();
    expect(await dial('\u0016\u0003\u0001 hello\r\n\r\n').received).toContain('400 Bad Request');
  });

  it('is refused a body that grows past the limit without saying so', async () => {
    server = await runServer();
    const chunk = `${(60_000).toString(16)}\r\n${' '.repeat(60_000)}\r\n`;
    const rude = dial(
      `POST /api/v1/alerts/a/b/ack HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunk}${chunk}`,
    );
    const answer = await rude.received;
    expect(answer).toContain('413');
    expect(answer).toContain('connection: close');
  });
});

describe('health', () => {
  it('/livez depends on nothing', async () => {
    const world = new World({});
    world.diskFull = true;
    const startsAt = world.now;
    await give(world.views, {
      kind: 'silence',
      match: { account: ['otp'] },
      everything: false,
      startsAt,
      endsAt: startsAt + hourMs,
      comment: '',
    });
    server = await runServer({ world });
    expect(world.views.status()).toMatchObject({ ready: false, problems: [expect.stringContaining('disk')] });
    const response = await fetch(`${server.url}/livez`);
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('/readyz is 503 until the daemon is ready', async () => {
    const world = new World({});
    server = await runServer({ world });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    world.daemon.start();
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  it('/readyz stays 200 after a reload that failed and names the problem', async () => {
    server = await runServer();
    const problem = 'config.json line 4: unknown key "acounts"';
    server.world.daemon.reportInvalidConfiguration(problem);
    const response = await fetch(`${server.url}/readyz?verbose`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: 'ok',
      problems: [`config-invalid: ${problem}`],
      configReloadOk: false,
      version: 'test',
    });
    expect(await (await fetch(server.url)).text()).toContain('unknown key &quot;acounts&quot;');
  });
});

describe('a failure inside', () => {
  const fail = (): never => {
    throw new StorageError('corrupt', 'malformed page 7 of /data/lowwater.db');
  };

  it('of the database is 503 and nobody is shown its words', async () => {
    const world = await startWorld();
    Object.assign(world.store, { readings: fail });
    server = await runServer({ world });
    for (const path of ['accounts/otp/history', 'views/readings?account=otp']) {
      const response = await fetch(`${server.url}/api/v1/${path}`);
      expect(response.status, path).toBe(503);
      expect(await response.text()).not.toContain('/data');
    }
  });

  it('of the database leaves the pages with what is known without it, and no part of an open page as it was', async () => {
    const world = await startWorld({ rules: [smsLow({ critical: units(50) })] });
    await read(world, 42.1);
    server = await runServer({ world });
    const { url } = server;
    const keysOf = (page: string) => readParts(page).map(({ key }) => key);
    const before = await (await fetch(`${url}/accounts/otp`)).text();
    Object.assign(world.store, { polls: fail, readings: fail, incidents: fail, messages: fail });
    expect(keysOf(await (await fetch(`${url}/accounts/otp`)).text())).toEqual(keysOf(before));
    for (const [path, known] of [
      ['/', '42.10 CNY'],
      ['/accounts/otp', '42.10 CNY'],
      ['/messages', 'Channels'],
    ] as const) {
      const response = await fetch(url + path, { headers: { accept: 'text/html' } });
      const page = await response.text();
      expect(response.status, path).toBe(200);
      expect(page).toContain(known);
      expect(page).toContain('The database cannot be read just now.');
      expect(page).not.toContain('/data');
    }
  });

  it('of the program is 500, stands in the log, and the server goes on', async () => {
    const world = await startWorld();
    Object.assign(world.views, {
      explain: () => {
        throw new TypeError('cannot read the secret thing');
      },
    });
    server = await runServer({ world });
    const response = await fetch(`${server.url}/accounts/otp`, { headers: { accept: 'text/html' } });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret thing');
    expect(server.logged).toHaveLength(1);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  });
});

describe('a client that pipelines', () => {
  const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;

  it('for a page that is gone is shown the way back, unless it leads here again', async () => {
    server = await runServer();
    const gone = `${server.url}/accounts/gone?range=7d`;
    const ask = async (referer: string) =>
      (await fetch(gone, { headers: { accept: 'text/html', referer } })).text();
    expect(await ask(`${server.url}/pay`)).toContain('<a href="/pay">Back</a>');
    // An open page that is loaded again when its account was removed came from itself.
    expect(await ask(gone)).not.toContain('Back</a>');
  });

  it('is answered one request at a time, in order, and others are not kept waiting by it', async () => {
    const world = new World({ accounts: ['a'] });
    const { accounts } = world.views;
    let running = 0;
    let most = 0;
    Object.assign(world.views, {
      accounts: async (ids?: readonly string[]) => {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running -= 1;
        return accounts(ids);
      },
    });
    server = await runServer({ world });
    const all = Array.from({ length: 300 }, (_, index) =>
      ask(index === 7 ? '/livez' : '/api/v1/accounts'),
    ).join('');
    const rude = dial(`${all}${ask('/nothing').replace('1.1\r', '1.1\r\nconnection: close\r')}`);
    expect((await fetch(`${server.url}/readyz`)).status).not.toBe(500);
    const statuses = [...(await rude.received).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual([...Array.from({ length: 300 }, () => '200'), '404']);
    expect(most).toBe(1);
  });

  it('beyond a thousand is cut off, and probes are answered meanwhile', async () => {
    server = await runServer();
    const flood = dial(ask('/').repeat(12_000));
    flood.socket.on('error', () => undefined);
    const probes = await Promise.all(Array.from({ length: 5 }, () => fetch(`${server.url}/livez`)));
    expect(probes.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await flood.received).length).toBeLessThan(12_000 * 100);
    expect((await fetch(`${server.url}/livez`)).status).toBe(200);
  });

  it('and does not read fills no memory, and makes room for who reads', async () => {
    const world = new World({ accounts: Array.from({ length: 3000 }, (_, index) => `a-${index}`) });
    server = await runServer({ world, limits: { maxConnections: 4 } });
    await fetch(`${server.url}/api/v1/accounts`, { headers: { connection: 'close' } }).then((all) =>
      all.text(),
    );
    const before = process.memoryUsage.rss();
    const rude = Array.from({ length: 4 }, () => connect(Number(new URL(server.url).port), '127.0.0.1'));
    for (const socket of rude) {
      sockets.push(socket);
      socket.on('error', () => undefined).pause();
      await once(socket, 'connect');
      socket.write(ask('/api/v1/accounts').repeat(200));
    }
    const probe = () => dial(ask('/livez').replace('1.1\r', '1.1\r\nconnection: close\r')).received;
    await expect.poll(probe, { timeout: 15_000 }).toContain('200 OK');
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 * 1024);
  });
});

describe('closing', () => {
  it('ends open streams, idle connections and slow clients at once', async () => {
    server = await runServer({ limits: { heartbeatMs: 600_000 } });
    const stream = (await fetch(`${server.url}/events`)).body
      ?.pipeThrough(new TextDecoderStream())
      .getReader();
    expect((await stream?.read())?.value).toContain('retry:');
    const idle = dial('GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
    const slow = dial('GET / HTTP/1.1\r\n');
    await fetch(`${server.url}/livez`);
    await Promise.all([server.close(), server.close()]);
    // On a busy machine its end is cut rather than waited for.
    expect(await stream?.read().catch(() => ({ done: true }))).toMatchObject({ done: true });
    await Promise.all([idle.received, slow.received]);
    expect(server.listeners()).toBe(0);
  });
});

describe('the stream of events', () => {
  it('says that something changed, once for many changes, and listens only while somebody does', async () => {
    server = await runServer({ limits: { heartbeatMs: 600_000 } });
    expect(server.listeners()).toBe(0);
    const abort = new AbortController();
    const { body, headers } = await fetch(`${server.url}/events`, { signal: abort.signal });
    expect(headers.get('content-type')).toContain('text/event-stream');
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('retry:');
    await server.world.pass(5 * step);
    expect((await reader?.read())?.value).toBe('event: changed\ndata: {}\n\n');
    abort.abort();
    await expect.poll(server.listeners).toBe(0);
  });

  it('sends the parts of the open page that are not as its reader has them, packed', async () => {
    const seldom = makeAccount('b', { poll: { kind: 'every', everyMs: hourMs } });
    const world = await startWorld({ accounts: ['a', seldom] });
    world.provider.set('a', 70_000);
    await world.pass(step);
    server = await runServer({ world });
    const page = await (await fetch(`${server.url}/`)).text();
    const have = readParts(page).map(({ digest }) => digest);
    const query = new URLSearchParams({ page: '/', have: have.join('.') });
    const { body, headers } = await fetch(`${server.url}/events?${query}`);
    expect(headers.get('content-encoding')).toBe('gzip');
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('retry:');
    world.provider.set('a', 69_990);
    await world.pass(step);
    let notified = '';
    // Signs of life may come before.
    while (!/data: \{.*\n\n/.test(notified)) notified += (await reader?.read())?.value ?? '';
    const parts = JSON.parse(/data: (\{.*)\n/.exec(notified)?.[1] ?? '');
    expect(Object.keys(parts)).toEqual(['as-of', 'account a', 'day a', 'totals']);
    expect(parts['account a']).toContain('69,990.00 CNY');
    expect(parts['account a']).toContain('<div data-live="day a"></div>');
    await reader?.cancel();
  });

  it('sends each reader the parts in their own language', async () => {
    server = await runServer();
    const streams = await Promise.all(
      ['en', 'zh-CN', 'es'].map(async (language) => {
        const headers = { 'accept-language': language };
        const { body } = await fetch(`${server.url}/events?page=/`, { headers });
        return body?.pipeThrough(new TextDecoderStream()).getReader();
      }),
    );
    const heard = async (times: number) =>
      Promise.all(
        streams.map(async (reader) => {
          let text = '';
          while (text.split('event: changed').length <= times) text += (await reader?.read())?.value ?? '';
          return text;
        }),
      );
    await heard(1);
    await server.world.pass(5 * step);
    const [english, chinese, spanish] = await heard(1);
    expect(english).toContain('Fri 20 Nov');
    expect(chinese).toContain('11月20日');
    expect(spanish).toContain('vie 20 nov');
    await Promise.all(streams.map((reader) => reader?.cancel()));
  });

  it('ends the stream of a page that is gone', async () => {
    const world = await startWorld({ accounts: ['a'] });
    server = await runServer({ world });
    const { body } = await fetch(`${server.url}/events?page=/accounts/a`);
    world.reload({ accounts: ['b'] });
    await world.pass(1_000);
    expect(await new Response(body).text()).toContain('account-state');
  });

  it('shows that it is alive, and has an end to how many it serves', async () => {
    server = await runServer({ limits: { heartbeatMs: 30, maxStreams: 1 } });
    const { body } = await fetch(`${server.url}/events`);
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('event: alive')) seen += (await reader?.read())?.value ?? '';
    expect((await fetch(`${server.url}/events`)).status).toBe(503);
    await reader?.cancel();
  });
});

/** A raw connection that sends a text and collects what comes until the other side ends it. */
function dial(text: string): { readonly socket: Socket; readonly received: Promise<string> } {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  sockets.push(socket);
  let received = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    received += chunk;
  });
  socket.on('error', () => socket.destroy());
  socket.write(text);
  return { socket, received: new Promise((resolve) => socket.on('close', () => resolve(received))) };
}
