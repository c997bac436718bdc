import type { Connection } from './connection.ts';

/** Rows deleted in one step: a few milliseconds, so that no poll waits. */
const stepRows = 500;

/**
 * Deletes what ended before an instant, a step at a time; true when there may be more. Open incidents,
 * messages that wait and whatever lies in the future (a clock that was wrong) stay. `changed` is called when
 * tails of accounts were touched.
 */
export function openRetention(db: Connection): (olderThan: number, changed: () => void) => boolean {
  const limited = (sql: string) => db.prepare<{ olderThan: number }>(sql.replace('$step', String(stepRows)));
  const deletions = [
    // Account by account, so that the index on their segments serves: the table itself is nearly all of the file.
    limited(`DELETE FROM segment WHERE seq IN (
      SELECT segment.seq FROM account CROSS JOIN segment ON segment.account_no = account.no
      WHERE segment.latest_at < $olderThan LIMIT $step)`),
    // Settled is also what has its end in a message that waits, for months if a channel refuses.
    limited(`DELETE FROM incident WHERE fired_at < $olderThan AND ended_at < $olderThan AND settled = 1 AND id NOT IN (
      SELECT item.value ->> '$.incident' FROM message, json_each(message.body, '$.items') AS item
      WHERE message.state = 'pending') LIMIT $step`),
    limited("DELETE FROM message WHERE created_at < $olderThan AND state <> 'pending' LIMIT $step"),
    limited('DELETE FROM silence WHERE ends_at < $olderThan LIMIT $step'),
    limited('DELETE FROM backoff WHERE until < $olderThan LIMIT $step'),
    limited('DELETE FROM damaged_run WHERE coalesce(latest_at, found_at) < $olderThan LIMIT $step'),
  ];
  const emptyTails = limited(
    'UPDATE account SET tail = NULL, tail_polls = 0, tail_latest_at = NULL WHERE tail_latest_at < $olderThan LIMIT $step',
  );
  const forgetAccounts = db.prepare(
    `DELETE FROM account WHERE body IS NULL AND tail_latest_at IS NULL
     AND NOT EXISTS (SELECT 1 FROM segment WHERE account_no = account.no) LIMIT ${stepRows}`,
  );

  return (olderThan, changed) => {
    for (const deletion of deletions) {
      if (deletion.run({ olderThan }).changes === stepRows) return true;
    }
    const emptied = emptyTails.run({ olderThan }).changes;
    const forgotten = forgetAccounts.run().changes;
    if (emptied + forgotten > 0) changed();
    return emptied === stepRows || forgotten === stepRows;
  };
}
