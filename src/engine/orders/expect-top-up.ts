import * as z from 'zod';
import { type Alert, isAcknowledged } from '../../domain/alert.ts';
import { formatAmount, formatMicros } from '../../domain/money.ts';
import { type ExpectedTopUp, isRefusal, missingOf, type Refusal, refuse } from '../../domain/operator.ts';
import { amountOf, type Balance, unitOf } from '../../domain/reading.ts';
import { type Severity, severities } from '../../domain/severity.ts';
import { dayMs, isoText } from '../../domain/time.ts';
import { isMendedByTopUp, ruleKindOf } from '../../rules/registry.ts';
import { passLeadTime } from '../../spending/local-week.ts';
import { sayDuration } from '../../wording/moments.ts';
import { keepAnnounced } from '../announced-runs.ts';
import { scheduleAccount } from '../judge.ts';
import { factsOf, type MonitorState, type WatchedAccount } from '../state.ts';
import { giveBackIncident, openIncidentOf, takeIncident } from './acknowledge.ts';
import { done, instant, joinDetails, type OrderOf, orderKind } from './kind.ts';
import { findBalance, nameOf, refusals } from './refusals.ts';

/** A later date is a mistake. */
const maxAheadMs = 366 * dayMs;

const details = {
  account: z.string(),
  amountMicros: z.int(),
  /** Default: the account's first. */
  balance: z.string().optional(),
  /** Default: after the account's lead time. */
  arrivesBy: instant.optional(),
  /** Such as an order number. */
  comment: z.string(),
  /** The top-up's id. Default: made of the order's. */
  id: z.string().optional(),
  /** The alert as it was seen; absent: nothing is compared. */
  seen: z
    .object({
      /** The ids of the top-ups of the balance that were known to be expected. */
      expected: z.array(z.string()).readonly(),
      /** The worst severity that fired for the account. */
      worst: z.enum(severities).nullable().optional(),
    })
    .optional(),
};

type ExpectOrder = OrderOf<'expect-top-up', typeof details>;

/** A person has paid: the money is expected, and the alerts that it will end are acknowledged. */
export const expectTopUp = orderKind({
  kind: 'expect-top-up',
  details,
  leave: ({ by: orderedBy, arrivesBy: by, ...order }) => ({
    ...order,
    id: order.id ?? topUpIdOf(order.orderId),
    orderedBy,
    by,
  }),
  take: ({ orderedBy, by, ...left }) => ({
    ...left,
    by: orderedBy,
    ...(typeof by === 'number' ? { arrivesBy: by } : {}),
  }),
  apply(state, order, now) {
    const found = findBalance(state, order);
    if (isRefusal(found)) return found;
    const { account, balance } = found;
    const { leadTimeMs } = account.settings;
    // After the lead time, of which only working days count.
    const afterLeadTime = leadTimeMs === null ? null : passLeadTime(account.spending.week, now, leadTimeMs);
    const by = order.arrivesBy ?? afterLeadTime;
    if (by === null) return refuse('invalid', refusals.noArrival());
    if (!(order.amountMicros > 0)) return refuse('invalid', refusals.noAmount());
    if (!(by > now && by <= now + maxAheadMs)) return refuse('invalid', refusals.arrivesLate());
    const changed = refuseUnseen(account, order, balance, now);
    if (changed !== null) return changed;
    const { amountMicros, comment, by: orderedBy } = order;
    const ordered = { account: account.id, balance, amountMicros, by, orderedAt: now, orderedBy, comment };
    const topUp = { id: order.id ?? topUpIdOf(order.orderId), ...ordered, receivedMicros: 0 };
    state.expected.set(account.id, [...account.expected, topUp]);
    takeMended(state, account, topUp, now);
    scheduleAccount(state, account);
    return topUp;
  },
  describe: ({ account, amountMicros, arrivesBy, comment }) => ({
    account,
    detail: joinDetails(
      formatMicros(amountMicros),
      arrivesBy === undefined ? undefined : `by ${isoText(arrivesBy)}`,
      comment,
    ),
  }),
});

export function topUpIdOf(orderId: string): string {
  return `x-${orderId}`;
}

/** One payment that two people order would count twice, so the second is told of the first. */
function refuseUnseen(
  account: WatchedAccount,
  { seen }: Pick<ExpectOrder, 'seen'>,
  balance: string,
  now: number,
): Refusal | null {
  if (seen === undefined) return null;
  const { expected, poll } = account;
  const unseen = expected.findLast(
    ({ id, ...topUp }) => topUp.balance === balance && !seen.expected.includes(id),
  );
  if (unseen !== undefined) {
    const { orderedBy, amountMicros, orderedAt } = unseen;
    const currency = poll.reading?.currency ?? account.settings.currency;
    const who = nameOf(orderedBy);
    const amount = formatAmount(amountMicros, unitOf({ ...account.settings, currency }, balance));
    const duration = sayDuration(now - orderedAt);
    return refuse('changed', refusals.orderedBefore({ who, amount, duration }), 'expected');
  }
  return seen.worst === undefined || seen.worst === worstOf(account)
    ? null
    : refuse('changed', refusals.alertsChanged());
}

function worstOf({ alerts }: WatchedAccount): Severity | null {
  const firing = [...alerts.values()].filter(({ state }) => state === 'firing');
  return severities.findLast((severity) => firing.some((alert) => alert.severity === severity)) ?? null;
}

/** Acknowledges the alerts that the money will end. Others that fire on the balance, or would go on, still need a person. */
function takeMended(
  state: MonitorState,
  account: WatchedAccount,
  { balance, orderedBy, orderedAt, comment }: ExpectedTopUp,
  now: number,
): void {
  const endsThen = judgeAfter(account, balance, now);
  for (const alert of [...account.alerts.values()]) {
    const incident =
      alert.state === 'firing' && alert.balance === balance ? openIncidentOf(state, alert) : null;
    if (incident === null || isAcknowledged(incident) || !isMendedByTopUp(incident)) continue;
    if (!endsThen(alert)) continue;
    takeIncident(state, incident, { by: orderedBy, comment: joinDetails('ordered', comment), at: orderedAt });
  }
}

/** Whether an alert ends once all that is expected of the balance is there, as its rule would judge that. */
function judgeAfter(account: WatchedAccount, balance: Balance, now: number): (alert: Alert) => boolean {
  const facts = factsOf(account, now);
  const coming = missingOf(...account.expected.filter((topUp) => topUp.balance === balance));
  const { reading } = facts;
  const after = reading && {
    ...reading,
    balances: { ...reading.balances, [balance]: amountOf(reading, balance) + coming },
  };
  return ({ rule: id, severity }) => {
    const rule = account.rules.find((each) => each.id === id);
    return (
      rule !== undefined &&
      ruleKindOf(rule).evaluate(rule, { ...facts, reading: after }, severity).kind === 'ok'
    );
  };
}

/** An expected top-up or an announced run does not come, or it came unnoticed. */
export const cancelExpected = orderKind({
  kind: 'cancel-expected',
  details: { account: z.string(), id: z.string() },
  apply(state, { account, id }, now) {
    const topUps = state.expected.get(account) ?? [];
    const runs = state.announced.get(account) ?? [];
    const cancelled = topUps.find((topUp) => topUp.id === id);
    if (cancelled !== undefined) {
      const others = topUps.filter((topUp) => topUp !== cancelled);
      state.expected.set(account, others);
      giveBackMended(state, cancelled, now);
      return done;
    }
    const others = runs.filter((run) => run.id !== id);
    if (others.length === runs.length) return refuse('not-found', refusals.notExpected({ account, id }));
    keepAnnounced(state, account, others);
    return done;
  },
  describe: ({ account, id }) => ({ account, detail: id }),
});

/** Removes the acknowledgements that were made with the order, and those of another expected top-up whose money does not end the alert without it. */
function giveBackMended(state: MonitorState, cancelled: ExpectedTopUp, now: number): void {
  const account = state.accounts.get(cancelled.account);
  if (account === undefined) return;
  const endsThen = judgeAfter(account, cancelled.balance, now);
  for (const alert of [...account.alerts.values()]) {
    const incident = openIncidentOf(state, alert);
    const { at, by } = incident?.acknowledgement ?? {};
    const tookIt = ({ balance, orderedAt, orderedBy }: ExpectedTopUp): boolean =>
      balance === cancelled.balance && at === orderedAt && by === orderedBy;
    if (incident !== null && (tookIt(cancelled) || (account.expected.some(tookIt) && !endsThen(alert))))
      giveBackIncident(state, incident, now);
  }
}
