import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
