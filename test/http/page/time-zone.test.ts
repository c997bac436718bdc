import { expect, it } from 'vitest';
import { serveWorld } from '../../support/web-server.ts';
import { startWorld } from '../../support/world.ts';

it.each([
  ['Asia/Kolkata', 'Asia/Calcutta'],
  ['Europe/Kyiv', 'Europe/Kiev'],
  ['Etc/UTC', 'UTC'],
])('a zone that the browser calls %s is taken for %s', async (zone, known) => {
  const { url } = await serveWorld(await startWorld(), { timezone: 'Asia/Tokyo' });
  const body = new URLSearchParams({ zone });
  const headers = { origin: url };
  const kept = await fetch(`${url}/time-zone`, { method: 'POST', body, headers, redirect: 'manual' });
  const cookie = (kept.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const page = await (await fetch(`${url}/time-zone`, { headers: { cookie } })).text();
  expect(page).toContain(`data-shown="${known}"`);
});
