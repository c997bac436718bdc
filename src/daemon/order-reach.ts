import { refuse } from '../domain/operator.ts';
import { blockedUntil } from '../engine/observe.ts';
import type { OrderReach } from '../ports/orders.ts';
import { sentences } from '../wording/phrase.ts';
import type { DaemonParts } from './daemon-dependencies.ts';
import type { Poller } from './poller.ts';
import type { TestAlerts } from './test-alerts.ts';

const told = sentences('poll', {
  refusedLately: 'the provider refused lately; the next poll is due in {seconds} s',
});

/** The reach of orders in a running daemon. */
export function createReach(
  { state, now, membership }: Pick<DaemonParts, 'state' | 'now' | 'membership'>,
  poller: Pick<Poller, 'pollNow'>,
  tests: Pick<TestAlerts, 'begin'>,
): OrderReach {
  return {
    poll(account) {
      const started = poller.pollNow(account);
      if (started !== null) return { ended: started.then((outcome) => outcome?.kind ?? null) };
      const seconds = Math.ceil((blockedUntil(state, account) - now()) / 1000);
      return refuse('not-now', told.refusedLately({ seconds }));
    },
    testAlert: (incident) => tests.begin(incident),
    handOver: (order) => void membership?.handOver(order),
  };
}
