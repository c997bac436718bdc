import fc from 'fast-check';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bigintArray, bytesArray, textArray } from '../../../src/store/postgres/binary-array.ts';
import { noPostgres } from '../../support/postgres.ts';
import { makeDatabase } from './fixtures.ts';

describe.skipIf(noPostgres !== null)('an array for a parameter', () => {
  it('arrives as it is', async () => {
    const client = new Client({ connectionString: (await makeDatabase()).reveal() });
    await client.connect();
    onTestFinished(() => client.end());
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(fc.maxSafeInteger())),
        fc.array(fc.option(text)),
        fc.array(fc.option(fc.uint8Array())),
        async (numbers, texts, bytes) => {
          const { rows } = await client.query<{ numbers: string[]; texts: string[]; bytes: Buffer[] }>(
            'SELECT $1::bigint[] AS numbers, $2::text[] AS texts, $3::bytea[] AS bytes',
            [bigintArray(numbers), textArray(texts), bytesArray(bytes)],
          );
          expect(rows[0]?.numbers).toEqual(numbers.map((value) => (value === null ? null : String(value))));
          expect(rows[0]?.texts).toEqual(texts);
          expect(rows[0]?.bytes).toEqual(bytes.map((value) => (value === null ? null : Buffer.from(value))));
        },
      ),
      { numRuns: 60 },
    );
  });
});
