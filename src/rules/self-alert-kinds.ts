import type { MessageItem } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { ClusterAspect } from '../ports/cluster.ts';
import type { WordingFrame } from '../wording/quantity-wording.ts';
import { figuresOf, ownFigures, wordWhatIsWrong } from './figures.ts';
import type { AlertKind } from './kind.ts';
import { factText, wordValue } from './words.ts';

/** Most accounts of a provider cannot be read: one notification replaces theirs. */
export const providerDown: AlertKind = {
  type: 'provider-down',
  subject: () => 'not answering',
  firing: (item, frame) => `no readings of ${wordValue(item, frame) ?? 'its accounts'}`,
  resolved: () => 'readings are back',
  recovery: 'Resolved: readings arrive again.',
  figures: (item, frame) => {
    const affected = wordWhatIsWrong(item, frame);
    return affected === null
      ? []
      : [{ label: 'Affected', value: affected }, ...figuresOf(item, frame, ['reason'])];
  },
  advice: () => [
    'Look at the provider’s status page and at the network of this host. Balance alerts keep their state until readings are back.',
  ],
};

export const configInvalid: AlertKind = {
  type: 'config-invalid',
  subject: () => 'configuration invalid',
  firing: () => 'the changed configuration is invalid, the old one stays in use',
  resolved: () => 'the configuration is valid again and in use',
  recovery: 'Resolved: a valid configuration was loaded.',
  figures: ownFigures,
  advice: () => [
    'Run "lowwater validate": it names each error with its line. The running configuration stays until then.',
  ],
};

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

/** The database cannot be written, or gave back damaged polls of an account. */
export const storageFailed: AlertKind = {
  type: 'storage-failed',
  concernsEveryChannel: true,
  // What is not stored is not notified while another daemon may take over.
  heldMs: ({ storage }) => storage.postgres?.leaseMs ?? 0,
  subject: ({ rule }) => (isAboutDamage(rule) ? 'stored readings damaged' : 'cannot store'),
  firing: (item, frame) => {
    const value = wordValue(item, frame);
    const detail = value === null ? '' : ` (${value})`;
    if (item.rule === damagedRecordsRule) return `stored records cannot be read and are set aside${detail}`;
    return isAboutDamage(item.rule)
      ? `stored readings are damaged and set aside${detail}`
      : `cannot store readings and alerts${detail}`;
  },
  resolved: ({ rule }) =>
    isAboutDamage(rule)
      ? 'no more stored readings found damaged for a week'
      : 'can store readings and alerts again',
  recovery: ({ rule }) =>
    isAboutDamage(rule)
      ? 'Resolved: nothing more was found damaged.'
      : 'Resolved: the database can be written again.',
  figures: ownFigures,
  advice: ({ rule }) => [
    rule === damagedRecordsRule
      ? 'Check the disk of the database. Everything else goes on; what cannot be read is kept in the table damaged_record. An alert of it fires again with its next reading.'
      : isAboutDamage(rule)
        ? 'Check the disk of the database. Polls and alerts go on; a backup from before the damage has these readings, and their bytes are kept in the table damaged_run.'
        : 'Free space on the disk of the database, or make it writable. Until then lowwater goes on from memory, and a restart would forget what was not stored.',
  ],
};

/** The rule id under which damaged polls of an account are reported. */
export function damagedPollsRule(account: string): string {
  return `${storageFailed.type}:${account}`;
}

/** The rule id under which records that cannot be read are reported; no account has such an id. */
export const damagedRecordsRule = damagedPollsRule('@records');

/** Else the database cannot be written. */
function isAboutDamage(rule: string): boolean {
  return rule.startsWith(damagedPollsRule(''));
}

const nameLimit = 80;

export const refusedRecipientsFact = 'refused recipients';

export const variableFact = 'environment variable';

/** A channel refuses messages for good, or some of their recipients or parts; notified on the others. */
export const channelFailed: AlertKind = {
  type: 'channel-failed',
  concernsEveryChannel: true,
  subject: ({ rule }) => `channel ${cleanText(channelOf(rule), nameLimit)} fails`,
  firing: (item, frame) =>
    `channel ${nameOf(item, frame)} ${refusesSomeOnly(item) ? 'delivers only in part' : 'does not take messages'}`,
  resolved: (item, frame) =>
    `channel ${nameOf(item, frame)} ${refusesSomeOnly(item) ? 'delivers everything again' : 'takes messages again'}`,
  recovery: 'Resolved: the channel took a message again.',
  figures: ownFigures,
  advice: (item, frame) => [
    refusesSomeOnly(item)
      ? 'Correct or remove what is refused (mail addresses stand in "to" of the channel), and try it with "lowwater test-channel".'
      : `Fix the channel in the configuration and try it with "lowwater test-channel".${howItTakesEffect(item, frame)} Alerts that are still open are sent to it again then.`,
  ],
};

function howItTakesEffect(item: MessageItem, frame: WordingFrame): string {
  const name = factText(item, variableFact, frame);
  return name === null
    ? ''
    : ` What comes from the environment, such as ${name}, is taken by a restart of lowwater alone.`;
}

export function channelFailedRule(channel: string): string {
  return `${channelFailed.type}:${channel}`;
}

function channelOf(rule: string): string {
  return rule.replace(/^channel-failed:?/, '');
}

function refusesSomeOnly(item: MessageItem): boolean {
  return item.facts.some(({ name, value }) => name === refusedRecipientsFact && value.unit === 'count');
}

function nameOf(item: MessageItem, frame: WordingFrame): string {
  return factText(item, 'channel', frame) ?? cleanText(channelOf(item.rule), nameLimit);
}

/** What ended, and what to do while it lasts. */
const aspects: Readonly<Record<ClusterAspect, { readonly resolved: string; readonly advice: string }>> = {
  clock: {
    resolved: 'the clock of the database is right again',
    advice:
      'Set the clock of the database server (NTP). Alerts and forecasts go by the clocks of the daemons until then.',
  },
  configuration: {
    resolved: 'all daemons that share the database have one configuration again',
    advice:
      'After a take-over the accounts are watched by the other configuration. Give every daemon the same file, and each fleet a database of its own; "lowwater cluster hand-over" lists what differs.',
  },
  split: {
    resolved: 'one database server takes writes again',
    advice:
      'Stop the older server, or make it a standby of the newer one. The daemon on the older history lets go of the accounts; what it stored since the fail-over stays on that server.',
  },
  doubt: {
    resolved: 'nothing speaks against the owner of the accounts any more',
    advice:
      'Alerts may be sent twice as long as this lasts. Remove what keeps every daemon from owning the accounts: "lowwater cluster status" and /readyz of each daemon name it.',
  },
};

/** Something is wrong among the daemons that share a database, or with that database, while one of them polls. */
export const clusterDegraded: AlertKind = {
  type: 'cluster-degraded',
  concernsEveryChannel: true,
  subject: () => 'shared database',
  firing: (item, frame) =>
    wordValue(item, frame) ?? 'something is wrong among the daemons that share the database',
  resolved: ({ rule }) => aspectOf(rule)?.resolved ?? 'the daemons that share the database are well again',
  recovery: 'Resolved: all is well among the daemons that share the database.',
  figures: ownFigures,
  advice: ({ rule }) => [aspectOf(rule)?.advice ?? []].flat(),
};

/** The rule ids under which these are reported, by what they are about. */
export const clusterDegradedRules: readonly (readonly [aspect: string, rule: string])[] = Object.keys(
  aspects,
).map((aspect) => [aspect, `${clusterDegraded.type}:${aspect}`]);

function aspectOf(rule: string): { readonly resolved: string; readonly advice: string } | undefined {
  return Object.entries(aspects).find(([aspect]) => rule === `${clusterDegraded.type}:${aspect}`)?.[1];
}
