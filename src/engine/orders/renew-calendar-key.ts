import * as z from 'zod';
import { keepCalendarKey } from '../access.ts';
import { done, orderKind } from './kind.ts';

/** Another address for the calendar of payments: those with the key before show nothing any more. */
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
