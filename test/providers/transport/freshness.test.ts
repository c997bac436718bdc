import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { minuteMs, secondMs } from '../../../src/domain/time.ts';
import { Freshness } from '../../../src/providers/transport/freshness.ts';
import { okBody, readFrom, readText, send } from '../../support/loopback-provider.ts';
import { makeAccount } from '../../support/settings.ts';

const account = makeAccount('otp');
const now = Date.parse('2026-11-20T12:00:00Z');
const dated = (at: number) => ({ date: new Date(at).toUTCString() });

/** A client that says of each answer why it is no reading. */
function reader(of = account) {
  const freshness = new Freshness();
  return (headers: IncomingHttpHeaders, at: number, body = '{}') =>
    freshness.problemOf(of, { headers, body, askedAt: at, now: at });
}

test('an answer that says how old it is, older than the poll interval, is no reading', () => {
  const problemOf = reader();
  expect(problemOf({ age: '86400' }, now)).toMatch(/1 day old/);
  expect(problemOf({ age: '300', ...dated(now - 5 * minuteMs) }, now)).toBeNull();
  expect(problemOf({ age: 'unknown' }, now)).toBeNull();
  expect(problemOf({ age: '9'.repeat(400) }, now)).toMatch(/is \d+ days/);
});

test('an answer of yesterday by its Date is no reading, as often as a cache gives it', () => {
  const problemOf = reader();
  const cached = dated(now - 24 * 60 * minuteMs);
  for (let poll = 0; poll < 5; poll++)
    expect(problemOf(cached, now + poll * 5 * minuteMs)).toMatch(/old by its headers/);
});

test('of two Dates, of which a proxy added one of its own, the older counts', async () => {
  const yesterday = new Date(Date.now() - 24 * 60 * minuteMs).toUTCString();
  const outcome = await readFrom((_, response) => {
    response.writeHead(200, [
      ['date', yesterday],
      ['date', new Date().toUTCString()],
    ]);
    response.end(okBody);
  });
  expect(outcome).toMatchObject({ kind: 'invalid_response', reason: expect.stringContaining('1 day old') });
});

test('a provider whose clock is hours behind is believed once its Date goes on', () => {
  const problemOf = reader();
  const behind = (at: number) => dated(at - 3 * 60 * minuteMs);
  expect(problemOf(behind(now), now)).not.toBeNull();
  for (const later of [15 * secondMs, 5 * minuteMs, 10 * minuteMs])
    expect(problemOf(behind(now + later), now + later)).toBeNull();
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
  expect(reader(often)(dated(now), now + 1_060)).toBeNull();
  expect(reader(often)(dated(now), now + 3_100)).toMatch(/old by its headers/);
});

test.each([secondMs, 2 * secondMs, 4 * secondMs, 5 * minuteMs])(
  'the answer of a cache that repeats one is no reading, however often it is asked (every %i ms)',
  (everyMs) => {
    const problemOf = reader(makeAccount('often', { poll: { kind: 'every', everyMs } }));
    const cached = dated(now);
    expect(problemOf(cached, now)).toBeNull();
    for (let at = now + everyMs; at < now + 20 * everyMs; at += everyMs)
      expect(problemOf(cached, at) === null).toBe(at - now <= 2 * secondMs);
    const after = now + 20 * everyMs;
    expect(problemOf(dated(after), after)).toBeNull();
  },
);

test('a cached answer of another age is no reading, although the first of a clock that is off is not believed either', () => {
  const problemOf = reader(makeAccount('often', { poll: { kind: 'every', everyMs: secondMs } }));
  const cached = dated(now - 5 * minuteMs);
  for (let at = now; at < now + minuteMs; at += secondMs) expect(problemOf(cached, at)).not.toBeNull();
});

test('an answer of the same second with another body is one, and so is one of a clock that stands still, at first', () => {
  const problemOf = reader();
  expect(problemOf(dated(now), now, '1')).toBeNull();
  expect(problemOf(dated(now), now + 1500, '1')).toBeNull();
  expect(problemOf(dated(now), now + 9000, '2')).toBeNull();
  expect(problemOf({}, now + 20_000, '2')).toBeNull();
  expect(problemOf({}, now + 40_000, '2')).toBeNull();
});

test('near empty the short interval is the age that is allowed, and of two ages the larger counts', () => {
  const problemOf = reader(makeAccount('near', { nearEmptyMs: 10 * secondMs }));
  expect(problemOf({ age: '200', ...dated(now - 200_000) }, now)).toBeNull();
  expect(problemOf({ age: '200', ...dated(now - 190_000) }, now + 10_000)).toMatch(/old by its headers/);
  expect(problemOf({ age: '0, 400' }, now + 5 * minuteMs)).toMatch(/6 minutes/);
});
