import { type MessageItem, stateOf } from '../domain/message.ts';
import { cleanText } from '../domain/plain-text.ts';
import type { ClusterAspect } from '../ports/cluster.ts';
import { type PhraseOf, phrases, say } from '../wording/phrase.ts';
import { sayValue, type WordingFrame } from '../wording/quantity-wording.ts';
import { figuresOf, ownFigures } from './fact-figures.ts';
import type { AlertKind } from './kind.ts';
import { givenText } from './words.ts';

const says = phrases('ownAlert', {
  notAnswering: 'not answering',
  noReadings: 'no readings of its accounts',
  noReadingsOf: 'no readings of {accounts}',
  readingsBack: 'readings are back',
  readingsArrive: 'Resolved: readings arrive again.',
  affected: 'Affected',
  lookAtProvider:
    'Look at the provider’s status page and at the network of this host. Balance alerts keep their state until readings are back.',
  lookAtPushers:
    'Check that what pushes the readings of these accounts runs, and that its token is valid. Balance alerts keep their state until readings are back.',
  deafSubject: 'chat not connected',
  deaf: 'buttons and commands do nothing: {detail}',
  deafSomehow: 'buttons and commands in chats do nothing',
  hearsAgain: 'buttons and commands work again',
  chatBack: 'Resolved: the chat is connected again.',
  actElsewhere:
    'Messages go on. Acknowledge on the page or with "lowwater ack" until then. The connection is tried again by itself.',
  ratesUnread: 'rates of currencies not read',
  ratesUnreadBy: 'rates of currencies cannot be read: {detail}',
  ratesRead: 'rates of currencies are read again',
  ratesBack: 'Resolved: rates are read again.',
  checkRates:
    'Check "money.rates" and its source. Sums say the day of their rates until then, and what has none is not in them; amounts of accounts are not concerned.',
  invalid: 'configuration invalid',
  staysInUse: 'the changed configuration is invalid, the old one stays in use',
  validAgain: 'the configuration is valid again and in use',
  loaded: 'Resolved: a valid configuration was loaded.',
  validate:
    'Run "lowwater validate": it names each error with its line. The running configuration stays until then.',
  sharedDatabase: 'shared database',
  clusterChange: '{detail}',
  clusterChangedSomehow: 'the daemons that share the database changed',
  over: 'Resolved.',
  damagedRecords: 'stored records cannot be read and are set aside',
  damagedRecordsBy: 'stored records cannot be read and are set aside ({detail})',
  damagedReadings: 'stored readings are damaged and set aside',
  damagedReadingsBy: 'stored readings are damaged and set aside ({detail})',
  cannotStore: 'cannot store readings and alerts',
  cannotStoreBy: 'cannot store readings and alerts ({detail})',
  damageOver: 'no more stored readings found damaged for a week',
  storesAgain: 'can store readings and alerts again',
  nothingMore: 'Resolved: nothing more was found damaged.',
  writable: 'Resolved: the database can be written again.',
  checkDiskOfRecords:
    'Check the disk of the database. Everything else goes on; what cannot be read is kept in the table damaged_record. An alert of it fires again with its next reading.',
  checkDisk:
    'Check the disk of the database. Polls and alerts go on; a backup from before the damage has these readings, and their bytes are kept in the table damaged_run.',
  freeSpace:
    'Free space on the disk of the database, or make it writable. Until then lowwater goes on from memory, and a restart would forget what was not stored.',
  fails: 'channel {channel} fails',
  deliversInPart: 'channel {channel} delivers only in part',
  takesNothing: 'channel {channel} does not take messages',
  leftOpen:
    'channel {channel} was removed or sends elsewhere, and its old receiver was not told that its alerts end there',
  closeThere: 'Close by hand what is still open at the old receiver: lowwater tells it nothing more.',
  deliversAll: 'channel {channel} delivers everything again',
  takesAgain: 'channel {channel} takes messages again',
  took: 'Resolved: the channel took a message again.',
  correctRecipients:
    'Correct or remove what is refused (mail addresses stand in "to" of the channel), and try it with "lowwater test-channel".',
  fixChannel:
    'Fix the channel in the configuration and try it with "lowwater test-channel". Alerts that are still open are sent to it again then.',
  fixChannelAndRestart:
    'Fix the channel in the configuration and try it with "lowwater test-channel". What comes from the environment, such as {variable}, is taken by a restart of lowwater alone. Alerts that are still open are sent to it again then.',
  clusterProblem: '{detail}',
  somethingWrong: 'something is wrong among the daemons that share the database',
  wellAgain: 'the daemons that share the database are well again',
  allWell: 'Resolved: all is well among the daemons that share the database.',
  clockRight: 'the clock of the database is right again',
  setClock:
    'Set the clock of the database server (NTP). Alerts and forecasts go by the clocks of the daemons until then.',
  oneConfiguration: 'all daemons that share the database have one configuration again',
  sameFile:
    'After a take-over the accounts are watched by the other configuration. Give every daemon the same file, and each fleet a database of its own; "lowwater cluster hand-over" lists what differs.',
  oneServer: 'one daemon alone owns the accounts again, though the older server may still take writes',
  stopOlder:
    'Stop the older server, or make it a standby of the newer one. The daemon on the older history lets go of the accounts; what it stored since the fail-over stays on that server.',
  ownerClear: 'nothing speaks against the owner of the accounts any more',
  removeDoubt:
    'Alerts may be sent twice as long as this lasts. Remove what keeps every daemon from owning the accounts: "lowwater cluster status" and /readyz of each daemon name it.',
});

/** Most accounts of a provider cannot be read: one notification replaces theirs. */
export const providerDown: AlertKind = {
  type: 'provider-down',
  subject: says.notAnswering,
  firing(item, frame) {
    const affected = sayValue(item, frame);
    return affected === null
      ? say(says.noReadings, frame)
      : say(says.noReadingsOf, { accounts: affected }, frame);
  },
  resolved: (_item, frame) => say(says.readingsBack, frame),
  recovery: () => says.readingsArrive,
  figures: (item, frame) => {
    const affected = sayValue(item, frame);
    return affected === null || stateOf(item) === 'resolved'
      ? []
      : [{ label: say(says.affected, frame), value: affected }, ...figuresOf(item, frame, ['reason'])];
  },
  // No poll of pushed accounts can fail, so nothing gives a reason.
  advice: (item, frame) => [
    say(givenText(item, 'reason') === null ? says.lookAtPushers : says.lookAtProvider, frame),
  ],
};

export const configInvalid: AlertKind = {
  type: 'config-invalid',
  subject: says.invalid,
  firing: (_item, frame) => say(says.staysInUse, frame),
  resolved: (_item, frame) => say(says.validAgain, frame),
  recovery: () => says.loaded,
  figures: ownFigures,
  advice: (_item, frame) => [say(says.validate, frame)],
};

/** The source of rates gives none by which sums can be made, or old ones. */
export const ratesFailed: AlertKind = {
  type: 'rates-failed',
  subject: says.ratesUnread,
  firing: (item, frame) => sayDetail(says.ratesUnreadBy, says.ratesUnread, item, frame),
  resolved: (_item, frame) => say(says.ratesRead, frame),
  recovery: () => says.ratesBack,
  figures: ownFigures,
  advice: (_item, frame) => [say(says.checkRates, frame)],
};

/** The connection to a chat is lost: what people press there does nothing. */
export const chatLost: AlertKind = {
  type: 'chat-lost',
  subject: says.deafSubject,
  firing: (item, frame) => sayDetail(says.deaf, says.deafSomehow, item, frame),
  resolved: (_item, frame) => say(says.hearsAgain, frame),
  recovery: () => says.chatBack,
  figures: ownFigures,
  advice: (_item, frame) => [say(says.actElsewhere, frame)],
};

/** An event: something happened among the daemons that share a database, or to that database, and nothing has to be done. */
export const clusterChanged: AlertKind = {
  type: 'cluster-changed',
  subject: says.sharedDatabase,
  firing: sayClusterChange,
  resolved: sayClusterChange,
  recovery: () => says.over,
  figures: () => [],
  advice: () => [],
};

/** The database cannot be written, or gave back damaged polls of an account. */
export const storageFailed: AlertKind = {
  type: 'storage-failed',
  concernsEveryChannel: true,
  // An alert that is not stored is not notified while another daemon may take over.
  pausedMs: ({ storage }) => storage.postgres?.leaseMs ?? 0,
  subject: (rule, reader) => say(troubles[storageTrouble(rule)].subject, reader),
  firing(item, frame) {
    const { firing, subject } = troubles[storageTrouble(item.rule)];
    return sayDetail(firing, subject, item, frame);
  },
  resolved: ({ rule }, frame) =>
    say(storageTrouble(rule) === 'disk' ? says.storesAgain : says.damageOver, frame),
  recovery: ({ rule }) => (storageTrouble(rule) === 'disk' ? says.writable : says.nothingMore),
  figures: ownFigures,
  advice: ({ rule }, frame) => [say(troubles[storageTrouble(rule)].advice, frame)],
};

/** The rule id under which damaged polls of an account are reported. */
export function damagedPollsRule(account: string): string {
  return `${storageFailed.type}:${account}`;
}

/** The rule id under which records that cannot be read are reported; no account has such an id. */
export const damagedRecordsRule = damagedPollsRule('@records');

const troubles = {
  records: { subject: says.damagedRecords, firing: says.damagedRecordsBy, advice: says.checkDiskOfRecords },
  readings: { subject: says.damagedReadings, firing: says.damagedReadingsBy, advice: says.checkDisk },
  disk: { subject: says.cannotStore, firing: says.cannotStoreBy, advice: says.freeSpace },
} as const;

/** `disk`: the database cannot be written. */
function storageTrouble(rule: string): keyof typeof troubles {
  if (rule === damagedRecordsRule) return 'records';
  return rule.startsWith(damagedPollsRule('')) ? 'readings' : 'disk';
}

const nameLimit = 80;

export const refusedRecipientsFact = 'refused recipients';

export const variableFact = 'environment variable';

/** A channel refuses messages for good, or some of their recipients or parts; notified on the others. */
export const channelFailed: AlertKind = {
  type: 'channel-failed',
  concernsEveryChannel: true,
  subject: (rule, reader) => say(says.fails, { channel: cleanText(channelOf(rule), nameLimit) }, reader),
  firing: (item, frame) =>
    say(
      item.incident.event ? says.leftOpen : refusesSomeOnly(item) ? says.deliversInPart : says.takesNothing,
      { channel: nameOf(item) },
      frame,
    ),
  resolved: (item, frame) =>
    say(refusesSomeOnly(item) ? says.deliversAll : says.takesAgain, { channel: nameOf(item) }, frame),
  recovery: () => says.took,
  figures: ownFigures,
  advice(item, frame) {
    if (item.incident.event) return [say(says.closeThere, frame)];
    if (refusesSomeOnly(item)) return [say(says.correctRecipients, frame)];
    const variable = givenText(item, variableFact);
    return variable === null
      ? [say(says.fixChannel, frame)]
      : [say(says.fixChannelAndRestart, { variable }, frame)];
  },
};

export function channelFailedRule(channel: string): string {
  return `${channelFailed.type}:${channel}`;
}

function channelOf(rule: string): string {
  return rule.replace(/^channel-failed:?/, '');
}

function refusesSomeOnly(item: MessageItem): boolean {
  return item.facts.some(({ name, value }) => name === refusedRecipientsFact && value.unit === 'count');
}

function nameOf(item: MessageItem): string {
  return givenText(item, 'channel') ?? cleanText(channelOf(item.rule), nameLimit);
}

/** The words for the end of the problem, and the advice while it lasts. */
const aspects: Readonly<Record<ClusterAspect, { readonly [part in 'resolved' | 'advice']: PhraseOf<''> }>> = {
  clock: { resolved: says.clockRight, advice: says.setClock },
  configuration: { resolved: says.oneConfiguration, advice: says.sameFile },
  split: { resolved: says.oneServer, advice: says.stopOlder },
  doubt: { resolved: says.ownerClear, advice: says.removeDoubt },
};

/** Something is wrong among the daemons that share a database, or with that database, while one of them polls. */
export const clusterDegraded: AlertKind = {
  type: 'cluster-degraded',
  concernsEveryChannel: true,
  subject: says.sharedDatabase,
  firing: (item, frame) => sayDetail(says.clusterProblem, says.somethingWrong, item, frame),
  resolved: ({ rule }, frame) => say(aspectOf(rule)?.resolved ?? says.wellAgain, frame),
  recovery: () => says.allWell,
  figures: ownFigures,
  advice({ rule }, frame) {
    const aspect = aspectOf(rule);
    return aspect === undefined ? [] : [say(aspect.advice, frame)];
  },
};

/** The rule ids under which these problems are reported, by their aspects. */
export const clusterDegradedRules: readonly (readonly [aspect: string, rule: string])[] = Object.keys(
  aspects,
).map((aspect) => [aspect, `${clusterDegraded.type}:${aspect}`]);

function aspectOf(rule: string) {
  return Object.entries(aspects).find(([aspect]) => rule === `${clusterDegraded.type}:${aspect}`)?.[1];
}

function sayClusterChange(item: MessageItem, frame: WordingFrame): string {
  return sayDetail(says.clusterChange, says.clusterChangedSomehow, item, frame);
}

/** The value as the detail of a phrase; a test alert may have no value. */
function sayDetail(
  phrase: PhraseOf<'{detail}'>,
  without: PhraseOf<''>,
  item: MessageItem,
  frame: WordingFrame,
): string {
  const detail = sayValue(item, frame);
  return detail === null ? say(without, frame) : say(phrase, { detail }, frame);
}
