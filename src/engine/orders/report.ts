import * as z from 'zod';
import { refuse } from '../../domain/operator.ts';
import { done, orderKind } from './kind.ts';

/** A report before its time. The daemon that was asked composes and sends it; its schedule stays. */
export const report = orderKind({
  kind: 'report',
  isPassing: true,
  since: '0.4',
  details: { report: z.string() },
  apply: ({ settings }, { report: id }) =>
    settings.reports.some((known) => known.id === id)
      ? done
      : refuse('not-found', 'The configuration has no report of this id.'),
  describe: ({ report: id }) => ({ detail: id }),
});
