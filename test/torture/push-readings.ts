import { StorageError } from '../../src/domain/operator-error.ts';
import { entryOf } from '../../src/domain/provider-entry.ts';
import type { EventQueue } from './event-queue.ts';
import type { Fleet } from './fleet.ts';
import { minuteMs, type Scenario } from './scenario.ts';
import type { World } from './world.ts';

/** Who has a database in cron pushes about as often as it is expected. */
const cronMs = 15 * minuteMs;

/** Brings the readings of accounts that nobody polls, as often as they are expected, while somebody takes them. */
export function pushReadings({
  scenario,
  queue,
  world,
  fleet,
}: {
  readonly scenario: Scenario;
  readonly queue: EventQueue;
  readonly world: World;
  readonly fleet: Fleet;
}): void {
  for (const account of scenario.settings.accounts) {
    if (entryOf(scenario.settings, account).polled) continue;
    const { id, poll } = account;
    const everyMs = poll.kind === 'every' ? poll.everyMs : cronMs;
    const push = (): void => {
      queue.at(queue.now + everyMs, push);
      const { outcome } = world.answer(id, queue.now);
      const machine = fleet.owner ?? fleet.machines[0];
      const { daemon, views } = machine ?? { daemon: null, views: null };
      if (outcome.kind !== 'ok' || machine === undefined || daemon === null || views === null) return;
      if (machine.frozen || machine.stopping) return;
      const taken = views.pushReading({ account: id, at: daemon.now(), ...outcome.answer });
      // Of a daemon that loses the accounts it hears that it must push again.
      taken.catch((error: unknown) => {
        if (!(error instanceof StorageError)) throw error;
      });
    };
    queue.at(everyMs / 2, push);
  }
}
