import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePolls } from '../../../src/store/runs/decode-polls.ts';
import { PollEncoder } from '../../../src/store/runs/poll-codec.ts';
import { noPostgres, sharedPostgres } from '../../support/postgres.ts';
import { always, batch, failed, makePollEveryHour, minuteMs, noon, ok, pollsOf } from '../sqlite/batches.ts';
import { makeTables, open, own } from './fixtures.ts';

const why = noPostgres === null ? '' : ` (${noPostgres})`;

/** A database with stored polls, asked in SQL. */
async function fill(polls: Readonly<Record<string, readonly ReturnType<typeof ok>[]>>) {
  const url = await makeTables();
  const { store } = await own(await open(url));
  for (const [account, its] of Object.entries(polls))
    await store.commit(batch({ polls: pollsOf(account, its) }));
  const sql = async (text: string) => (await sharedPostgres()).sql(url, text);
  return { store, sql };
}

describe.skipIf(noPostgres !== null)(`readings by SQL in PostgreSQL, without lowwater${why}`, () => {
  it('are those of all accounts, as exact numbers at instants', async () => {
    const { sql } = await fill({
      otp: [ok(noon, 12_500_000), failed(noon + minuteMs, 'timeout'), ok(noon + 2 * minuteMs, -18_383_000)],
      b: [ok(noon, 1, 'Ünits 😀')],
    });
    const text = `SELECT account, extract(epoch FROM at)::bigint AS at, sms::text, voip::text, currency FROM reading ORDER BY account, at`;
    expect(await sql(text)).toMatchObject([
      { account: 'b', sms: '0.000001', currency: 'Ünits 😀' },
      { account: 'otp', at: String(noon / 1000), sms: '12.500000', voip: '-12.500000' },
      { account: 'otp', at: String(noon / 1000 + 120), sms: '-18.383000' },
    ]);
    expect(await sql("SELECT outcome FROM poll WHERE account = 'otp' ORDER BY at")).toEqual(
      ['ok', 'timeout', 'ok'].map((outcome) => ({ outcome })),
    );
    expect(
      await sql(
        "SELECT balance, sum(amount)::float AS sum FROM balance WHERE account = 'otp' GROUP BY 1 ORDER BY 1",
      ),
    ).toEqual([
      { balance: 'sms', sum: -5.883 },
      { balance: 'voip', sum: 5.883 },
    ]);
  });

  it('are found in full runs and in the newest alike, and by their time', async () => {
    const { sql } = await fill({ otp: makePollEveryHour(noon, 60) });
    expect(
      await sql('SELECT count(*)::integer AS n, count(DISTINCT at)::integer AS times FROM reading'),
    ).toEqual([{ n: 1440, times: 1440 }]);
    const span = "reading_of('otp', '2026-11-21 00:00Z', '2026-11-21 06:00Z')";
    expect(await sql(`SELECT count(*)::integer AS n FROM ${span}`)).toEqual([{ n: 6 }]);
  });

  it('are what lowwater reads of the same bytes, of either version', async () => {
    const { sql } = await fill({});
    const instants = fc.integer({ min: noon, max: noon + 86_400_000 });
    const amounts = fc.integer({ min: -9_007_199_254_000_000, max: 9_007_199_254_000_000 });
    const currencies = fc.constantFrom('CNY', 'EUR', 'credits', '😀');
    const polls = fc.oneof(
      fc.tuple(instants, amounts, currencies).map(([at, sms, currency]) => ok(at, sms, currency)),
      instants.map((at) => failed(at)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(polls, { maxLength: 30 }),
        fc.constantFrom(1 as const, 2 as const),
        async (run, writes) => {
          const encoder = new PollEncoder(null, writes);
          for (const poll of run) encoder.append(poll);
          const bytes = Buffer.from(encoder.bytes());
          const rows = await sql(
            `SELECT at::text, outcome, amounts[1]::text AS sms, currency FROM lowwater_run('\\x${bytes.toString('hex')}')`,
          );
          expect(rows).toEqual(
            decodePolls(bytes).map(({ at, outcome, reading }) => ({
              at: String(at),
              outcome,
              sms: reading === null ? null : String(reading.balances.sms),
              currency: reading?.currency ?? null,
            })),
          );
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe.skipIf(noPostgres !== null)(`damaged polls in PostgreSQL${why}`, () => {
  it('of one account are set aside with its bytes, no readings by SQL either, and the others are stored', async () => {
    const { store, sql } = await fill({ otp: makePollEveryHour(noon, 60), b: [ok(noon, 1)] });
    await sql("UPDATE account SET tail = set_byte(tail, length(tail) - 1, 255) WHERE id = 'b'");
    await sql('UPDATE segment SET data = set_byte(data, 99, 255) WHERE seq = (SELECT min(seq) FROM segment)');
    const before = Number((await sql('SELECT count(*)::integer AS n FROM reading'))[0]?.n);
    expect(before).toBeLessThan(1440);
    const left = [];
    for await (const part of store.polls({ account: 'otp', ...always })) left.push(...part);
    expect(left).toHaveLength(before);
    // As after a take-over: what the writer holds in memory is read again.
    const fresh = ok(noon + 100 * 86_400_000, 7);
    await expect(
      store.commit(batch({ polls: pollsOf('otp', [{ ...fresh, reading: null }]) })),
    ).rejects.toThrow(RangeError);
    await store.commit(batch({ polls: [...pollsOf('otp', [fresh]), ...pollsOf('b', [fresh])] }));
    expect(store.takeDamaged().map(({ account, polls }) => [account, polls])).toEqual([
      ['otp', 1440 - before],
      ['b', 1],
    ]);
    expect(
      await sql("SELECT account FROM damaged_run WHERE reason LIKE '%checksum%' ORDER BY account"),
    ).toEqual([{ account: 'b' }, { account: 'otp' }]);
    expect(await sql('SELECT count(*)::integer AS n FROM reading')).toEqual([{ n: before + 2 }]);
  });
});
