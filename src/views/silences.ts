import type { Silence } from '../domain/route.ts';
import { mayMatchAlertsOf } from '../domain/rule.ts';
import { windowsFrom } from '../engine/silencing.ts';
import type { ViewDependencies } from './views.ts';

const shownLaterStarts = 3;

export interface SilenceView extends Pick<Silence, 'match' | 'startsAt' | 'endsAt' | 'comment'> {
  readonly by: string;
  /** Null for windows that come from the configuration. */
  readonly id: string | null;
  readonly active: boolean;
  /** When the next few windows after this one begin, if the silence recurs. */
  readonly laterStarts: readonly number[];
}

/** The place of a silence in a list that is read page by page. */
export function silenceKey({ id, startsAt, match }: SilenceView): string {
  return JSON.stringify([id, startsAt, match]);
}

/**
 * The silences that are not over yet, soonest start first; recurring ones with their present or next window. For an account, only those
 * that may mute alerts of it.
 */
export function viewSilences({ state, now }: ViewDependencies, account?: string): SilenceView[] {
  const at = now();
  const { calendar, settings } = state;
  const own = [...state.silences.values()].map(({ createdBy, ...silence }) => ({
    ...silence,
    by: createdBy,
    laterStarts: [],
  }));
  const recurring = settings.silences.flatMap((silence) => {
    const [window, ...later] = windowsFrom(calendar, silence, at).take(1 + shownLaterStarts);
    if (window === undefined) return [];
    const { match, comment } = silence;
    const laterStarts = later.map(({ startsAt }) => startsAt);
    return [{ id: null, match, ...window, by: 'configuration', comment, laterStarts }];
  });
  const about = account === undefined ? null : state.accounts.get(account)?.settings;
  const isMeant = (match: Silence['match']): boolean =>
    about === null || (about !== undefined && mayMatchAlertsOf(match, about));
  return [...own, ...recurring]
    .filter(({ endsAt, match }) => endsAt > at && isMeant(match))
    .map((silence) => ({ ...silence, active: silence.startsAt <= at }))
    .sort((left, right) => left.startsAt - right.startsAt);
}
