import type { MessageItem } from '../domain/message.ts';
import { ownFigures } from './figures.ts';
import { wordValue } from './item-words.ts';
import type { AlertKind } from './kind.ts';

const type = 'storage-failed';

/** The rule id under which damaged polls of an account are reported. */
export function damagedPollsRule(account: string): string {
  return `${type}:${account}`;
}

/** The rule id under which records that cannot be read are reported; no account has such an id. */
export const damagedRecordsRule = `${type}:@records`;

/** The account whose stored polls are damaged; null where the database cannot be written. */
function damagedAccountOf({ rule }: Pick<MessageItem, 'rule'>): string | null {
  return rule.startsWith(`${type}:`) ? rule.slice(type.length + 1) : null;
}

/** The database cannot be written, or gave back damaged polls of an account. */
export const storageFailed: AlertKind = {
  type,
  concernsEveryChannel: true,
  // What is not stored is not notified while another daemon may take over.
  heldMs: ({ storage }) => storage.postgres?.leaseMs ?? 0,
  subject: (item) => (damagedAccountOf(item) === null ? 'cannot store' : 'stored readings damaged'),
  firing: (item, frame) => {
    const value = wordValue(item, frame);
    const detail = value === null ? '' : ` (${value})`;
    if (item.rule === damagedRecordsRule) return `stored records cannot be read and are set aside${detail}`;
    return damagedAccountOf(item) === null
      ? `cannot store readings and alerts${detail}`
      : `stored readings are damaged and set aside${detail}`;
  },
  resolved: (item) =>
    damagedAccountOf(item) === null
      ? 'can store readings and alerts again'
      : 'no more stored readings found damaged for a week',
  recovery: (item) =>
    damagedAccountOf(item) === null
      ? 'Resolved: the database can be written again.'
      : 'Resolved: nothing more was found damaged.',
  figures: ownFigures,
  advice: (item) => [
    item.rule === damagedRecordsRule
      ? 'Check the disk of the database. Everything else goes on; what cannot be read is kept in the table damaged_record. An alert of it fires again with its next reading.'
      : damagedAccountOf(item) === null
        ? 'Free space on the disk of the database, or make it writable. Until then lowwater goes on from memory, and a restart would forget what was not stored.'
        : 'Check the disk of the database. Polls and alerts go on; a backup from before the damage has these readings, and their bytes are kept in the table damaged_run.',
  ],
};
