import { setTimeout as pause } from 'node:timers/promises';
import type { PollRecord } from '../../../src/domain/reading.ts';
import { openPostgresReader } from '../../../src/store/postgres/reader.ts';
import { eventually } from '../eventually.ts';
import {
  accountIds,
  type ClusterBed,
  type ClusterNode,
  type Committed,
  patienceMs,
  secretOf,
} from './cluster-bed.ts';

/** What befalls the owner of the accounts. */
export const faults = [
  'killed',
  'stopped',
  'cut off',
  'unheard',
  'server crashes',
  'killed, and a record is cut',
  'ends',
  'hands over',
  'an hour ahead',
  'five seconds behind',
] as const;
const receivers = ['/hook', '/second'] as const;

export type Fault = (typeof faults)[number];

export interface FaultResult {
  readonly fault: Fault;
  /** From the fault to the first commit of the next owner, milliseconds; null where the owner stayed. */
  readonly takeOverMs: number | null;
}

/**
 * Lets one fault befall the owner while an alert changes its state, and waits until the accounts are watched again, the alert was reported
 * and everything that was hurt is whole.
 */
export async function playFault(bed: ClusterBed, fault: Fault, delayMs: number): Promise<FaultResult> {
  const before = await bed.owner();
  const owner = bed.nodes.find(({ name }) => name === before.node);
  if (owner === undefined) throw new Error('nobody owns the accounts');
  const firing = bed.provider.level > 200;
  const notified = countNotified(bed, firing ? 'WARNING' : 'RESOLVED');
  bed.provider.level = firing ? 100 : 1000;
  await pause(delayMs);
  const at = Date.now();
  const heal = await hurt(bed, owner, fault);
  const takeOverMs = await waitForTakeOver(bed, { fault, epoch: before.epoch, at });
  await eventually(
    `${firing ? 'WARNING' : 'RESOLVED'} after the owner is ${fault}`,
    () =>
      receivers.every(
        (path) => countNotified(bed, firing ? 'WARNING' : 'RESOLVED', path) > (notified.get(path) ?? 0),
      ),
    patienceMs,
  );
  // An owner that was cut off may have sent it before it was lost. Only what the next one has seen itself can end again.
  await eventually(
    'the owner has stored it',
    async () => {
      const open = "SELECT FROM incident WHERE rule = 'sms-low' AND ended_at IS NULL";
      return (await bed.server.look(bed.url, open)).length === (firing ? 1 : 0);
    },
    patienceMs,
  );
  await heal();
  await bed.untilMembers(bed.nodes.length);
  return { fault, takeOverMs };
}

/** Gives what makes it whole again. */
async function hurt(bed: ClusterBed, owner: ClusterNode, fault: Fault): Promise<() => Promise<void>> {
  switch (fault) {
    case 'killed, and a record is cut':
      await bed.server.sql(bed.url, "UPDATE account SET body = left(body, 20) WHERE id = 'marketing'");
      await owner.end('SIGKILL');
      return async () => owner.start();
    case 'killed':
    case 'ends':
      await owner.end(fault === 'ends' ? 'SIGTERM' : 'SIGKILL');
      return async () => owner.start();
    case 'stopped':
      owner.process()?.child.kill('SIGSTOP');
      return async () => {
        owner.process()?.child.kill('SIGCONT');
      };
    case 'cut off':
    case 'unheard':
      owner.proxy.mode = fault === 'cut off' ? 'cut' : 'hang';
      return async () => {
        owner.proxy.breakAll();
        owner.proxy.mode = 'pass';
      };
    case 'server crashes':
      bed.server.stop('immediate');
      await pause(1500);
      bed.server.start();
      return async () => undefined;
    case 'an hour ahead':
    case 'five seconds behind':
      owner.shiftClock(fault === 'an hour ahead' ? 3_600_000 : -5000);
      return async () => owner.shiftClock(0);
    case 'hands over': {
      const { code, stderr } = await owner.command('cluster', 'hand-over');
      if (code !== 0) throw new Error(`cluster hand-over: ${stderr}`);
      return async () => undefined;
    }
  }
}

/** A server that was away for a moment may keep its owner. */
async function waitForTakeOver(
  bed: ClusterBed,
  { fault, epoch, at }: { readonly fault: Fault; readonly epoch: number; readonly at: number },
): Promise<number | null> {
  if (fault === 'server crashes') {
    await eventually(
      'somebody stores again',
      async () => {
        const last = (await bed.commits()).at(-1);
        return last !== undefined && last.at > at + 1500;
      },
      patienceMs,
    );
    return null;
  }
  const first = await eventually(
    `somebody else owns the accounts after the owner is ${fault}`,
    async () => (await bed.commits()).find((commit) => commit.epoch > epoch && commit.batch > 0) ?? null,
    patienceMs,
  );
  return first.at - at;
}

/** What is broken of the promises, by what the receivers, the provider and the database themselves have seen. */
export async function judgeCluster(bed: ClusterBed, takeOvers: number): Promise<readonly string[]> {
  return [
    ...(await judgeCommits(bed)),
    ...(await judgeReadings(bed, takeOvers)),
    ...(await judgeMessages(bed, takeOvers)),
  ];
}

export async function judgeCommits(bed: ClusterBed): Promise<readonly string[]> {
  const broken: string[] = [];
  const last = new Map<string, number>();
  let epoch = 0;
  for (const commit of await bed.commits()) {
    if (commit.owner !== commit.incarnation)
      broken.push(`stale write: batch ${commit.batch} of ${commit.incarnation}`);
    if (commit.epoch < epoch) broken.push(`the epoch fell from ${epoch} to ${commit.epoch}`);
    epoch = commit.epoch;
    const expected = last.get(commit.incarnation);
    if (expected !== undefined && commit.batch !== expected + 1)
      broken.push(`batch ${commit.batch} of ${commit.incarnation} after batch ${expected}`);
    last.set(commit.incarnation, commit.batch);
  }
  return broken;
}

/** Each reading stands once, and was said by the provider; with a number of take-overs, no more is missing than they explain. */
async function judgeReadings(bed: ClusterBed, takeOvers: number | null): Promise<readonly string[]> {
  const broken: string[] = [];
  const reader = await openPostgresReader({ url: bed.url, program: 'the ledger' });
  try {
    const seen = new Set<number>();
    for (const account of accountIds) {
      const said = bed.provider.said.filter(({ secret }) => secret === secretOf(account));
      const commits = await bed.commits();
      let failed = 0;
      for await (const polls of reader.polls({ account, since: 0, until: Number.MAX_SAFE_INTEGER })) {
        failed += polls.filter(({ reading }) => reading === null).length;
        broken.push(...judgePolls(bed, { account, polls, seen }));
      }
      const missing = said.filter(({ micros }) => !seen.has(micros));
      if (takeOvers !== null) broken.push(...judgeMissing({ account, missing, failed, commits, takeOvers }));
    }
  } finally {
    await reader.close();
  }
  return broken;
}

function judgePolls(
  bed: ClusterBed,
  it: { readonly account: string; readonly polls: readonly PollRecord[]; readonly seen: Set<number> },
): readonly string[] {
  const { account, polls, seen } = it;
  // The daemons go on meanwhile: what the provider said is looked at after what is stored.
  const said = new Set(bed.provider.said.map(({ micros }) => micros));
  const broken: string[] = [];
  for (const { reading } of polls) {
    if (reading === null) continue;
    const { sms = 0 } = reading.balances;
    if (!said.has(sms)) broken.push(`${account} has a reading that the provider never gave`);
    if (seen.has(sms)) broken.push(`${account} has a reading twice`);
    seen.add(sms);
  }
  return broken;
}

/**
 * What is missing was given when its owner had one more commit at most, and was lost with that owner; or its poll is stored as failed:
 * after a jump of the clock an answer may be taken for a cache's. A take-over may cost an account two answers, the one on its way and the
 * one whose commit is.
 */
function judgeMissing(it: {
  readonly account: string;
  readonly missing: readonly { readonly at: number }[];
  readonly failed: number;
  readonly commits: readonly Committed[];
  readonly takeOvers: number;
}): readonly string[] {
  const { account, missing, failed, commits, takeOvers } = it;
  const broken: string[] = [];
  const dropped = missing.filter(({ at }) => commitsLater(commits, at) > 1);
  if (dropped.length > failed)
    broken.push(`${account}: ${dropped.length} answers are not stored though their owner went on storing`);
  if (missing.length > 2 * takeOvers + 1)
    broken.push(`${missing.length} answers for ${account} are not stored after ${takeOvers} take-overs`);
  return broken;
}

/** How often the owner at that instant committed later. */
function commitsLater(commits: readonly Committed[], at: number): number {
  const epoch = commits.findLast((commit) => commit.at <= at)?.epoch;
  return commits.filter((commit) => commit.at > at && commit.epoch === epoch).length;
}

/** What is missing is not counted: a server that is replaced by one that lags takes commits with it. */
export function judgeReadingsOnce(bed: ClusterBed): Promise<readonly string[]> {
  return judgeReadings(bed, null);
}

/** Per take-over one repeat a channel at most, and always under the same id; states in their order. */
async function judgeMessages(bed: ClusterBed, takeOvers: number): Promise<readonly string[]> {
  const broken: string[] = [];
  for (const path of receivers) {
    const posts = bed.sink.posts.filter((post) => post.path === path);
    const ids = posts.map(({ headers }) => String(headers['webhook-id']));
    const repeats = ids.length - new Set(ids).size;
    if (repeats > takeOvers) broken.push(`${repeats} repeats at ${path} in ${takeOvers} take-overs`);
    const words = [...new Map(posts.map((post, index) => [ids[index], tellsOf(post.body)])).values()];
    const story = words.filter((word, index) => word !== words[index - 1]);
    if (story[0] === 'RESOLVED') broken.push(`resolved before it fired at ${path}`);
  }
  return broken;
}

/** How many messages came more than once, of how many: under the same id, and at one receiver. */
export function countRepeats({ sink }: ClusterBed): { readonly repeats: number; readonly messages: number } {
  const names = sink.posts.map(({ path, headers }) => `${path} ${headers['webhook-id']}`);
  const messages = new Set(names).size;
  return { repeats: names.length - messages, messages };
}

function countNotified(bed: ClusterBed, word: string): Map<string, number>;
function countNotified(bed: ClusterBed, word: string, path: string): number;
function countNotified(bed: ClusterBed, word: string, path?: string): Map<string, number> | number {
  const count = (which: string): number =>
    bed.sink.posts.filter((post) => post.path === which && tellsOf(post.body) === word).length;
  return path === undefined ? new Map(receivers.map((which) => [which, count(which)])) : count(path);
}

/** What a post says of the rule that the runs are about; own alerts may stand next to it. */
function tellsOf(body: string): string {
  const { data } = JSON.parse(body) as {
    readonly data: { readonly alerts: readonly { readonly rule: string; readonly state: string }[] };
  };
  const about = data.alerts.find(({ rule }) => rule === 'sms-low');
  if (about === undefined) return 'OTHER';
  return about.state === 'resolved' ? 'RESOLVED' : 'WARNING';
}
