import { parseArgs } from 'node:util';
import { makeClusterBed } from '../test/support/cluster/cluster-bed.ts';
import {
  countRepeats,
  type Fault,
  type FaultResult,
  faults,
  judgeCluster,
  playFault,
} from '../test/support/cluster/cluster-run.ts';
import {
  type DatabaseFault,
  type DatabaseFaultResult,
  databaseFaults,
  maxGapMs,
  missingFor,
  playDatabaseFault,
} from '../test/support/cluster/database-faults.ts';
import { type PairResult, pairGapMs, playPair } from '../test/support/cluster/fault-pairs.ts';
import { noPostgres } from '../test/support/postgres.ts';

/**
 * Two built daemons on a real PostgreSQL. Each kind of fault befalls the owner of the accounts again and again while an alert fires
 * or resolves; then the receivers, the provider's own ledger and one that the database keeps by itself say whether every promise was
 * kept. `--times 20` of each, `--only killed` one kind, `--lease 3s` with another lease. `--pairs 60` draws pairs of faults instead, from
 * `--seed 1` on, and `--pair 'killed,slot locked'` plays that one; a lease is 3 s then. Ends with 1 when a promise was broken.
 */
const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '20' },
    only: { type: 'string' },
    lease: { type: 'string', default: '6s' },
    pairs: { type: 'string' },
    seed: { type: 'string', default: '1' },
    pair: { type: 'string' },
  },
});
if (noPostgres !== null) {
  process.stdout.write(`${noPostgres}\n`);
} else if (values.pairs !== undefined || values.pair !== undefined) {
  for (let nth = 0; nth < Number(values.pairs ?? 1); nth += 1) await playOnePair(Number(values.seed) + nth);
} else {
  const isWanted = (fault: string): boolean => values.only === undefined || fault === values.only;
  if (![...faults, ...databaseFaults].some(isWanted))
    throw new Error(`--only takes one of: ${[...faults, ...databaseFaults].join(', ')}`);
  for (const fault of faults.filter(isWanted)) await playAll(fault, Number(values.times));
  for (const fault of databaseFaults.filter(isWanted)) await playAllOfDatabase(fault, Number(values.times));
}

/** Two faults at odd moments. */
async function playOnePair(seed: number): Promise<void> {
  const result = await playPair(seed, values.pair?.split(',')).catch((error: unknown): PairResult => {
    return { pair: '', gapMs: 0, falseMs: 0, epochs: 0, broken: [String(error)] };
  });
  const { pair, gapMs, falseMs, epochs, broken } = result;
  const late = gapMs > pairGapMs ? [`${gapMs} ms without a poll`] : [];
  process.stdout.write(
    `${String(seed).padEnd(5)} ${pair.padEnd(45)} ${(gapMs / 1000).toFixed(1)} s without a poll at most; ${epochs} take-overs; ` +
      `${(falseMs / 1000).toFixed(1)} s said to be polled while it was not\n`,
  );
  for (const line of [...late, ...broken]) process.stdout.write(`BROKEN  ${line}\n`);
  if (late.length + broken.length > 0) process.exitCode = 1;
}

/** What befalls the database itself: how long nobody polled at most, what was lost and what was said twice. */
async function playAllOfDatabase(fault: DatabaseFault, times: number): Promise<void> {
  const missing = missingFor(fault);
  if (missing !== null) {
    process.stdout.write(`${fault.padEnd(25)} left out: ${missing}\n`);
    return;
  }
  const results: DatabaseFaultResult[] = [];
  const broken: string[] = [];
  for (let time = 0; time < times; time += 1) {
    try {
      const result = await playDatabaseFault(fault);
      results.push(result);
      if (result.gapMs > maxGapMs) broken.push(`${result.gapMs} ms without a poll`);
    } catch (error) {
      broken.push(String(error));
    }
  }
  const longest = Math.max(0, ...results.map(({ gapMs }) => gapMs));
  const sum = (of: (result: DatabaseFaultResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  process.stdout.write(
    `${fault.padEnd(25)} ${results.length} of ${times} times; ${(longest / 1000).toFixed(1)} s without a poll at most; ` +
      `${sum(({ lost }) => lost)} readings lost, ${sum(({ repeats }) => repeats)} messages repeated\n`,
  );
  for (const line of broken) process.stdout.write(`BROKEN  ${line}\n`);
  if (broken.length > 0) process.exitCode = 1;
}

async function playAll(fault: Fault, times: number): Promise<void> {
  const bed = await makeClusterBed(undefined, { lease: values.lease });
  const results: FaultResult[] = [];
  let broken: readonly string[] = [];
  let notified = { repeats: 0, messages: 0 };
  try {
    for (let time = 0; time < times; time += 1)
      // Spread over the second in which polls, commits and renewals take turns.
      results.push(await playFault(bed, fault, (time * 370) % 1000));
    broken = await judgeCluster(bed, times);
    notified = countRepeats(bed);
  } catch (error) {
    broken = [String(error)];
  } finally {
    await bed.close();
  }
  const took = results
    .flatMap(({ takeOverMs }) => (takeOverMs === null ? [] : [takeOverMs]))
    .toSorted((left, right) => left - right);
  const at = (share: number): string =>
    took.length === 0
      ? '-'
      : `${((took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0) / 1000).toFixed(1)} s`;
  process.stdout.write(
    `${fault.padEnd(20)} ${results.length} times; taken over after ${at(0)} to ${at(0.99)}, median ${at(0.5)}; ` +
      `${notified.repeats} of ${notified.messages} messages repeated; ` +
      `${broken.length === 0 ? 'every promise kept' : `${broken.length} promises broken`}\n`,
  );
  for (const line of broken) process.stdout.write(`BROKEN  ${line}\n`);
  if (broken.length > 0) process.exitCode = 1;
}
