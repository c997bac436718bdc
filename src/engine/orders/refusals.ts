import { type Refusal, refuse } from '../../domain/operator.ts';
import { cleanText } from '../../domain/plain-text.ts';
import { sentences } from '../../wording/phrase.ts';
import type { MonitorState } from '../state.ts';

const maxNameLength = 60;

/** Why an order is not carried out; the page says it again in the language of its reader. */
export const refusals = sentences('refusal', {
  noAccount: 'there is no account "{account}"',
  noBalance: 'account "{account}" has no balance "{balance}": {balances}',
  noAmount: 'the amount must be above 0',
  endsBefore: 'it must end after it begins',
  runWindow: 'it must end in the future and begin within 366 days',
  runTooLong: 'it must not last longer than 31 days',
  noArrival: 'say by when it arrives: the account has no "leadTime"',
  arrivesLate: 'it must arrive within 366 days from now',
  orderedBefore: '{who} has ordered {amount} {duration} ago',
  announcedBefore: '{who} announced this run {duration} ago',
  somebody: 'somebody',
  alertsChanged: 'the alerts of this account have changed: look at it again',
  notTaken: 'nobody has acknowledged rule "{rule}" for account "{account}"',
  otherIncident: 'this is another incident now',
  isOver: 'this alert is over now',
  otherSeverity: 'this alert is {severity} now',
  otherHolder: '{who} has this alert now',
  noIncident: 'no incident of rule "{rule}" is open for account "{account}"',
  noIncidentButs: 'no incident of rule "{rule}" is open for account "{account}"; firing: {rules}',
  silenceBackwards: 'a silence must end after it starts',
  silenceTooLong: 'a silence may last 366 days at most',
  silenceOver: 'this silence is already over',
  otherEnd: 'this silence ends at another time now',
  namesMore: 'a silence of everything names nothing besides',
  mutesAll:
    'this would mute every alert of every account; if that is meant, say "everything" in so many words',
  noRule: 'there is no rule "{rule}"',
  meant: '{refusal}; did you mean "{name}"?',
  noOpenSilence: 'the silence "{id}" has ended already, or never was',
  notExpected: 'account "{account}" expects no top-up or run with the id "{id}"',
  doneBefore: 'this was done already',
  noSuchId: 'no account has the id "{id}"',
  isPushed: 'the account "{id}" is not polled: its readings are pushed',
  standsBy: 'this daemon stands by: {node} polls the accounts',
  ownerless: 'this daemon stands by: nobody owns the accounts just now',
  noDaemon: 'no daemon polls here',
  olderOwner: 'the accounts are with {program}, which does not know this order',
  olderMember:
    '{program} shares the database and does not know this order: give it to the daemon that owns the accounts',
  unsure: 'Another daemon may own the accounts now, and nobody knows whether the order is stored: repeat it.',
});

/** The name of the person who did it already, for the next one who wants to. */
export function nameOf(person: string): string {
  return cleanText(person, maxNameLength) || refusals.somebody();
}

export function noAccount(account: string): Refusal {
  return refuse('not-found', refusals.noAccount({ account }), 'account');
}

/** The account that an order names, and its balance: the first by default. */
export function findBalance(
  { accounts }: MonitorState,
  wanted: { account: string; balance?: string | undefined },
) {
  const account = accounts.get(wanted.account);
  if (account === undefined) return noAccount(wanted.account);
  const ids = account.settings.balances.map((each) => each.id);
  const { balance = ids[0] ?? '' } = wanted;
  if (ids.includes(balance)) return { account, balance };
  const balances = ids.join(', ');
  return refuse('invalid', refusals.noBalance({ account: account.id, balance, balances }));
}
