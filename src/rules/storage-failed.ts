import { ownFigures } from './figures.ts';
import { wordValue } from './item-words.ts';
import type { AlertKind } from './kind.ts';

export const storageFailed: AlertKind = {
  type: 'storage-failed',
  concernsEveryChannel: true,
  // What is not stored is not notified while another daemon may take over.
  heldMs: ({ storage }) => storage.postgres?.leaseMs ?? 0,
  subject: () => 'cannot store',
  firing: (item, frame) => {
    const value = wordValue(item, frame);
    return `cannot store readings and alerts${value === null ? '' : ` (${value})`}`;
  },
  resolved: () => 'can store readings and alerts again',
  recovery: 'Resolved: the database can be written again.',
  figures: ownFigures,
  advice: () => [
    'Free space on the disk of the database, or make it writable. Until then lowwater goes on from memory, and a restart would forget what was not stored.',
  ],
};
