import * as z from 'zod';
import { isAcknowledged } from '../../domain/alert.ts';
import { refuse } from '../../domain/operator.ts';
import { keepIncident } from '../incidents.ts';
import { applyToSpending, incidentsSharingNotification, noIncident, openIncidentOf } from './acknowledge.ts';
import { done, orderKind } from './kind.ts';
import { refusals } from './refusals.ts';

/** Removes an acknowledgement: reminders go on, and the time to escalation starts again. */
export const unacknowledge = orderKind({
  kind: 'unacknowledge',
  details: { account: z.string(), rule: z.string() },
  apply(state, order, now) {
    const incident = openIncidentOf(state, order);
    if (incident === null) return noIncident(state, order);
    if (!isAcknowledged(incident)) return refuse('not-found', refusals.notTaken(order));
    for (const open of [incident, ...incidentsSharingNotification(state, incident)]) {
      keepIncident(state, { ...open, acknowledgement: null, escalationSince: now });
      applyToSpending(state, open, false);
    }
    return done;
  },
  describe: ({ account, rule }) => ({ account, rule }),
});
