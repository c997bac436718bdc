import * as z from 'zod';
import { refuse } from '../../domain/operator.ts';
import { done, orderKind } from './kind.ts';
import { refusals } from './refusals.ts';
import { keepSilence } from './silence.ts';

export const expireSilence = orderKind({
  kind: 'expire',
  action: 'expire-silence',
  details: { id: z.string() },
  apply(state, { id }, now) {
    const silence = state.silences.get(id);
    if (silence === undefined) return refuse('not-found', refusals.noSilence({ id }));
    // Until when it has muted stays as it is.
    if (silence.endsAt <= now) return refuse('not-found', refusals.silenceIsOver({ id }));
    keepSilence(state, { ...silence, endsAt: now }, now);
    return done;
  },
  describe: ({ id }) => ({ detail: id }),
});
