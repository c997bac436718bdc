import { join } from 'node:path';
import type { Incident } from '../../../src/domain/alert.ts';
import type { Notification } from '../../../src/domain/outbox.ts';
import { openReader } from '../../../src/store/store.ts';
import { accelerateClock } from '../accelerated-clock.ts';
import { type BuiltProcess, startNode } from '../built-program.ts';
import { eventually } from '../eventually.ts';
import { type Bed, makeBed } from '../run-daemon.ts';
import { accepted, type SinkAnswer } from '../slack-sink.ts';
import { bundleKillableDaemon } from './bundle-daemon.ts';
import type { KillPlan, StepCounts } from './kill-plan.ts';

/** How the webhook's receiver and Slack's meet the first attempt at each message. */
export type Receiver = 'takes all' | 'refuses first' | 'loses first answers' | 'kills on arrival';

export interface KillRun {
  readonly plans: readonly KillPlan[];
  readonly receiver: Receiver;
}

export interface KillResult {
  readonly crashes: number;
  /** Attempts that ended without an answer, so that the sender cannot know. */
  readonly unknown: number;
  readonly refused: number;
  /** What was taken more than once, over all receivers. */
  readonly duplicates: number;
  /** What is wrong; empty when every promise was kept. */
  readonly broken: readonly string[];
  /** Of the last process. */
  readonly counts: StepCounts | null;
}

/** Four simulated seconds a second: polls come every 250 ms, and a retry's second is a quarter. */
const speed = 4;

/** A step of the story takes parts of a second; a busy machine may make many of it. */
const patienceMs = 120_000;

const story = [
  { sms: '100', notified: 'WARNING' },
  { sms: '10', notified: 'CRITICAL' },
  { sms: '1000', notified: 'RESOLVED' },
] as const;

/**
 * One story on real sockets and a real database: a balance falls, falls further and recovers, while the
 * process is killed as `plans` say (one plan a process, in turn) and started again. Then the receivers'
 * history and the database are checked.
 */
export async function playKillRun({ plans, receiver }: KillRun): Promise<KillResult> {
  const startedAt = Date.now();
  const bed = await makeBed({ clock: accelerateClock(speed, startedAt) });
  const seen = { unknown: 0, refused: 0 };
  const child = new Revived(bed, plans, { startedAt, entry: await bundleKillableDaemon() });
  configure(bed);
  bed.slack.behave(meet({ receiver, seen, kill: () => child.kill() }));
  const broken: string[] = [];
  let counts: StepCounts | null = null;
  try {
    child.start();
    const until = (what: string, ask: () => boolean | Promise<boolean>): Promise<boolean> => {
      const askWhileAlive = () => {
        child.mustLive();
        return ask();
      };
      return eventually(what, askWhileAlive, patienceMs);
    };
    await until('a first reading', () => bed.provider.control.requests() > 1);
    for (const { sms, notified } of story) {
      bed.provider.control.setBalance('otp', 'sms', sms);
      await until(notified, () => notifiedEverywhere(bed, notified)).catch((error: unknown) =>
        broken.push(`lost: ${String(error)}`),
      );
    }
    await eventually('an empty outbox', async () =>
      (await readDatabase(bed)).messages.every(({ state }) => state !== 'pending'),
    ).catch(() => broken.push('messages stay pending'));
    counts = await child.end();
    broken.push(...(await judge(bed, { crashes: child.crashes, ...seen })));
    const duplicates = countDuplicates(bed, await mailIds(bed));
    return { crashes: child.crashes, ...seen, duplicates, broken, counts };
  } finally {
    await child.abandon();
    await bed.close();
  }
}

function configure(bed: Bed): void {
  bed.configure({
    channels: {
      ops: { type: 'slack', webhookUrl: bed.slack.url },
      hook: { type: 'webhook', url: `${bed.slack.origin}/hook` },
      finance: {
        type: 'email',
        smtpUrl: bed.mail.url,
        from: 'lowwater@example.com',
        to: ['finance@example.com'],
      },
    },
    // A busy machine that holds a process up for long makes readings stale, which is another story.
    rules: [
      { id: 'sms-low', type: 'below', thresholds: { warning: 200, critical: 50 } },
      { id: 'stale', type: 'stale', after: '1d' },
    ],
    routes: [{ channels: ['ops', 'hook', 'finance'], groupWait: '0s' }],
    server: null,
    log: { level: 'fatal' },
  });
}

/** The process, started again whenever it dies. */
class Revived {
  crashes = 0;
  readonly #bed: Bed;
  readonly #plans: KillPlan[];
  readonly #startedAt: number;
  readonly #entry: string;
  #process: BuiltProcess | null = null;
  #ending = false;
  #failure: string | null = null;

  constructor(
    bed: Bed,
    plans: readonly KillPlan[],
    { startedAt, entry }: { readonly startedAt: number; readonly entry: string },
  ) {
    this.#startedAt = startedAt;
    this.#entry = entry;
    this.#bed = bed;
    this.#plans = [...plans];
  }

  start(): void {
    const plan = JSON.stringify(this.#plans.shift() ?? null);
    const words = [this.#entry, this.#bed.configFile, plan, String(speed), String(this.#startedAt)];
    const started = startNode(words);
    this.#process = started;
    void started.ended.then(({ signal, stderr }) => {
      if (this.#ending) return;
      if (signal !== 'SIGKILL') {
        this.#failure = `the process ended by itself: ${stderr}`;
        return;
      }
      this.crashes += 1;
      this.start();
    });
  }

  /** Throws when the process ended otherwise than by being killed: nothing can come then. */
  mustLive(): void {
    if (this.#failure !== null) throw new Error(this.#failure);
  }

  kill(): void {
    this.#process?.child.kill('SIGKILL');
  }

  /**
   * Ends the process in order; gives what it counted. A plan may still kill it on the way: then it is started
   * and ended again.
   */
  async end(): Promise<StepCounts | null> {
    this.mustLive();
    this.#ending = true;
    for (;;) {
      this.#process?.child.kill('SIGTERM');
      const ended = await this.#process?.ended;
      if (ended?.signal !== 'SIGKILL') return readCounts(ended?.stdout ?? '');
      this.crashes += 1;
      const polls = this.#bed.provider.control.requests();
      this.start();
      await eventually('it polls again', () => this.#bed.provider.control.requests() > polls);
    }
  }

  async abandon(): Promise<void> {
    this.#ending = true;
    this.kill();
    await this.#process?.ended;
  }
}

function readCounts(stdout: string): StepCounts | null {
  const line = stdout.split('\n').find((one) => one.startsWith('{"counts"'));
  return line === undefined ? null : (JSON.parse(line) as { counts: StepCounts }).counts;
}

function meet(it: {
  readonly receiver: Receiver;
  readonly seen: { unknown: number; refused: number };
  readonly kill: () => void;
}): (post: { readonly path: string; readonly body: string }) => SinkAnswer {
  const known = new Set<string>();
  const firsts: Readonly<Record<Receiver, () => SinkAnswer>> = {
    'takes all': () => accepted,
    'refuses first': () => {
      it.seen.refused += 1;
      return { status: 429, headers: { 'retry-after': '1' } };
    },
    'loses first answers': () => {
      it.seen.unknown += 1;
      return 'reset-after-status';
    },
    'kills on arrival': () => {
      it.kill();
      return { ...accepted, delayMs: 20 };
    },
  };
  return ({ path, body }) => {
    const key = `${path} ${whatItTells(body)}`;
    if (known.has(key)) return accepted;
    known.add(key);
    return firsts[it.receiver]();
  };
}

/** Which part of the story a body tells: the latest that it names. */
function whatItTells(body: string): string {
  const words = firstLine(body).toUpperCase();
  return [...story].reverse().find(({ notified }) => words.includes(notified))?.notified ?? 'nothing';
}

/** Of a mail its first line, of a Slack message its text, of a webhook its headline: the rest names times of other states. */
function firstLine(body: string): string {
  if (!body.startsWith('{')) return body;
  const { text, data } = JSON.parse(body);
  return String(text ?? data.headline);
}

/** What receivers have in hand: what they answered with 200, and what they took without being able to say so. */
function taken(bed: Bed) {
  return bed.slack.posts.filter(
    ({ answer }) => answer === 'reset-after-status' || (typeof answer === 'object' && answer.status === 200),
  );
}

async function notifiedEverywhere(bed: Bed, notified: string): Promise<boolean> {
  const tells = (path: RegExp) =>
    taken(bed).some((post) => path.test(post.path) && whatItTells(post.body) === notified);
  if (!tells(/^\/services/) || !tells(/^\/hook/)) return false;
  return (await bed.mail.mails()).some(({ text }) => whatItTells(text.split('\n')[0] ?? '') === notified);
}

async function readDatabase(
  bed: Bed,
): Promise<{ incidents: readonly Incident[]; messages: readonly Notification[] }> {
  const reader = openReader({ path: join(bed.folder, 'lowwater.db'), now: Date.now });
  try {
    return { incidents: await reader.incidents({}), messages: await reader.messages(1000) };
  } finally {
    await reader.close();
  }
}

async function judge(
  bed: Bed,
  seen: { readonly crashes: number; readonly unknown: number },
): Promise<string[]> {
  const broken: string[] = [];
  const { incidents, messages } = await readDatabase(bed);
  if (incidents.length !== 1) broken.push(`${incidents.length} incidents instead of one`);
  if (incidents.some(({ resolvedAt }) => resolvedAt === null)) broken.push('an incident stays open');
  for (const { state, channel } of messages)
    if (state !== 'delivered') broken.push(`a message to ${channel} is ${state}`);
  const mails = await mailIds(bed);
  const duplicates = countDuplicates(bed, mails);
  const allowed = seen.crashes * 3 + seen.unknown;
  if (duplicates > allowed) broken.push(`${duplicates} duplicates, at most ${allowed} allowed`);
  for (const path of [/^\/services/, /^\/hook/]) {
    const order = taken(bed)
      .filter((post) => path.test(post.path))
      .map(({ body }) => whatItTells(body));
    if (order.indexOf('RESOLVED') < order.indexOf('WARNING')) broken.push('resolved before firing');
  }
  const known = new Set(messages.map(({ id }) => id));
  for (const id of [...hookIds(bed), ...mails])
    if (!known.has(id.replace(/-r\d+$/, ''))) broken.push(`the id ${id} is in no outbox`);
  return broken;
}

function hookIds(bed: Bed): string[] {
  return taken(bed)
    .filter(({ path }) => path === '/hook')
    .map(({ headers }) => String(headers['webhook-id']));
}

async function mailIds(bed: Bed): Promise<string[]> {
  return (await bed.mail.mails()).map(({ messageId }) => messageId.slice(1, messageId.indexOf('@')));
}

/** Slack gets no id: what it got twice has the same words. */
function countDuplicates(bed: Bed, mails: readonly string[]): number {
  const slack = taken(bed)
    .filter(({ path }) => path !== '/hook')
    .map(({ body }) => whatItTells(body));
  return [slack, hookIds(bed), mails].reduce((sum, keys) => sum + keys.length - new Set(keys).size, 0);
}
