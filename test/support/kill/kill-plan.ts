import type { Channel } from '../../../src/ports/channel.ts';
import type { Provider } from '../../../src/ports/provider.ts';
import type { Batch, Store } from '../../../src/ports/store.ts';
import type { PortChanges } from '../wired-daemon.ts';

/** Steps of commit and delivery at which a process may be stopped, each a call of a port. */
export const killSteps = [
  'poll answered',
  'commit begins',
  'commit half written',
  'commit done',
  'sending begins',
  'sending ended',
] as const;

export type KillStep = (typeof killSteps)[number];

/** Stops the process for good the `nth` time (from 1) that it comes to `step`. */
export interface KillPlan {
  readonly step: KillStep;
  readonly nth: number;
}

/** How often each step was come to. */
export type StepCounts = Record<KillStep, number>;

/** Ports that stop this process as the plan says, with SIGKILL; without one they only count. */
export function killAt(plan: KillPlan | null): {
  readonly changes: PortChanges;
  readonly counts: StepCounts;
} {
  const counts = Object.fromEntries(killSteps.map((step) => [step, 0])) as StepCounts;
  const reach = (step: KillStep): void => {
    counts[step] += 1;
    if (plan?.step === step && plan.nth === counts[step]) process.kill(process.pid, 'SIGKILL');
  };
  return {
    counts,
    changes: {
      store: (store) => ({ ...store, commit: (batch) => commit(store, batch, reach) }),
      channel: (channel) => ({ ...channel, send: (...order) => send(channel, order, reach) }),
      provider: (provider) => ({
        ...provider,
        readBalance: async (...order: Parameters<Provider['readBalance']>) => {
          const outcome = await provider.readBalance(...order);
          reach('poll answered');
          return outcome;
        },
      }),
    },
  };
}

async function commit(store: Store, batch: Batch, reach: (step: KillStep) => void): Promise<void> {
  reach('commit begins');
  let reached = false;
  await store.commit({
    ...batch,
    // Polls, alerts and incidents are written by now, messages are not; the transaction is open.
    get messages() {
      if (!reached) reach('commit half written');
      reached = true;
      return batch.messages;
    },
  });
  reach('commit done');
}

async function send(
  channel: Channel,
  order: Parameters<Channel['send']>,
  reach: (step: KillStep) => void,
): ReturnType<Channel['send']> {
  reach('sending begins');
  const delivery = await channel.send(...order);
  reach('sending ended');
  return delivery;
}
