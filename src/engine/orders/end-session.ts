import * as z from 'zod';
import { endSession as forgetSession, keepCalendarKey } from '../access.ts';
import { done, instant, orderKind } from './kind.ts';

/** Ends a session of the page before its time; it stays ended after a restart. */
export const endSession = orderKind({
  kind: 'end-session',
  since: '0.4',
  details: { id: z.string(), endsAt: instant },
  apply(state, session, now) {
    forgetSession(state, session, now);
    return done;
  },
  describe: ({ id }) => ({ detail: id }),
});

/** Gives the calendar of payments another address: those with the earlier key no longer show anything. */
export const renewCalendarKey = orderKind({
  kind: 'renew-calendar-key',
  since: '0.4',
  details: { key: z.string() },
  apply(state, { key }) {
    keepCalendarKey(state, key);
    return done;
  },
  describe: () => ({}),
});
