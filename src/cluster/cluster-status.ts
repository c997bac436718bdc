import type { ClusterMember, ClusterProblem, ClusterStatus, MemberCard, Role } from '../ports/cluster.ts';
import { sentences } from '../wording/phrase.ts';
import { haveSameConfiguration } from './compare-configurations.ts';
import type { FleetView } from './fleet-view.ts';

export interface KnownState {
  readonly role: Role;
  readonly card: Pick<MemberCard, 'node' | 'advertise' | 'configHash'>;
  readonly fleet: FleetView;
  /** The epoch under which it has the accounts; null if it does not have them. */
  readonly takenUnder: number | null;
  readonly takeovers: number;
  /** Whether nobody has polled for longer than a take-over takes, as far as is known. */
  readonly isBlind: boolean;
  /** Why it owns the accounts though something speaks against that; null if nothing does. */
  readonly doubt: string | null;
  readonly loadFailure: string | null;
}

const told = sentences('cluster', {
  nobodyOwns:
    'nobody owns the accounts: nothing is polled, unless a daemon that lost the database goes on from memory',
  noAnswer: 'the shared database does not answer this daemon ({reason})',
  notAsked: 'the shared database was not asked yet',
  loading: '{node} has taken the accounts and reads what is stored',
  unstored:
    '{owner} owns the accounts and cannot store what it reads and does: how they are now is not known here',
  alone: 'nobody reaches the shared database: going on from memory',
  otherConfiguration: 'the configuration of {node} is not that of {owner}, which owns the accounts',
  clockBehind:
    'the clock of the database is {seconds} s behind the clocks of the daemons, which agree with one another: set it; readings are dated by the clocks of the daemons',
  clockAhead:
    'the clock of the database is {seconds} s ahead of the clocks of the daemons, which agree with one another: set it; readings are dated by the clocks of the daemons',
  doubt: 'nobody else can own the accounts, so {node} does in doubt: {why}',
  strangers: '{nodes} and {owner} have no account in common: two fleets share this database',
  owner: 'the owner',
  differing: 'the configuration of {nodes} has not been that of the owner of the accounts for 10 minutes',
  clockOff: 'the clock of {node} is {seconds} s off the clock of the database and the other daemons',
  noneTaken: '{problem}: it takes no accounts until it is set',
  namesake: 'another daemon ({program}) is named {node} too: give each a cluster.node of its own',
  sameAddress:
    '{nodes} and {node} have one cluster.advertise, {address}, where only one of them answers: give each its own',
  namesakeAt:
    'another daemon ({program} at {address}) is named {node} too: give each a cluster.node of its own',
});

export const nobodyOwns = told.nobodyOwns();

export function clusterStatusOf(known: KnownState): ClusterStatus {
  const { role, card, fleet, takeovers, isBlind } = known;
  const { owner, look, reaches } = fleet.link;
  const alerts = alertsOf(known);
  return {
    role,
    polling: fleet.polling,
    ready: look !== null && role !== 'loading' && !isBlind,
    node: card.node,
    owner,
    epoch: known.takenUnder ?? look?.epoch ?? null,
    takeovers,
    reachesDatabase: reaches,
    origin: look?.origin ?? null,
    sameConfiguration: isAsTheOwners(known),
    problems: [...problemsOf(known), ...alerts.map(({ text }) => text)],
    alerts,
    undecided: [
      ...(fleet.isSplitKnown ? [] : ['split' as const]),
      ...(fleet.configurations.isOne ? [] : ['configuration' as const]),
    ],
  };
}

function isAsTheOwners({ card, fleet }: KnownState): boolean | null {
  const { owner, look } = fleet.link;
  if (owner === null) return null;
  const own = look?.members.find(({ node }) => node === card.node);
  return haveSameConfiguration(owner, {
    configHash: card.configHash,
    program: own?.program ?? owner.program,
  });
}

const aspects = ['clock', 'doubt', 'split', 'configuration'] as const;

function alertsOf({ card, fleet, doubt }: KnownState): readonly ClusterProblem[] {
  const { databaseBehindMs, owner } = fleet.link;
  const { differing, strangers } = fleet.configurations;
  const texts: Readonly<Record<ClusterProblem['aspect'], string | null>> = {
    clock:
      databaseBehindMs === 0
        ? null
        : (databaseBehindMs > 0 ? told.clockBehind : told.clockAhead)({
            seconds: Math.round(Math.abs(databaseBehindMs) / 1000),
          }),
    doubt: doubt === null ? null : told.doubt({ node: card.node, why: doubt }),
    split: fleet.split,
    configuration:
      strangers.length > 0
        ? told.strangers({ nodes: strangers.join(', '), owner: owner?.node ?? told.owner() })
        : differing.length > 0
          ? told.differing({ nodes: differing.join(', ') })
          : null,
  };
  return aspects.flatMap((aspect) => {
    const text = texts[aspect];
    return text === null ? [] : [{ aspect, severity: 'warning' as const, text }];
  });
}

function problemsOf(known: KnownState): string[] {
  const { role, card, fleet, loadFailure, doubt } = known;
  const { owner, look, trouble, aheadMs, isClockOff } = fleet.link;
  const { node } = card;
  const problems: string[] = [];
  if (trouble !== null) problems.push(told.noAnswer({ reason: trouble.message }));
  else if (look === null) problems.push(told.notAsked());
  else if (owner === null && (role === 'standby' || role === 'loading' || role === 'joining'))
    problems.push(nobodyOwns);
  if (role === 'loading') problems.push(told.loading({ node }));
  if (role === 'alone' && trouble !== null) problems.push(told.alone());
  if (loadFailure !== null) problems.push(loadFailure);
  if (owner !== null && isAsTheOwners(known) === false)
    problems.push(told.otherConfiguration({ node, owner: owner.node }));
  if (fleet.names.duplicate !== null) problems.push(namesake(node, fleet.names.duplicate));
  problems.push(...unstored(known), ...sharedAddress(known));
  if (isClockOff && doubt === null) problems.push(told.noneTaken({ problem: clockOff(node, aheadMs) }));
  return problems;
}

function unstored({ role, fleet }: KnownState): readonly string[] {
  const owner = fleet.link.ownerThatStoresNothing;
  return owner === null || role !== 'standby' ? [] : [told.unstored({ owner: owner.node })];
}

/** The nodes with the same address as this one: a daemon that asks there may reach itself or any of them. */
function sharedAddress({ card: { node, advertise: address }, fleet }: KnownState): readonly string[] {
  const sharers = fleet.link.look?.members.filter((it) => it.node !== node && it.advertise === address) ?? [];
  if (address === null || sharers.length === 0) return [];
  const nodes = [...new Set(sharers.map((it) => it.node))].join(', ');
  return [told.sameAddress({ nodes, node, address })];
}

/** Says that the clock of a node is off, as a clause. */
export function clockOff(node: string, aheadMs: number): string {
  return told.clockOff({ node, seconds: (aheadMs / 1000).toFixed(1) });
}

/** Says that another process has the name of this one, as a clause. */
export function namesake(node: string, { advertise, program }: ClusterMember): string {
  return advertise === null
    ? told.namesake({ program, node })
    : told.namesakeAt({ program, node, address: advertise });
}
