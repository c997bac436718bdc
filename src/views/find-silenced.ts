import type { Silence } from '../domain/route.ts';
import { type Matcher, matches } from '../domain/rule.ts';
import { type SilenceWindow, windowsBetween } from '../engine/silencing.ts';
import type { MonitorState, WatchedAccount } from '../engine/state.ts';
import type { SilencedQuery } from './views.ts';

/** When a silence muted alerts of one balance of an account, or of the account as a whole. `stored` are those that the database keeps. */
export function findSilenced(
  state: MonitorState,
  query: SilencedQuery,
  stored: readonly Silence[],
): readonly SilenceWindow[] {
  const account = state.accounts.get(query.account);
  if (account === undefined) return [];
  // What is in memory is newer than what is stored.
  const silences = new Map([...stored, ...state.silences.values()].map((silence) => [silence.id, silence]));
  const own = [...silences.values()].filter(
    ({ match, startsAt, endsAt }) =>
      startsAt < query.until && endsAt > query.since && mutes(match, account, query),
  );
  const recurring = state.settings.silences
    .filter(({ match }) => mutes(match, account, query))
    .flatMap((silence) => windowsBetween(state.calendar, silence, query));
  return [...own, ...recurring];
}

/** Whether it may mute an alert about the balance, whatever the severity. */
function mutes(match: Matcher, { settings, rules }: WatchedAccount, { balance }: SilencedQuery): boolean {
  const { id, labels } = settings;
  const { rule: named, severity: _, ...ofAccount } = match;
  return (
    matches(ofAccount, { account: id, labels }) &&
    rules.some(
      (rule) => (rule.balance === null || rule.balance === balance) && (named?.includes(rule.id) ?? true),
    )
  );
}
