import * as z from 'zod';
import { isSelfId } from '../../domain/alert.ts';
import { nearestWord } from '../../domain/nearest-word.ts';
import { type Refusal, refuse } from '../../domain/operator.ts';
import { maxSilenceMs, type Silence } from '../../domain/route.ts';
import { type Matcher, mutesEverything, wordMatcher } from '../../domain/rule.ts';
import { severities } from '../../domain/severity.ts';
import { formatDuration, isoText, minuteMs } from '../../domain/time.ts';
import { selfAlertRules, severalSelfAlerts } from '../../rules/registry.ts';
import { reviewSilences } from '../silencing.ts';
import type { MonitorState } from '../state.ts';
import { refuseChanged } from './acknowledge.ts';
import {
  type DoneBefore,
  done,
  instant,
  isPressedAgain,
  joinDetails,
  type OrderBody,
  type OrderOf,
  orderKind,
  seenShape,
} from './kind.ts';
import { refusals } from './refusals.ts';

const names = z.array(z.string()).readonly();

const matchShape = z.object({
  account: names.exactOptional(),
  rule: names.exactOptional(),
  severity: z.array(z.enum(severities)).readonly().exactOptional(),
  labels: z.record(z.string(), names).exactOptional(),
});

const details = {
  /** The silence's id. Default: made of the order's. */
  id: z.string().optional(),
  match: matchShape,
  /** Confirms an empty `match`. */
  everything: z.boolean(),
  startsAt: instant,
  endsAt: instant,
  comment: z.string(),
  /** The alert whose form ordered it, as the person saw it. */
  seen: seenShape.extend({ account: z.string(), rule: z.string() }).optional(),
};

type SilenceOrder = OrderOf<'silence', typeof details>;

/** Mutes matching alerts for a time. */
export const silence = orderKind({
  kind: 'silence',
  details,
  leave: ({ match, startsAt, endsAt, comment, id, ...order }) => ({
    ...order,
    silence: silenceOf({ ...order, match, startsAt, endsAt, comment, id }, order.at),
  }),
  take({ silence, ...left }) {
    const { createdBy: by, ...stored }: OrderBody = typeof silence === 'object' ? { ...silence } : {};
    return {
      by,
      ...stored,
      everything: mutesEverything(matchShape.safeParse(stored.match).data ?? {}),
      ...left,
    };
  },
  apply(state, order, now) {
    const { seen } = order;
    const changed = seen === undefined ? null : refuseChanged(state, { ...seen, seen });
    const refusal = changed ?? refuseSilence(state, order, now);
    if (refusal !== null) return refusal;
    const made: Silence & DoneBefore = silenceOf(order, now);
    const before = sameSilence(state, made, now, order.from.door === 'page' ? twiceMs : maxPressesApartMs);
    if (before !== undefined && isPressedAgain(order, before.createdBy))
      return { ...before, doneBy: before.createdBy };
    keepSilence(state, made, now);
    return made;
  },
  describe({ match, endsAt, comment }) {
    const [account, rule] = [match.account, match.rule].map((ids) =>
      ids?.length === 1 ? (ids[0] ?? null) : null,
    );
    const detail = joinDetails(wordMatcher(match), `until ${isoText(endsAt)}`, comment);
    return { account: account ?? null, rule: rule ?? null, detail };
  },
});

export function silenceIdOf(orderId: string): string {
  return `s-${orderId}`;
}

function silenceOf(
  { orderId, id, match, startsAt, endsAt, by, comment }: SilenceOrder,
  now: number,
): Silence {
  return { id: id ?? silenceIdOf(orderId), match, startsAt, endsAt, createdAt: now, createdBy: by, comment };
}

/** A silence made before that counts as the same: two people, or one who presses twice, make one. A later end than `apartMs` explains makes another. */
function sameSilence(
  state: MonitorState,
  { match, startsAt, endsAt }: Silence,
  now: number,
  apartMs: number,
): Silence | undefined {
  const margin = Math.min(apartMs, (endsAt - now) / 10);
  return state.silences.values().find(
    (other) =>
      other.startsAt <= Math.max(now, startsAt) &&
      other.endsAt >= endsAt - margin &&
      // The cheap comparison first: each of many that are silenced at once is compared with all before it.
      other.match.account?.[0] === match.account?.[0] &&
      JSON.stringify(other.match) === JSON.stringify(match),
  );
}

/** The time between the presses of two people who read one message. */
const maxPressesApartMs = 5 * minuteMs;
/** The time between two presses of one person on one button. */
const twiceMs = 10_000;

function keepSilence(state: MonitorState, silence: Silence, now: number): void {
  state.silences.set(silence.id, silence);
  reviewSilences(state, now);
}

/** Null when the silence would be accepted. */
export function refuseSilence(
  state: MonitorState,
  { match, everything, startsAt, endsAt }: Pick<SilenceOrder, 'match' | 'everything' | 'startsAt' | 'endsAt'>,
  now: number,
): Refusal | null {
  const refusal = refuseWindow({ startsAt, endsAt }, now);
  if (refusal !== null) return refusal;
  // Everything is muted only on purpose: a matcher that lost its keys must not do it.
  if (mutesEverything(match) !== everything)
    return refuse('invalid', everything ? refusals.namesMore() : refusals.mutesAll(), 'everything');
  return findUnknown(state, match);
}

function refuseWindow(
  { startsAt, endsAt }: Pick<Silence, 'startsAt' | 'endsAt'>,
  now: number,
): Refusal | null {
  const because = (why: string): Refusal => refuse('invalid', why, 'window');
  if (!(endsAt > startsAt)) return because(refusals.silenceBackwards());
  if (endsAt - startsAt > maxSilenceMs) return because(refusals.silenceTooLong());
  return endsAt <= now ? because(refusals.silenceOver()) : null;
}

/** Unknown names in the matcher, which would mute nothing. Null when there are none. */
function findUnknown({ accounts, settings }: MonitorState, match: Matcher): Refusal | null {
  const account = match.account?.find((id) => !accounts.has(id) && !isSelfId(id));
  if (account !== undefined) return noSuch('account', account, accounts.keys());
  const own = selfAlertRules(settings.channels.map(({ name }) => name));
  const rules = new Set([...settings.rules.map(({ id }) => id), ...own]);
  const rule = match.rule?.find((id) => !rules.has(id) && !severalSelfAlerts.test(id));
  return rule === undefined ? null : noSuch('rule', rule, rules);
}

function noSuch(about: 'account' | 'rule', typed: string, known: Iterable<string>): Refusal {
  const nearest = nearestWord(typed, known);
  const refusal =
    about === 'account' ? refusals.noAccount({ account: typed }) : refusals.noRule({ rule: typed });
  const why = nearest === null ? refusal : refusals.meant({ refusal, name: nearest });
  return refuse('invalid', why, about);
}

export const expireSilence = orderKind({
  kind: 'expire',
  action: 'expire-silence',
  details: { id: z.string() },
  apply(state, { id }, now) {
    const silence = state.silences.get(id);
    // A silence that ended keeps its end: until then it has muted.
    if (silence === undefined || silence.endsAt <= now)
      return refuse('not-found', refusals.noOpenSilence({ id }));
    keepSilence(state, { ...silence, endsAt: now, expired: true }, now);
    return done;
  },
  describe: ({ id }) => ({ detail: id }),
});

/** Makes a silence that is not over last longer by `byMs`. `seenEndsAt`: its end as it was seen, so that two presses count once. */
export const extendSilence = orderKind({
  kind: 'extend-silence',
  since: '0.4',
  details: { id: z.string(), byMs: instant, seenEndsAt: instant.optional() },
  apply(state, { id, byMs, seenEndsAt }, now) {
    const silence = state.silences.get(id);
    if (silence === undefined || silence.endsAt <= now)
      return refuse('not-found', refusals.noOpenSilence({ id }));
    if ((seenEndsAt ?? silence.endsAt) !== silence.endsAt) return refuse('changed', refusals.otherEnd());
    const longer = { ...silence, endsAt: silence.endsAt + byMs };
    const refusal = refuseWindow(longer, now);
    if (refusal !== null) return refusal;
    keepSilence(state, longer, now);
    return done;
  },
  describe: ({ id, byMs }) => ({ detail: joinDetails(id, `by ${formatDuration(byMs)}`) }),
});
