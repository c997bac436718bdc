import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EventStreams } from '../../src/http/events.ts';
import { defaultLimits } from '../../src/http/options.ts';
import { systemClock } from '../../src/system/clock.ts';

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
