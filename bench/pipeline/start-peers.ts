import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { PeersAnswer, PeersOrder } from './peers-protocol.ts';

export interface Peers {
  readonly providerUrl: string;
  readonly hooksUrl: string;
  /** Requests that the provider has had, and the instant of the count. */
  count(): Promise<{ readonly requests: number; readonly at: number }>;
  setBalances(accounts: readonly number[], amount: string): Promise<void>;
  timings(): Promise<Extract<PeersAnswer, { kind: 'timings' }>>;
  stop(): void;
}

/** Starts the simulated provider and the receiver of messages in a process of their own. `timed` notes every instant. */
export async function startPeers(accounts: number, timed: 'timed' | 'untimed'): Promise<Peers> {
  const child = fork(join(import.meta.dirname, 'peers.ts'), [String(accounts), timed]);
  const { providerUrl, hooksUrl } = expectKind(await nextAnswer(child), 'ready');
  const ask = async (order: PeersOrder): Promise<PeersAnswer> => {
    child.send(order);
    return nextAnswer(child);
  };
  return {
    providerUrl,
    hooksUrl,
    count: async () => expectKind(await ask({ kind: 'count' }), 'count'),
    setBalances: async (numbers, amount) => {
      expectKind(await ask({ kind: 'set-balances', accounts: numbers, amount }), 'done');
    },
    timings: async () => expectKind(await ask({ kind: 'timings' }), 'timings'),
    stop: () => child.kill(),
  };
}

function nextAnswer(child: ChildProcess): Promise<PeersAnswer> {
  return new Promise((resolve, reject) => {
    const failed = (code: number | null): void => reject(new Error(`the peers ended with ${code}`));
    child.once('exit', failed);
    child.once('message', (answer: PeersAnswer) => {
      child.off('exit', failed);
      resolve(answer);
    });
  });
}

function expectKind<K extends PeersAnswer['kind']>(
  answer: PeersAnswer,
  kind: K,
): Extract<PeersAnswer, { kind: K }> {
  if (answer.kind !== kind) throw new Error(`the peers answered ${answer.kind} where ${kind} was expected`);
  // The cast repeats what the line above has checked.
  return answer as Extract<PeersAnswer, { kind: K }>;
}
