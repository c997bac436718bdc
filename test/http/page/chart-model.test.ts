import { describe, expect, it } from 'vitest';
import { unreadStretches } from '../../../src/chart/draw-svg.ts';
import { chartJson } from '../../../src/http/api/history.ts';
import { buildChart, readSpan } from '../../../src/http/page/chart-model.ts';
import { drawChart } from '../../../src/http/page/chart-picture.ts';
import type { AccountView } from '../../../src/views/views.ts';
import { english } from '../../../src/wording/language.ts';
import {
  buildAccountView,
  buildIncident,
  buildPolls,
  buildRunway,
  dayMs,
  hourMs,
  micros,
  minuteMs,
  viewsNow,
} from '../../support/built-views.ts';
import { demoViews } from '../../support/demo-views.ts';
import { FakeViews } from '../../support/fake-views.ts';
import { trialsOn } from '../../support/trials.ts';
import { runFakeServer } from '../../support/web-server.ts';

const frame = { language: english, now: viewsNow, timezone: 'UTC' };
const day = readSpan({ range: '24h' }, frame);
const year = readSpan({ range: '1y' }, frame);

/** As the script of the page gets it. */
async function jsonOf(views: FakeViews, account: AccountView, span = day) {
  const chart = await buildChart(views, { account, span, balance: 'sms', now: viewsNow });
  return chartJson({ ...chart, account: account.id, balance: 'sms', currency: account.currency });
}

async function chartOf(
  sms: (at: number) => number | null,
  over: Parameters<typeof buildAccountView>[0] = {},
) {
  const views = new FakeViews();
  const polls = buildPolls({ since: viewsNow - 2 * dayMs, until: viewsNow, everyMs: 5 * minuteMs, sms });
  views.pollsByAccount.set('otp', polls);
  const account = buildAccountView({ reading: polls.at(-1)?.reading ?? null, ...over });
  const model = await buildChart(views, { account, span: day, balance: 'sms', now: viewsNow });
  return { views, account, model, chart: await jsonOf(views, account) };
}

describe('the chart', () => {
  it('breaks the line where polls failed and goes on after', async () => {
    const { chart } = await chartOf((at) =>
      at > viewsNow - 3 * hourMs && at < viewsNow - 2 * hourMs ? null : 100,
    );
    const gaps = chart.points.filter(([, value]) => value === null);
    expect(gaps).toEqual([[viewsNow - 3 * hourMs + 1, null]]);
  });

  it('draws a reading between polls that failed as a dot', async () => {
    const lone = viewsNow - 2 * hourMs;
    const { account, model } = await chartOf((at) =>
      Math.abs(at - lone) < hourMs && Math.abs(at - lone) > 3 * minuteMs ? null : 100,
    );
    const picture = drawChart(model, account.name, frame);
    expect(picture.markup.match(/M[\d.]+ [\d.]+h0M/g)).toHaveLength(1);
  });

  it('breaks the line where nobody polled for three intervals', async () => {
    const { views, account } = await chartOf(() => 100);
    const polls = await views.polls('otp', 0, Number.MAX_SAFE_INTEGER);
    views.pollsByAccount.set(
      'otp',
      polls.filter(({ at }) => at < viewsNow - 3 * hourMs || at > viewsNow - hourMs),
    );
    const { points } = await jsonOf(views, account);
    expect(points.filter(([, value]) => value === null)).toHaveLength(1);
  });

  it('ends in a gap while the last polls fail', async () => {
    const { chart } = await chartOf((at) => (at > viewsNow - hourMs ? null : 100));
    expect(chart.points.at(-1)?.[1]).toBeNull();
  });

  it('of a young account begins with its first poll', async () => {
    const { views, account } = await chartOf(() => 100);
    const first = viewsNow - 20 * minuteMs;
    views.pollsByAccount.set('otp', await views.polls('otp', first, viewsNow + 1));
    expect((await jsonOf(views, account, year)).since).toBe(first);
  });

  it('marks rises as top-ups, falls not', async () => {
    const { chart } = await chartOf(
      (at) => (at >= viewsNow - 6 * hourMs ? 500 : 100) - (at - viewsNow) / hourMs,
    );
    expect(chart.topUps).toHaveLength(1);
    expect(chart.topUps[0]?.at).toBe(viewsNow - 6 * hourMs);
    expect(chart.topUps[0]?.amount).toBeCloseTo(400, 0);
  });

  it('projects to zero, or a quarter of the chart ahead', async () => {
    const projected = async (emptyAt: number | null) => {
      const runways = { sms: buildRunway({ emptyAt }), voip: null };
      return (await chartOf(() => 100, { runways })).chart.projection;
    };
    expect(await projected(viewsNow + 2 * hourMs)).toEqual([
      [viewsNow, 100],
      [viewsNow + 2 * hourMs, 0],
    ]);
    expect(await projected(viewsNow + dayMs)).toEqual([
      [viewsNow, 100],
      [viewsNow + 6 * hourMs, 75],
    ]);
    expect(await projected(null)).toEqual([]);
  });

  describe('a fan between the early and the late end', () => {
    const fanOf = async (earliest: number | null, latest: number | null, emptyMicros = 0) => {
      const emptyAt = viewsNow + 4 * hourMs;
      const forecast = { emptyAt, earliest, latest, basis: 'hour-of-week' } as const;
      const runways = { sms: buildRunway({ emptyAt, forecast, emptyMicros }), voip: null };
      return (await chartOf(() => 100, { runways })).chart;
    };

    it('is empty at the one and at the other', async () => {
      const chart = await fanOf(viewsNow + 2 * hourMs, viewsNow + 5 * hourMs);
      expect(chart.fan).toEqual([
        [viewsNow, 100, 100],
        [viewsNow + 2 * hourMs, 0, 60],
        [viewsNow + 5 * hourMs, 0, 0],
      ]);
      expect(chart.until).toBe(viewsNow + 5 * hourMs);
    });

    it('goes a quarter of the chart ahead, level where no late end can be predicted', async () => {
      const open = await fanOf(viewsNow - hourMs, null);
      expect(open.fan.at(-1)).toEqual([viewsNow + 6 * hourMs, 0, 100]);
      expect((await fanOf(viewsNow + 8 * hourMs, viewsNow + 12 * hourMs)).fan).toEqual([
        [viewsNow, 100, 100],
        [viewsNow + 6 * hourMs, 25, 50],
      ]);
    });

    it('leads below zero where the provider lets the account owe', async () => {
      const chart = await fanOf(viewsNow + 2 * hourMs, viewsNow + 5 * hourMs, micros(-50));
      expect(chart.fan.at(-1)).toEqual([viewsNow + 5 * hourMs, -50, -50]);
      expect(chart.projection.at(-1)).toEqual([viewsNow + 4 * hourMs, -50]);
    });

    it('is no part where no early end is predicted', async () => {
      expect((await fanOf(null, null)).fan).toEqual([]);
    });
  });

  it('hatches what was not read, up to the next reading or to now', async () => {
    const { model } = await chartOf((at) =>
      at > viewsNow - hourMs || (at > viewsNow - 9 * hourMs && at < viewsNow - 8 * hourMs) ? null : 100,
    );
    expect(unreadStretches(model.points, viewsNow)).toEqual([
      { from: viewsNow - 9 * hourMs + 1, to: viewsNow - 8 * hourMs },
      { from: viewsNow - hourMs + 1, to: viewsNow },
    ]);
    expect(drawChart(model, 'words', frame).markup.match(/class="not-read"/g)).toHaveLength(2);
  });

  it.each([
    ['since', 0],
    ['until polls began to fail', 2],
  ])('hatches from the last reading on where nobody polled %s', async (_when, failing) => {
    const { views, account } = await chartOf((at) => (at > viewsNow - 9 * hourMs ? null : 100));
    const polls = await views.polls('otp', 0, Number.MAX_SAFE_INTEGER);
    views.pollsByAccount.set(
      'otp',
      polls.filter(({ at, reading }) => reading !== null || at > viewsNow - failing * hourMs),
    );
    const { points } = await buildChart(views, { account, span: day, balance: 'sms', now: viewsNow });
    expect(unreadStretches(points, viewsNow)).toEqual([{ from: viewsNow - 9 * hourMs + 1, to: viewsNow }]);
  });

  it('of two dates ends with the second, on the clocks of the zone, and looks at nothing beyond', async () => {
    const { views, account } = await chartOf(() => 100);
    const span = readSpan(
      { since: '2026-11-19', until: '2026-11-19' },
      { language: english, now: viewsNow, timezone: 'Asia/Shanghai' },
    );
    const chart = await jsonOf(views, account, span);
    const midnight = Date.UTC(2026, 10, 18, 16);
    expect([chart.since, chart.until]).toEqual([midnight, midnight + dayMs]);
    expect(chart.points.length).toBeGreaterThan(250);
    expect(chart.points.every(([at]) => at >= midnight && at <= midnight + dayMs)).toBe(true);
    expect(chart.projection).toEqual([]);
  });

  it.each([
    ['a day that no month has', { since: '2026-02-30' }],
    ['an end before its begin', { since: '2026-11-10', until: '2026-11-01' }],
    ['a begin in the future', { since: '2027-01-01', until: '2027-02-01' }],
  ])('refuses %s', (_what, query) => {
    expect(() => readSpan(query, frame)).toThrow(/^since: /);
  });

  it('shows the forecast of a week ago next to what came, never below empty', async () => {
    const { views, account } = await chartOf((at) => 100 + (viewsNow - at) / hourMs);
    const steps = [
      { at: viewsNow - 20 * hourMs, excess: 0 },
      { at: viewsNow - 10 * hourMs, excess: micros(25) },
      { at: viewsNow - hourMs, excess: micros(-500) },
    ];
    views.weeksAgo.set('otp sms', { madeAt: viewsNow - 20 * hourMs, steps });
    expect((await jsonOf(views, account)).foretold).toEqual([
      [viewsNow - 20 * hourMs, 120],
      [viewsNow - 10 * hourMs, 135],
      [viewsNow - hourMs, 0],
    ]);
    const shown = buildChart(views, { account, span: day, balance: 'sms', now: viewsNow });
    expect((await shown).hindsight).toEqual({ at: viewsNow - hourMs, predicted: 0, came: micros(101) });
  });

  it('lifts the forecast line by what was topped up, when it came', async () => {
    const topUpAt = viewsNow - 10 * hourMs;
    const { views, account } = await chartOf((at) => (at >= topUpAt ? 500 : 100));
    const steps = [
      { at: viewsNow - 20 * hourMs, excess: 0 },
      { at: viewsNow, excess: micros(-40) },
    ];
    views.weeksAgo.set('otp sms', { madeAt: viewsNow - 20 * hourMs, steps });
    expect((await jsonOf(views, account)).foretold).toEqual([
      [viewsNow - 20 * hourMs, 100],
      [topUpAt - 1, 80],
      [topUpAt, 480],
      [viewsNow, 460],
    ]);
  });

  it('marks when alerts were muted, cut to the chart', async () => {
    const { views, account } = await chartOf(() => 100);
    const silence = { id: 'a', match: {}, by: 'Lin', comment: '', active: true, laterStarts: [] };
    views.silenceList = [
      { ...silence, startsAt: viewsNow - 3 * dayMs, endsAt: viewsNow - 20 * hourMs },
      { ...silence, startsAt: viewsNow - hourMs, endsAt: viewsNow + hourMs },
      { ...silence, match: { account: ['another'] }, startsAt: viewsNow - hourMs, endsAt: viewsNow },
    ];
    expect((await jsonOf(views, account)).silences).toEqual([
      { from: viewsNow - dayMs, to: viewsNow - 20 * hourMs },
      { from: viewsNow - hourMs, to: viewsNow },
    ]);
  });

  it('leaves out readings in another currency: the two have no common scale', async () => {
    const { views, account } = await chartOf(() => 100);
    const foreign = buildPolls({
      since: viewsNow - dayMs,
      until: viewsNow - hourMs,
      everyMs: hourMs,
      sms: () => 9_999,
      currency: 'USD',
    });
    views.pollsByAccount.set('otp', [
      ...foreign,
      ...(await views.polls('otp', viewsNow - hourMs + 1, viewsNow + 1)),
    ]);
    const { points } = await jsonOf(views, account);
    expect(Math.max(...points.map(([, value]) => value ?? 0))).toBe(100);
  });

  it('shades incidents of this balance and of none, cut to the chart, and no events', async () => {
    const { views, account } = await chartOf(() => 100);
    views.incidentList = [
      buildIncident({ rule: 'old', firedAt: viewsNow - 3 * dayMs, resolvedAt: viewsNow - hourMs }),
      buildIncident({ rule: 'stale', balance: null }),
      buildIncident({ rule: 'voip-low', balance: 'voip' }),
      buildIncident({ rule: 'topped-up', event: true }),
    ];
    const { incidents, since } = await jsonOf(views, account);
    expect(incidents.map(({ rule }) => rule)).toEqual(['old', 'stale']);
    expect(incidents[0]).toMatchObject({ from: since, to: viewsNow - hourMs });
  });

  it('of a year has at most a thousand points and keeps the lowest', async () => {
    const views = new FakeViews();
    const dip = viewsNow - 100 * dayMs;
    const sms = (at: number) => (at === dip ? -7 : 100);
    views.pollsByAccount.set(
      'otp',
      buildPolls({ since: viewsNow - 365 * dayMs, until: viewsNow, everyMs: 30 * minuteMs, sms }),
    );
    const { points } = await jsonOf(views, buildAccountView(), year);
    expect(points.length).toBeLessThan(1_000);
    expect(Math.min(...points.map(([, value]) => value ?? 0))).toBe(-7);
  });

  it.each([
    ['nothing read yet', () => null],
    ['a balance that never moves', () => 0],
    ['a balance at the limit', () => 9_007_199_254],
  ])('is drawn with %s', async (_what, sms) => {
    const { model } = await chartOf(sms, { thresholds: { sms: {}, voip: {} } });
    const { markup } = drawChart(model, 'words', frame);
    expect(markup).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('is as exact as the reading in what it says', async () => {
    const { chart } = await chartOf(() => -18.383, {
      thresholds: { sms: { critical: micros(0.1) }, voip: {} },
    });
    expect(chart.points.at(-1)?.[1]).toBe(-18.383);
    expect(chart.thresholds).toEqual([{ severity: 'critical', value: 0.1 }]);
  });
});

it('The picture of a trial shows the balance that the rule watches where the rule names none', async () => {
  const views = demoViews();
  const { url, close } = await runFakeServer({ views, trials: trialsOn(views) });
  const body = new URLSearchParams({ 'rule.thresholds.warning': '300', over: '30d' });
  const page = await (
    await fetch(`${url}/accounts/otp/try/sms-low`, { method: 'POST', headers: { origin: url }, body })
  ).text();
  expect(page).toContain('<figcaption>SMS balance, and when it would have fired</figcaption>');
  expect(page).toMatch(/<path[^>]*class="line/);
  await close();
});
