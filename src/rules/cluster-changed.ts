import { wordValue } from './item-words.ts';
import type { AlertKind } from './kind.ts';

/** An event: something happened among the daemons that share a database, or to that database, and nothing has to be done. */
export const clusterChanged: AlertKind = {
  type: 'cluster-changed',
  subject: () => 'shared database',
  firing: (item, frame) => wordValue(item, frame) ?? 'the daemons that share the database changed',
  resolved: (item, frame) => wordValue(item, frame) ?? 'the daemons that share the database changed',
  recovery: 'Resolved.',
  figures: () => [],
  advice: () => [],
};
