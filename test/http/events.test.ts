import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { EventStreams } from '../../src/http/events.ts';
import { defaultLimits } from '../../src/http/options.ts';
import { systemClock } from '../../src/system/clock.ts';

const server = createServer();

afterEach(() => server.close());

it.each([true, false])(
  'a page that is gone ends the stream, also where another one of it has news (packed: %s)',
  async (packed) => {
    const streams = new EventStreams({ subscribe: () => () => {} }, systemClock, defaultLimits);
    const news = [{ key: 'all', digest: 'new', markup: '<p>new</p>' }];
    server.once('request', (_, response) => {
      const pages = ['/gone', '/other'].map((page) => ({ page, have: [] }));
      const read = async (page: string) => (page === '/gone' ? null : news);
      streams.open(response, { packed, pages, looks: '', read });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const text = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(text).toBe('retry: 3000\n\n');
  },
);

it.each([true, false])(
  'a stream that has ended while its reader takes nothing is written to no more (packed: %s)',
  async (packed) => {
    const errors: unknown[] = [];
    const unread = new PassThrough().on('error', (error) => errors.push(error));
    const response = Object.assign(unread, { writeHead: () => response }) as unknown as ServerResponse;
    const limits = { ...defaultLimits, heartbeatMs: 20 };
    const streams = new EventStreams({ subscribe: () => () => {} }, systemClock, limits);
    const pages = [{ page: '/accounts/gone', have: [] }];
    streams.open(response, { packed, pages, looks: '', read: async () => null });
    await pause(150);
    expect(errors).toEqual([]);
    streams.close();
    unread.destroy();
  },
);
