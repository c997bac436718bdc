import { describe, expect, it } from 'vitest';
import { formatStatus } from '../../../src/cli/commands/status.ts';
import { createStyle, type Output } from '../../../src/cli/terminal/output.ts';
import { summarize } from '../../../src/views/account-summary.ts';
import type { AccountView } from '../../../src/views/views.ts';
import { buildAccountView, buildRunway, dayMs, micros, viewsNow } from '../../support/built-views.ts';

const sumOf = (...accounts: readonly AccountView[]) => summarize([accounts], viewsNow);

async function statusOf(columns: number, latest: number | null = viewsNow + 5 * dayMs, days = 3) {
  const emptyAt = viewsNow + days * dayMs;
  const forecast = { emptyAt, earliest: emptyAt - dayMs, latest, basis: 'hour-of-week' } as const;
  const sms = buildRunway({ emptyAt, runwayMs: days * dayMs, forecast });
  const stdout: Output = {
    write: () => Promise.resolve(),
    isTerminal: true,
    columns,
    style: createStyle(false),
  };
  const accounts = [buildAccountView({ runways: { sms, voip: null } })];
  return formatStatus(await sumOf(...accounts), { stdout, timezone: 'UTC', now: viewsNow });
}

describe('when an account runs dry, in the status', () => {
  it.each([
    [2 + 23.8 / 24, '3d'],
    [2 + 20 / 24, '2d20h'],
    [46 / 24 / 60, '46m'],
  ])('within %d days is rounded as in messages: %s', async (days, words) => {
    expect(await statusOf(200, null, days)).toContain(` ${words} (`);
  });

  it('within a day is no "ok", though no alert fires', async () => {
    const shown = await statusOf(200, null, 46 / 24 / 60);
    expect(shown).toContain('ends soon');
    expect(shown).not.toMatch(/\bok\b/);
    expect(shown).toContain('no alert fires, 1 without an alert may be empty within a day');
    expect(await statusOf(200)).toMatch(/\bok\b/);
  });

  it('is an interval, in a narrow terminal too', async () => {
    expect(await statusOf(80)).toContain('3d (2d-5d)');
    expect(await statusOf(80)).not.toContain('between');
  });

  it('is reported with day and time where there is room', async () => {
    expect(await statusOf(200)).toMatch(/\w{3} (\d\d:\d\d), between \w{3} \1 and \w{3} \1/);
  });

  it('says nothing more than that beyond a year', async () => {
    const shown = await statusOf(200, null, 900);
    expect(shown).toContain('over a year');
    expect(shown).not.toContain('between');
    expect(shown).not.toContain('900d');
  });

  it('has no late end where none can be predicted', async () => {
    expect(await statusOf(200, null)).toContain('3d (2d-..)');
    expect(await statusOf(200, null)).toMatch(/perhaps in .*, perhaps much later/);
  });
});

it('does not say that no alert fires where no account was ever read, as on a daemon that cannot know', async () => {
  const stdout: Output = {
    write: () => Promise.resolve(),
    isTerminal: true,
    columns: 200,
    style: createStyle(false),
  };
  const summary = await sumOf(buildAccountView({ id: 'otp', outcome: null }));
  const shown = formatStatus(summary, { stdout, timezone: 'UTC', now: viewsNow });
  expect(shown).toMatch(/\n1 account, 1 not read yet\n$/);
});

it('calls an account to which nothing is pushed any more not read, and names those never read in the totals', async () => {
  const stdout: Output = {
    write: () => Promise.resolve(),
    isTerminal: true,
    columns: 200,
    style: createStyle(false),
  };
  const accounts = [buildAccountView({ isRead: false }), buildAccountView({ id: 'new', outcome: null })];
  const shown = formatStatus(await sumOf(...accounts), { stdout, timezone: 'UTC', now: viewsNow });
  expect(shown).toContain('✗ not read');
  expect(shown).not.toContain('✓');
  expect(shown).toContain('1 cannot be read, 1 not read yet\n');
});

it('names how many accounts it does not show, and where they are', async () => {
  const stdout: Output = {
    write: () => Promise.resolve(),
    isTerminal: true,
    columns: 200,
    style: createStyle(false),
  };
  const summary = await sumOf(buildAccountView({ id: 'otp' }));
  const frame = { stdout, timezone: 'UTC', now: viewsNow };
  expect(formatStatus(summary, frame)).not.toContain('not shown');
  expect(formatStatus({ ...summary, accounts: 131 }, frame)).toMatch(
    /\n131 accounts, .*, 130 of them not shown here: lowwater status \| less shows all\n$/,
  );
});

it('shows a balance that counts something else, and what is spent of it, with what it counts, beside money', async () => {
  const { balances, ...account } = buildAccountView();
  const minutes = balances.map((each) => (each.id === 'voip' ? { ...each, unit: 'minutes' } : each));
  const stdout: Output = {
    write: () => Promise.resolve(),
    isTerminal: false,
    columns: 200,
    style: createStyle(false),
  };
  const frame = { stdout, timezone: 'UTC', now: viewsNow };
  const runways = { sms: null, voip: buildRunway({ balance: 'voip', burnPerDay: micros(188) }) };
  const shown = formatStatus(await sumOf({ ...account, balances: minutes, runways }), frame);
  expect(shown).toMatch(/ \d+\.\d\d +\d+ minutes +CNY /);
  expect(shown, 'what goes first is what is spent').toMatch(/ CNY +188 minutes /);
});
