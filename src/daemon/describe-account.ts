import { type Incident, isAcknowledged, selfAccountId } from '../domain/alert.ts';
import { asksNothing, type ItemAccount } from '../domain/message.ts';
import { entryOf } from '../domain/provider-entry.ts';
import { severityRank } from '../domain/severity.ts';
import { byUrgency } from '../domain/urgency.ts';
import { paymentFor } from '../engine/payments.ts';
import { runwayOf } from '../engine/spending.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import { alertKindOf, balanceLevels } from '../rules/registry.ts';
import { urgencyOf } from '../rules/urgency.ts';

/** The account of an incident as a message about it shows it; `history`, for charts, is left empty. */
export function describeAccount(
  state: MonitorState,
  account: WatchedAccount,
  incident: Incident,
  now: number,
): ItemAccount {
  const { id, name, labels, topUpUrl, runbookUrl, note, keyFrom, balances, provider } = account.settings;
  const { reading, previous, outcome, failure, consecutiveFailures } = account.poll;
  const balance = incident.balance ?? balances[0]?.id ?? '';
  const { words, polled } = entryOf(state.settings, account.settings);
  return {
    ...{ words, polled },
    ...{ id, name, labels, topUpUrl, runbookUrl, note, keyFrom, balances, provider },
    ...{ reading, previous, outcome, failure, consecutiveFailures },
    runway: saysRunway(incident) ? runwayOf(account, balance, now) : null,
    payment:
      incident.balance === null
        ? null
        : paymentFor(state, account, balance, { now, rule: openRuleOf(incident) }),
    takenAlerts: otherAcknowledgedAlerts(state, account, incident),
    thresholds: balanceLevels(account.rules, balance),
    history: [],
  };
}

function otherAcknowledgedAlerts(
  state: MonitorState,
  { alerts }: WatchedAccount,
  { id, balance }: Incident,
): ItemAccount['takenAlerts'] {
  if (balance === null) return [];
  return [...alerts.values()].flatMap((alert) => {
    const other = alert.state === 'firing' ? state.incidents.get(alert.incident ?? '') : undefined;
    if (other === undefined || other.id === id || other.balance !== balance || !isAcknowledged(other))
      return [];
    return [{ rule: other.rule, severity: other.severity, by: other.acknowledgement?.by ?? '' }];
  });
}

/** The rule of an open incident; undefined for an ended one. It is named because a test has no open alert behind it. */
function openRuleOf({ rule, resolvedAt }: Incident): string | undefined {
  return resolvedAt === null ? rule : undefined;
}

/** Also true for alerts about an account that cannot be read: people want to know how long the last known balance lasts. */
function saysRunway({ balance, type }: Incident): boolean {
  return balance !== null || alertKindOf({ type }).staleness !== undefined;
}

/** Open incidents before ended ones and events that ask for nothing, then the most urgent, the worst, balances before lowwater itself, the newest. */
export function mostUrgentFirst(
  state: MonitorState,
  incidents: readonly Incident[],
  now: number,
): Incident[] {
  const runway = ({ account, balance }: Incident) => {
    const watched = balance === null ? undefined : state.accounts.get(account);
    return watched === undefined ? null : runwayOf(watched, balance ?? '', now);
  };
  const rank = (incident: Incident): readonly number[] => [
    Number(incident.resolvedAt !== null || asksNothing(incident)),
    -severityRank(incident.severity),
    Number(incident.account === selfAccountId),
    Number(incident.event),
    -incident.firedAt,
  ];
  return incidents
    .map((incident) => ({
      incident,
      rank: rank(incident),
      urgency: urgencyOf({ ...incident, since: incident.firedAt }, runway(incident), now),
    }))
    .sort(({ rank: left, urgency }, { rank: right, urgency: other }) => {
      const [open = 0, ...rest] = left.map((value, place) => value - (right[place] ?? 0));
      return open || byUrgency(urgency, other) || (rest.find((difference) => difference !== 0) ?? 0);
    })
    .map(({ incident }) => incident);
}
