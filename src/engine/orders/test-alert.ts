import * as z from 'zod';
import { isRefusal, refuse } from '../../domain/operator.ts';
import { severities } from '../../domain/severity.ts';
import { minuteMs } from '../../domain/time.ts';
import { noteTest, sketchTest } from '../test-alert.ts';
import { joinDetails, orderKind } from './kind.ts';

/** A test that was left in the database for longer is refused: nobody waits for it any more. */
const maxAgeMs = 5 * minuteMs;

/** An alert of a rule that nothing fires: it goes where a real one would, says that it is a test, and resolves after a minute. */
export const testAlert = orderKind({
  kind: 'test-alert',
  isPassing: true,
  since: '0.4',
  details: {
    account: z.string(),
    /** Default: the first rule that says that a balance runs out. */
    rule: z.string().optional(),
    /** Default: the worst that the rule reaches. */
    severity: z.enum(severities).optional(),
  },
  apply(state, order, now, reach) {
    if (now - order.at > maxAgeMs) return refuse('not-now', 'the test was ordered too long ago');
    const incident = sketchTest(state, order, now);
    if (isRefusal(incident)) return incident;
    noteTest(state, incident);
    return reach.testAlert(incident);
  },
  describe: ({ account, rule = null, severity }) => ({ account, rule, detail: joinDetails(severity) }),
});
