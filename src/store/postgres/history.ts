import type { HistoryQuery, StoreReader } from '../../ports/store.ts';
import { askInTurn } from '../asking.ts';
import type { FoundDamage } from '../runs/damaged-runs.ts';
import { History, type HistoryQuestion, type RunData, type RunsRow, readingsOf } from '../runs/history.ts';
import { bigintArray, textArray } from './binary-array.ts';
import type { Database } from './connection.ts';

const findRuns = `SELECT tail AS data, coalesce(tail_polls, 0) AS polls, tail_latest_at AS "latestAt", (
    SELECT coalesce(json_agg(json_build_array(seq, earliest_at, latest_at)), '[]') FROM segment
    WHERE account_no = account.no AND latest_at >= since AND earliest_at < until
  ) AS runs FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (id, since, until, nth)
  LEFT JOIN account USING (id) ORDER BY nth`;
const findData = 'SELECT seq, data, polls FROM segment WHERE seq = ANY($1::bigint[])';

/** Some tens of kilobytes, some thousands of polls. */
const runsAtOnce = 40;

/** `damaged` hears of each run that is left out because it cannot be read. */
export function openHistory(
  { ask }: Database,
  damaged: (run: FoundDamage) => void,
): Pick<StoreReader, 'polls' | 'readings' | 'readingBefore'> {
  const runsOf = together(async (queries: readonly HistoryQuery[]) => {
    const ids = textArray(queries.map(({ account }) => account));
    const since = bigintArray(queries.map((query) => query.since));
    const until = bigintArray(queries.map((query) => query.until));
    return ask<RunsRow>(findRuns, [ids, since, until]);
  });
  const dataOf = together(async (asked: readonly (readonly number[])[]) => {
    const rows = await ask<RunData>(findData, [bigintArray(asked.flat())]);
    const bySeq = new Map(rows.map((row) => [row.seq, row]));
    return asked.map(() => bySeq);
  });
  const answer = (question: HistoryQuestion): Promise<unknown> =>
    'account' in question ? runsOf(question) : dataOf(question);
  const history = new History(damaged, runsAtOnce);
  async function* polls(query: HistoryQuery) {
    for (const portion of await askInTurn(history.portions(query), answer))
      yield* await askInTurn(portion, answer);
  }
  return {
    polls,
    async *readings(query) {
      for await (const part of polls(query)) yield readingsOf(part);
    },
    readingBefore: (account, at) => askInTurn(history.readingBefore(account, at), answer),
  };
}

/**
 * Asks once for all who ask in the same breath: who shows thousands of accounts, of which it keeps none in mind, would wait for
 * thousands of answers. `askAll` answers in the order of what was asked.
 */
function together<Asked, Answer>(
  askAll: (asked: readonly Asked[]) => Promise<readonly Answer[]>,
): (one: Asked) => Promise<Answer | undefined> {
  let gathering: { readonly asked: Asked[]; readonly answers: Promise<readonly Answer[]> } | null = null;
  return async (one) => {
    if (gathering === null) {
      const asked: Asked[] = [];
      const answers = Promise.resolve().then(() => {
        gathering = null;
        return askAll(asked);
      });
      gathering = { asked, answers };
    }
    const nth = gathering.asked.push(one) - 1;
    return (await gathering.answers)[nth];
  };
}
