import { ownOf } from '../domain/own.ts';
import { plural } from '../domain/plain-text.ts';
import type { describeSettings } from './describe-settings.ts';

type Description = ReturnType<typeof describeSettings>;

/** The number of accounts above which `validate` prints a summary, unless all are asked for. */
export const accountsInFull = 20;

/** The most lines that are shown of a kind, and the most values of a line. */
const maxLines = 15;
const maxValues = 8;

/** A summary of many accounts on one screen: how many are alike, and a line for each rule, channel and route. */
export function summarizeDescription(description: Description) {
  const { accounts, rules, channels, routes, silences, reports } = description;
  const labels = new Set(accounts.flatMap((account) => Object.keys(account.labels)));
  return {
    accounts: {
      provider: tally(accounts.map(({ provider = 'provider' }) => provider)),
      currency: tally(accounts.map(({ currency }) => currency ?? 'none')),
      poll: tally(accounts.map(({ poll }) => poll)),
      ...Object.fromEntries(
        [...labels].map((name) => [
          `label ${name}`,
          tally(accounts.map((of) => ownOf(of.labels, name) ?? 'none')),
        ]),
      ),
      'own thresholds': String(accounts.filter(({ thresholds }) => thresholds !== undefined).length),
    },
    rules: firstLines(
      rules.map(({ id, accounts: { length }, condition }) => [
        id,
        `${plural(length, 'account')}, ${condition}`,
      ]),
    ),
    channels: firstLines(channels.map(({ name, type, target }) => [name, `${type}, ${target}`])),
    routes: firstLines(
      routes.map((route, index) => [
        String(index + 1),
        `${route.match} to ${route.channels.join(', ')}${route.continue ? ', and on to the next' : ''}`,
      ]),
    ),
    silences: firstLines(silences.map(({ match, when }, index) => [String(index + 1), `${match}, ${when}`])),
    reports: firstLines(
      reports.map(({ id, when, channels: names }) => [id, `${when} to ${names.join(', ')}`]),
    ),
  };
}

/** `CNY 120, EUR 60, none 20`, the most frequent first. */
function tally(values: readonly string[]): string {
  const counts = [...Map.groupBy(values, (value) => value)]
    .map(([value, { length }]) => ({ value, length }))
    .toSorted((left, right) => right.length - left.length);
  const shown = counts.slice(0, maxValues).map(({ value, length }) => `${value} ${length}`);
  const more = counts.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function firstLines(lines: readonly (readonly [string, string])[]): Record<string, string> {
  const more = lines.length - maxLines;
  return Object.fromEntries([...lines.slice(0, maxLines), ...(more > 0 ? [['…', `${more} more`]] : [])]);
}
