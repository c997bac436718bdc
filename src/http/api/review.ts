import * as z from 'zod';
import type { Incident } from '../../domain/alert.ts';
import { formatMicros } from '../../domain/money.ts';
import { ownOf } from '../../domain/own.ts';
import { isoDay, isoText } from '../../domain/time.ts';
import { nameWeekday } from '../../rules/spending-facts.ts';
import { formatCsvLine } from '../../views/csv.ts';
import { explainChanges } from '../../views/explain-changes.ts';
import { incidentJson } from '../../views/public-json.ts';
import { isoOrNull, moneyOrNull, secondsOrNull, severitySchema } from '../../views/public-object.ts';
import { type Review, type Spent, sumReview } from '../../views/review.ts';
import { readSpan } from '../page/chart-model.ts';
import { readReviewQuery, reviewEnds, reviewOf } from '../page/review.ts';
import { RequestError, refusals } from '../refusal.ts';
import type { WebContext } from '../web-env.ts';
import { rangeSchema } from './history.ts';
import { answers, csv, csvFile, type Operation, operations } from './operation.ts';
import { oneSum, oneSumJson, sumJson } from './sums.ts';

const { get } = operations('review');
const seconds = z.int().nullable();
const spent = {
  currency: z.string(),
  spent: z.string(),
  before: z.string().nullable().describe('In as long a time before; null where not all of it was watched'),
};
const filter = (description: string) => z.string().max(200).optional().describe(description);

const query = {
  range: rangeSchema.optional().describe('The time up to now, where no dates are given; default: 7d'),
  from: filter('A date, ISO 8601, or a duration ago such as "7d"'),
  to: filter('The last date, or an instant that is excluded; default: now'),
  q: filter('Words that must stand in account, name, rule or label'),
  account: filter('Only this account'),
  rule: filter('Only incidents of this rule'),
  label: filter('Only accounts with this label, as key=value'),
  severity: severitySchema.optional().describe('Only incidents that were as bad as this at their worst'),
  person: filter('Only incidents acknowledged by who has this in their name'),
  by: filter('The label that spending is added up by; default: the most common one'),
};

export const reviewOperations: readonly Operation[] = [
  get('review', 'readReview', {
    summary:
      'Incidents of a time, how long they took, and spending compared with the same length of time before it',
    query,
    answers: answers('The review', {
      since: z.iso.datetime(),
      until: z.iso.datetime(),
      incidents: z.array(incidentJson.schema),
      totals: z.strictObject({
        incidents: z.int(),
        open: z.int(),
        acknowledged: z.int(),
        acknowledgeSeconds: seconds.describe('The median'),
        resolveSeconds: seconds.describe('The median'),
        belowZeroSeconds: seconds.describe('All balances together; null where not added up, or not known'),
        forecastError: z.number().nullable().describe('0.04 is 4 %, of the last two weeks'),
      }),
      total: z
        .strictObject({ spent: oneSum, before: oneSum.nullable() })
        .nullable()
        .describe('Over all currencies; null without `money`, and where nothing was read'),
      groupedBy: z.string().nullable(),
      groups: z.array(z.strictObject({ label: z.string(), ...spent })),
      accounts: z.array(z.strictObject({ account: z.string(), ...spent })),
      changes: z
        .array(
          z.strictObject({
            currency: z.string(),
            more: z.string(),
            accounts: z.array(z.strictObject({ account: z.string(), more: z.string() })),
            groups: z.array(z.strictObject({ label: z.string(), more: z.string() })),
            weekday: z.strictObject({ weekday: z.string(), more: z.string() }).nullable(),
            reasons: z.strictObject({ price: z.string(), volume: z.string() }).nullable(),
          }),
        )
        .describe(
          'Why more or less was spent than before (a negative `more`): the accounts, labels and, of whole weeks, the weekday with most of it; how much by price and by volume, null where what a message takes is not known',
        ),
      complete: z
        .boolean()
        .describe('False where incidents or spending were too many, or stored readings are damaged'),
      unknown: z.array(z.string()).describe('Accounts without a reading in this time'),
      inPart: z
        .array(z.string())
        .describe(
          'Accounts that were not read from its beginning or to its end: their spending is not known in full',
        ),
      damaged: z
        .array(z.string())
        .describe(
          'Accounts of which stored readings of this time are damaged: their spending is not known in full',
        ),
    }),
    answer: async ({ context, views }) => {
      const review = await readReview(context);
      const { since, until, incidents, open, acknowledged, spending, ...found } = review;
      const total = sumReview(review, views.finance().money);
      return {
        since: isoText(since),
        until: isoText(until),
        incidents: incidents.map(incidentJson),
        totals: {
          incidents: incidents.length,
          open,
          acknowledged,
          acknowledgeSeconds: secondsOrNull(found.acknowledgeMs),
          resolveSeconds: secondsOrNull(found.resolveMs),
          belowZeroSeconds: secondsOrNull(spending?.belowZeroMs),
          forecastError: found.forecasts?.medianError ?? null,
        },
        total: total && { spent: sumJson(total.spent), before: oneSumJson(total.before) },
        groupedBy: found.groupBy,
        groups: (spending?.groups ?? []).map((group) => ({ label: group.group, ...spentJson(group) })),
        accounts: (spending?.accounts ?? []).map((it) => ({ account: it.account.id, ...spentJson(it) })),
        changes: explainChanges(review).map(({ currency, more, accounts, groups, weekday, reasons }) => ({
          currency,
          more: formatMicros(more),
          accounts: accounts.map((it) => ({ account: it.account.id, more: formatMicros(it.more) })),
          groups: groups.map((it) => ({ label: it.label, more: formatMicros(it.more) })),
          reasons: reasons && { price: formatMicros(reasons.price), volume: formatMicros(reasons.volume) },
          weekday: weekday && { weekday: nameWeekday(weekday.index), more: formatMicros(weekday.more) },
        })),
        complete: spending !== null && !found.isCut && found.damaged.length === 0,
        unknown: found.unknown.map(({ id }) => id),
        inPart: found.inPart.map(({ id }) => id),
        damaged: found.damaged.map(({ id }) => id),
      };
    },
  }),
  get('review.csv', 'getReviewCsv', {
    summary: 'The incidents of a time as CSV, or the spending of its accounts',
    query: {
      ...query,
      of: z.enum(['incidents', 'spending'], { error: 'give incidents or spending' }).default('incidents'),
    },
    answers: csv,
    answer: async ({ context, site: { timezone }, query: { of } }) => {
      const found = await readReview(context);
      const lines = of === 'incidents' ? incidentLines(found) : spendingLines(found);
      const days = [found.since, found.until - 1].map((at) => isoDay(at, timezone)).join('-');
      return csvFile(context, `${of}-${days}`, lines);
    },
  }),
];

/** Dates are those of the configured time zone. */
function readReview(context: WebContext): Promise<Review> {
  const scope = { ...context.var.scope, timezone: context.var.site.timezone };
  const [range, since, until] = ['range', ...reviewEnds].map((name) => scope.query.get(name));
  const span = readSpan({ range, since, until }, scope, reviewEnds);
  return reviewOf(scope, readReviewQuery(scope.query, span));
}

function spentJson({ currency, spent: now, before }: Spent) {
  return { currency, spent: formatMicros(now), before: moneyOrNull(before) };
}

const incidentColumns = ['firedAt', 'resolvedAt', 'account', 'name', 'rule', 'type', 'worstSeverity'];
const acknowledgedColumns = ['acknowledgedAt', 'acknowledgedBy', 'comment', 'resolution'];

function incidentLines({ incidents }: Review): readonly string[] {
  const line = (it: Incident): string => {
    const { acknowledgement: taken, resolution } = it;
    return formatCsvLine([
      ...[isoText(it.firedAt), isoOrNull(it.resolvedAt) ?? '', it.account, it.accountName, it.rule, it.type],
      ...[it.worstSeverity, isoOrNull(taken?.at ?? null) ?? '', taken?.by ?? '', taken?.comment ?? ''],
      resolution?.kind ?? '',
    ]);
  };
  return [formatCsvLine([...incidentColumns, ...acknowledgedColumns]), ...incidents.map(line)];
}

function spendingLines({ spending, groupBy }: Review): readonly string[] {
  // An empty file would mean that nothing was spent.
  if (spending === null) throw new RequestError('bad_request', refusals.tooMuchHistory());
  const header = formatCsvLine(['account', 'name', 'label', 'currency', 'spent', 'before']);
  const lines = spending.accounts.map(({ account: { id, name, labels }, ...amounts }) => {
    const { currency, spent: now, before } = spentJson(amounts);
    return formatCsvLine([id, name, ownOf(labels, groupBy ?? '') ?? '', currency, now, before ?? '']);
  });
  return [header, ...lines];
}
