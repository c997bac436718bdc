import { currencyCode, type Micros } from '../domain/money.ts';
import { ownOf } from '../domain/own.ts';
import { hourMs } from '../domain/time.ts';
import { addReasons } from './fall-units.ts';
import type { Review } from './review.ts';

/** A smaller share is no change that anybody asks about. */
const leastChange = 0.05;
const namedAccounts = 3;

/**
 * Changes since the time before, by currency: in all, in which accounts and groups most, on which weekday if the time is whole
 * weeks, and how much of it by price and by volume. Only of accounts that were watched in both times.
 */
export function explainChanges({ spending, since, until, groupBy }: Changing) {
  const known = (spending?.accounts ?? []).flatMap((each) =>
    each.before === null ? [] : { ...each, more: each.spent - each.before },
  );
  const isWholeWeeks = Math.round((until - since) / hourMs) % (7 * 24) === 0;
  return [...Map.groupBy(known, ({ currency }) => currencyCode(currency)).values()].flatMap((own) => {
    const more = own.reduce((sum, each) => sum + each.more, 0);
    const before = own.reduce((sum, each) => sum + (each.before ?? 0), 0);
    if (Math.abs(more) < leastChange * before || more === 0) return [];
    const most = <Row extends { readonly more: Micros }>(rows: readonly Row[], count: number) =>
      rows
        .filter((row) => row.more * more > 0)
        .toSorted((left, right) => Math.abs(right.more) - Math.abs(left.more))
        .slice(0, count);
    const weekdays = Array.from({ length: 7 }, (_, index) => ({
      index,
      more: own.reduce((sum, each) => sum + (each.weekdays[index] ?? 0), 0),
    }));
    const [weekday = null] = isWholeWeeks ? most(weekdays, 1) : [];
    const labels = [...Map.groupBy(own, ({ account }) => ownOf(account.labels, groupBy ?? '') ?? '')].map(
      ([label, rows]) => ({ label, more: rows.reduce((sum, each) => sum + each.more, 0) }),
    );
    const groups = labels.length > 1 ? most(labels, namedAccounts) : [];
    return {
      ...{ currency: own[0]?.currency ?? '', more, accounts: most(own, namedAccounts), groups, weekday },
      reasons: addReasons(own.map(({ reasons }) => reasons)),
    };
  });
}

type Changing = Pick<Review, 'spending' | 'since' | 'until' | 'groupBy'>;
