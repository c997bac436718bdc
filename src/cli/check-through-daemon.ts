import { type OutcomeKind, outcomeKinds } from '../domain/outcome.ts';
import type { Settings } from '../domain/settings.ts';
import type { CheckedAccount } from '../views/check.ts';
import { askDaemon } from './ask-daemon.ts';
import { CommandError } from './command.ts';
import type { CommandContext } from './context.ts';

/** So many accounts are asked for at once; the daemon's guard decides when each is polled. */
const concurrency = 10;

/** How often, and how many times, the database is asked whether it has what the daemon said. */
const lookEveryMs = 100;
const looks = 20;

/**
 * Lets the running daemon poll the accounts, within its guard and its backoff, and reads from its database what the rules
 * say then. Null when no daemon answers.
 */
export async function checkThroughDaemon(
  context: CommandContext,
  settings: Settings,
  accounts: readonly string[],
): Promise<readonly CheckedAccount[] | null> {
  const first = accounts[0];
  if (first === undefined) return [];
  const patienceMs =
    settings.provider.timeoutMs + 5000 + (concurrency * 1000) / settings.provider.maxRequestsPerSecond;
  const polled = new Map<string, Polled>();
  const answer = await poll(first);
  if (answer === null) return null;
  polled.set(first, answer);
  const rest = accounts.slice(1);
  const work = async (): Promise<void> => {
    for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
      const its = await poll(id);
      if (its === null) throw new CommandError('the daemon went away while it was asked');
      polled.set(id, its);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return readChecked(context, settings, polled);

  async function poll(id: string): Promise<Polled | null> {
    const path = `/api/v1/accounts/${encodeURIComponent(id)}/poll`;
    const answer = await askDaemon(settings.server, { method: 'POST', path, patienceMs });
    if (answer.kind === 'absent') return null;
    if (answer.kind === 'answered') return readPolled(answer.body);
    if (answer.status !== backingOff) throw new CommandError(answer.message);
    return { outcome: null, at: 0, reason: `not asked: ${answer.message}` };
  }
}

/** The daemon's answer where the provider asked to wait. */
const backingOff = 409;

interface Polled {
  readonly outcome: OutcomeKind | null;
  readonly at: number;
  readonly reason: string | null;
}

/** `{"outcome":"ok","account":{"polledAt":…,"failure":…}}` */
function readPolled(body: unknown): Polled {
  const { outcome, account } = body as { readonly outcome?: unknown; readonly account?: object };
  const { polledAt, failure } = (account ?? {}) as {
    readonly polledAt?: unknown;
    readonly failure?: unknown;
  };
  const kind = outcomeKinds.find((known) => known === outcome);
  if (kind === undefined) throw new CommandError('the daemon answered in words of another version');
  return {
    outcome: kind,
    at: typeof polledAt === 'string' ? Date.parse(polledAt) : 0,
    reason: kind !== 'ok' && typeof failure === 'string' ? failure : null,
  };
}

/** The daemon stores what it polled a moment after it has answered. */
async function readChecked(
  { rooms, clock }: CommandContext,
  settings: Settings,
  polled: ReadonlyMap<string, Polled>,
): Promise<readonly CheckedAccount[]> {
  const reader = await rooms.openReader(settings.storage);
  try {
    for (let look = 1; look <= looks; look++) {
      const { accounts } = await reader.load();
      const stored = new Map(accounts.map((account) => [account.account, account.polledAt ?? 0]));
      if ([...polled].every(([id, { at }]) => (stored.get(id) ?? 0) >= at)) break;
      await new Promise<void>((resolve) => clock.setTimer(lookEveryMs, resolve));
    }
    const views = await rooms.openStoredViews(settings, reader);
    const checked: CheckedAccount[] = [];
    for (const [id, { outcome, reason }] of polled) {
      const view = await views.account(id);
      if (view !== null) checked.push({ view, outcome, reason, explanations: await views.explain(id) });
    }
    return checked;
  } finally {
    await reader.close();
  }
}
