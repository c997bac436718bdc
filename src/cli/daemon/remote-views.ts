import type * as z from 'zod';
import type { Runway } from '../../domain/message.ts';
import { parseMicros } from '../../domain/money.ts';
import type { Fact, Quantity } from '../../domain/quantity.ts';
import { type Balance, mapEach, ofEach, type Reading } from '../../domain/reading.ts';
import type { Evaluation } from '../../rules/evaluation.ts';
import type {
  accountDetails,
  accountJson,
  alertJson,
  auditJson,
  explanationDetails,
  explanationJson,
  readingJson,
  silenceJson,
} from '../../views/public-json.ts';
import type { AccountView, AlertView, ExplainedRule, SilenceView } from '../../views/views.ts';
import { CommandError, UsageError } from '../command.ts';
import type { OperatorViews } from '../operator-views.ts';
import { askDaemon, type DaemonAddress, type DaemonRequest } from './daemon-connection.ts';

type AccountAnswer = z.infer<typeof accountJson.schema> & {
  readonly details?: z.infer<typeof accountDetails.schema>;
};
type ReadingAnswer = z.infer<typeof readingJson.schema>;
type AlertAnswer = z.infer<typeof alertJson.schema>;
type ExplanationAnswer = z.infer<typeof explanationJson.schema> & {
  readonly details?: z.infer<typeof explanationDetails.schema>;
};

/** As many readings come at once. */
const pageOfReadings = 1000;

/** What a daemon shows over its API, as commands look at it. What the API does not say is unknown, empty or none. */
export function openRemoteViews(daemon: DaemonAddress): OperatorViews {
  const get = <Answer>(path: string): Promise<Answer> => request<Answer>(daemon, { method: 'GET', path });
  const accountPath = (id: string): string => `/api/v1/accounts/${encodeURIComponent(id)}`;
  const readings = async (account: string, since: number, until: number): Promise<readonly Reading[]> => {
    const all: Reading[] = [];
    const query = new URLSearchParams({
      since: new Date(since).toISOString(),
      until: new Date(until).toISOString(),
      limit: String(pageOfReadings),
    });
    for (;;) {
      type Page = { readonly points: readonly ReadingAnswer[]; readonly nextCursor: string | null };
      const { points, nextCursor } = await get<Page>(`${accountPath(account)}/history?${query}`);
      for (const point of points) all.push(viewReading(point));
      if (nextCursor === null) return all;
      query.set('cursor', nextCursor);
    }
  };
  return {
    async accounts() {
      const { accounts } = await get<{ accounts: readonly AccountAnswer[] }>('/api/v1/accounts?details=true');
      return accounts.map(viewAccount);
    },
    async account(id) {
      const { account } = await get<{ account: AccountAnswer }>(`${accountPath(id)}?details=true`);
      return viewAccount(account);
    },
    readings,
    async alerts({ all }) {
      const { alerts } = await get<{ alerts: readonly AlertAnswer[] }>(`/api/v1/alerts?all=${all}`);
      return alerts.map(viewAlert);
    },
    async explain(id) {
      const path = `${accountPath(id)}/explain?details=true`;
      const { explanations } = await get<{ explanations: readonly ExplanationAnswer[] }>(path);
      return explanations.map(viewExplanation);
    },
    async audit(since) {
      type Answer = { readonly audit: readonly z.infer<typeof auditJson.schema>[] };
      const query = new URLSearchParams({ since: new Date(since).toISOString(), limit: '1000' });
      const { audit } = await get<Answer>(`/api/v1/audit?${query}`);
      return audit.map((entry) => ({ ...entry, at: Date.parse(entry.at) }));
    },
    async silences() {
      type Answer = { readonly silences: readonly z.infer<typeof silenceJson.schema>[] };
      const { silences } = await get<Answer>('/api/v1/silences');
      return silences.map(viewSilence);
    },
  };
}

/** The body of an answer, which is what the API describes: only a lowwater answers there. Throws `CommandError` for a refusal. */
export async function request<Answer>(daemon: DaemonAddress, order: DaemonRequest): Promise<Answer> {
  const answer = await askDaemon(daemon, { patienceMs: 60_000, ...order });
  if (answer.kind === 'absent') throw new CommandError(`the daemon at ${daemon.url} went away`);
  if (answer.kind === 'refused') {
    if (answer.status === 404) throw new UsageError(answer.message);
    throw new CommandError(answer.message);
  }
  return answer.body as Answer;
}

function viewReading({ at, currency, ...amounts }: ReadingAnswer): Reading {
  return { at: Date.parse(at), balances: mapEach(amounts, micros), currency };
}

function viewAccount(answer: AccountAnswer): AccountView {
  const { details } = answer;
  const { balances: amounts, currency, readAt: read, burnPerDay, runwaySeconds, forecast } = answer;
  const readAt = instant(read);
  const reading =
    readAt === null ? null : { at: readAt, balances: mapEach(amounts, micros), currency: currency ?? '' };
  const balances = (details?.balances ?? Object.keys(amounts).map((id) => ({ id, label: id }))).map(
    (balance) => ({ ...balance, alertsBelowZero: false }),
  );
  const runwayOf = (balance: Balance): Runway | null => {
    const burn = burnPerDay[balance] ?? null;
    const seconds = runwaySeconds[balance] ?? null;
    const predicted = viewForecast(forecast[balance] ?? null);
    if (burn === null && seconds === null && predicted === null) return null;
    return {
      balance,
      emptyMicros: 0,
      lookbackMs: 86_400_000,
      usualPerDay: null,
      expected: null,
      burnPerDay: burn === null ? null : micros(burn),
      runwayMs: seconds === null ? null : seconds * 1000,
      emptyAt: predicted?.emptyAt ?? null,
      confidence: 'none',
      forecast: predicted,
      payBy: null,
      restoreMicros: null,
    };
  };
  return {
    id: answer.id,
    name: answer.name,
    labels: answer.labels,
    topUpUrl: null,
    runbookUrl: null,
    note: null,
    balances,
    outcome: answer.outcome,
    failure: answer.failure,
    polledAt: instant(answer.polledAt),
    reading,
    consecutiveFailures: answer.consecutiveFailures,
    usage: answer.usageHeaders,
    currency,
    readAt,
    nextPollAt: null,
    payments: [],
    pollIntervalMs: (details?.pollIntervalSeconds ?? 0) * 1000,
    runways: ofEach(balances, runwayOf),
    backoffUntil: instant(answer.backoffUntil),
    day: (details?.day ?? []).map(viewReading),
    thresholds: ofEach(balances, (balance) =>
      Object.fromEntries(
        Object.entries(details?.thresholds[balance] ?? {}).map(([severity, level]) => [
          severity,
          micros(level),
        ]),
      ),
    ),
    worst: answer.severity,
    firing: answer.firing,
    pending: answer.pending,
  };
}

function viewAlert(answer: AlertAnswer): AlertView {
  return {
    ...answer,
    accountName: answer.account,
    labels: {},
    notified: [],
    since: Date.parse(answer.since),
    resolvedAt: instant(answer.resolvedAt),
    value: guessQuantity(answer.value),
    threshold: guessQuantity(answer.threshold),
    forecast: mapEach(answer.forecast, viewForecast),
    acknowledged: viewAcknowledgement(answer.acknowledged),
  };
}

function viewAcknowledgement(answer: AlertAnswer['acknowledged']): AlertView['acknowledged'] {
  return answer && { ...answer, at: Date.parse(answer.at) };
}

function viewForecast(answer: AccountAnswer['forecast'][Balance] | null): Runway['forecast'] {
  return (
    answer && {
      emptyAt: instant(answer.emptyAt),
      earliest: instant(answer.earliest),
      latest: instant(answer.latest),
      basis: answer.basis,
    }
  );
}

function viewExplanation(answer: ExplanationAnswer): ExplainedRule {
  const { details, alert } = answer;
  const numbers = {
    value: quantityOf(answer.value, details?.valueUnit),
    threshold: quantityOf(answer.threshold, details?.thresholdUnit),
    facts: answer.facts.map(({ name, value }, index) => ({
      name,
      value: factOf(value, details?.factUnits[index]),
    })),
  };
  return {
    rule: {
      id: answer.rule,
      type: answer.type,
      builtIn: details?.builtIn ?? false,
      forMs: (details?.forSeconds ?? 0) * 1000,
      recoverForMs: (details?.recoverForSeconds ?? 0) * 1000,
    },
    evaluation: viewVerdict(answer, numbers),
    alert: alert && viewAlert(alert),
    wouldNotFire: answer.wouldNotFire,
    next: answer.next && { severity: answer.next.severity, at: Date.parse(answer.next.at) },
  };
}

function viewVerdict(
  { verdict, why, severity }: ExplanationAnswer,
  numbers: Pick<Evaluation, 'value' | 'threshold' | 'facts'>,
): Evaluation {
  if (verdict === 'ok') return { ...numbers, kind: 'ok' };
  if (verdict === 'unknown') return { ...numbers, kind: 'unknown', why: why ?? '' };
  return { ...numbers, kind: verdict, severity: severity ?? 'info' };
}

function viewSilence({
  id,
  match,
  startsAt,
  endsAt,
  ...rest
}: z.infer<typeof silenceJson.schema>): SilenceView {
  return {
    ...rest,
    id,
    // A key that does not match anything in particular is not sent.
    match: match as SilenceView['match'],
    startsAt: Date.parse(startsAt),
    endsAt: Date.parse(endsAt),
    laterStarts: [],
  };
}

type Unit = NonNullable<ExplanationAnswer['details']>['factUnits'][number];

function quantityOf(value: string | number | null, unit: Unit | null | undefined): Quantity | null {
  if (value === null) return null;
  if (unit === 'money') return { unit, micros: micros(String(value)) };
  if (unit === 'duration') return { unit, ms: Number(value) * 1000 };
  return unit === 'text' ? { unit, text: String(value) } : guessQuantity(value);
}

function factOf(value: string | number, unit: Unit | undefined): Fact['value'] {
  if (unit === 'instant') return { unit, at: Date.parse(String(value)) };
  if (unit === 'count') return { unit, count: Number(value) };
  return quantityOf(value, unit) ?? { unit: 'text', text: String(value) };
}

/** Alerts come without units: a number is a duration in seconds, decimal digits are money, anything else is text. */
function guessQuantity(value: string | number | null): Quantity | null {
  if (value === null) return null;
  if (typeof value === 'number') return { unit: 'duration', ms: value * 1000 };
  const amount = /^-?\d+(?:\.\d+)?$/.test(value) ? parseMicros(value) : null;
  return amount === null ? { unit: 'text', text: value } : { unit: 'money', micros: amount };
}

function micros(digits: string | null): number {
  return digits === null ? 0 : (parseMicros(digits) ?? 0);
}

function instant(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}
