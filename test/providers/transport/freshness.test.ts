import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../../src/domain/duration.ts';
import { Freshness } from '../../../src/providers/transport/freshness.ts';
import { readFrom, readText, send } from '../../support/loopback-provider.ts';
import { makeAccount } from '../../support/settings.ts';

const account = makeAccount('otp');
const now = Date.parse('2026-11-20T12:00:00Z');
const dated = (at: number) => ({ date: new Date(at).toUTCString() });

test('an answer that says how old it is, older than the poll interval, is no reading', () => {
  const freshness = new Freshness();
  expect(freshness.problemOf(account, { age: '86400' }, now)).toMatch(/1 day old/);
  expect(freshness.problemOf(account, { age: '300', ...dated(now - 5 * minuteMs) }, now)).toBeNull();
  expect(freshness.problemOf(account, { age: 'unknown' }, now)).toBeNull();
});

test('an answer of yesterday by its Date is no reading, as often as a cache gives it', () => {
  const freshness = new Freshness();
  const cached = dated(now - 24 * 60 * minuteMs);
  for (let poll = 0; poll < 5; poll++)
    expect(freshness.problemOf(account, cached, now + poll * 5 * minuteMs)).toMatch(/old by its headers/);
});

test('a provider whose clock is hours behind is believed once its Date goes on', () => {
  const freshness = new Freshness();
  const behind = (at: number) => dated(at - 3 * 60 * minuteMs);
  expect(freshness.problemOf(account, behind(now), now)).not.toBeNull();
  for (const later of [15 * secondMs, 5 * minuteMs, 10 * minuteMs])
    expect(freshness.problemOf(account, behind(now + later), now + later)).toBeNull();
});

test('a request asks for no stored answer, and one that comes all the same is invalid', async () => {
  let asked: string | undefined;
  const outcome = await readFrom(async (request, response) => {
    asked = request.headers['cache-control'];
    await readText(request);
    send(response, { headers: { age: '7200' } });
  });
  expect(asked).toBe('no-store');
  expect(outcome).toMatchObject({ kind: 'invalid_response', reason: expect.stringContaining('2 hours old') });
});

test('no answer is taken for old because its Date counts whole seconds', () => {
  const often = makeAccount('often', { poll: { kind: 'every', everyMs: secondMs } });
  expect(new Freshness().problemOf(often, dated(now), now + 1_060)).toBeNull();
  expect(new Freshness().problemOf(often, dated(now), now + 6_100)).toMatch(/old by its headers/);
});
