import * as z from 'zod';
import { formatDuration } from '../../domain/duration.ts';
import { refuse } from '../../domain/operator.ts';
import { done, instant, joinDetails, orderKind } from './kind.ts';
import { refusals } from './refusals.ts';
import { keepSilence, refuseWindow } from './silence.ts';

/** Lets a silence that is not over last so much longer. */
export const extendSilence = orderKind({
  kind: 'extend-silence',
  since: '0.4',
  details: { id: z.string(), byMs: instant },
  apply(state, { id, byMs }, now) {
    const silence = state.silences.get(id);
    if (silence === undefined || silence.endsAt <= now)
      return refuse('not-found', refusals.noOpenSilence({ id }));
    const longer = { ...silence, endsAt: silence.endsAt + byMs };
    const refusal = refuseWindow(longer, now);
    if (refusal !== null) return refusal;
    keepSilence(state, longer, now);
    return done;
  },
  describe: ({ id, byMs }) => ({ detail: joinDetails(id, `by ${formatDuration(byMs)}`) }),
});
