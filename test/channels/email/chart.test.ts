import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawChart, type MailChart, renderChartSvg } from '../../../src/channels/email/draw-chart.ts';
import { planCharts } from '../../../src/channels/email/email-charts.ts';
import {
  buildAccount,
  buildItem,
  buildMessage,
  buildReport,
  buildRunway,
  messageNow,
  money,
} from '../../support/messages.ts';

const hour = 3_600_000;

describe('a chart of a balance', () => {
  it('marks thresholds, top-ups, the alert and the projected end', () => {
    const svg = renderChartSvg(chartOf());
    expect(svg).toContain('>50<');
    expect(svg).toContain('>200<');
    expect(svg).toContain('>+200<');
    expect(svg).toContain('>empty about 21 Nov 23:44<');
    expect(svg.match(/<rect/g)).toHaveLength(1);
    expect(svg.match(/stroke-dasharray="3 4"/g)).toHaveLength(1);
  });

  it.each([
    ['on one day', 10 * hour, 14 * hour, 'empty 21 Nov 12:41–16:41'],
    ['on several days', 10 * hour, 80 * hour, 'empty 21 Nov – 24 Nov'],
    ['with no end in sight', 10 * hour, null, 'empty 21 Nov 12:41 or later'],
    ['from now on', -hour, 14 * hour, 'empty 21 Nov 02:41–16:41'],
  ])('says in a label between which instants the balance ends: %s', (_, early, late, label) => {
    const forecast = {
      emptyAt: messageNow + 12 * hour,
      earliest: messageNow + early,
      latest: late === null ? null : messageNow + late,
      basis: 'hour-of-week' as const,
    };
    const svg = renderChartSvg(chartOf({ runway: buildRunway({ emptyAt: forecast.emptyAt, forecast }) }));
    expect(svg).toContain(`>${label}<`);
  });

  it('draws a fan between the early and the late end, within the picture', () => {
    const emptyAt = messageNow + 20 * hour;
    const fan = (span: { earliest: number; latest: number | null } | null) => {
      const forecast = span && { emptyAt, ...span, basis: 'hour-of-week' as const };
      const svg = renderChartSvg(chartOf({ runway: buildRunway({ emptyAt, forecast }) }));
      return /<path d="(M[^"]+)" [^>]*fill-opacity/.exec(svg)?.[1];
    };
    expect(fan(null)).toBeUndefined();
    for (const latest of [messageNow + 30 * hour, messageNow + 9e10, null]) {
      const path = fan({ earliest: messageNow + 10 * hour, latest });
      const corners = [...(path ?? '').matchAll(/([\d.]+) ([\d.]+)/g)];
      expect(corners.length).toBeGreaterThan(3);
      for (const [, x] of corners) expect(Number(x)).toBeLessThanOrEqual(318);
    }
    expect(fan({ earliest: messageNow - hour, latest: messageNow - hour })).not.toMatch(/NaN|Infinity/);
  });

  it('leads below zero where the provider lets the account owe', () => {
    const emptyAt = messageNow + 20 * hour;
    const runway = buildRunway({ emptyAt, emptyMicros: money(-500) });
    const { chart } = chartOf({ runway });
    expect(chart.projection.at(-1)).toEqual({ at: emptyAt, value: money(-500) });
    // The lowest labelled amount lies below zero.
    expect(renderChartSvg(chartOf({ runway }))).toMatch(/>-\d+</);
  });

  it('is broken where nothing was read for long', () => {
    const at = (index: number) => messageNow - (200 - index) * 0.8 * hour;
    const history = Array.from({ length: 200 }, (_, index) => index)
      .filter((index) => index < 100 || index > 130)
      .map((index) => ({ at: at(index), balances: { sms: money(300 - index), voip: 0 }, currency: 'CNY' }));
    const line = /<path d="([^"]+)" fill="none"/.exec(renderChartSvg(chartOf({ history })))?.[1] ?? '';
    expect(line.match(/M/g)).toHaveLength(2);
  });

  it('of a young account begins with its first reading, with times of day', () => {
    const young = (ageMs: number) =>
      renderChartSvg(
        chartOf({
          runway: null,
          history: [1, 0.5, 0].map((share) => ({
            at: messageNow - ageMs * share,
            balances: { sms: money(100), voip: 0 },
            currency: 'CNY',
          })),
        }),
      );
    const firstX = (svg: string) => Number(/d="M([\d.]+) /.exec(svg)?.[1]);
    for (const ageMs of [10 * 60_000, hour, 20 * hour, 5 * 24 * hour]) {
      expect(firstX(young(ageMs))).toBeCloseTo(44, 0);
    }
    expect(young(hour)).toContain('>02:30<');
    expect(young(hour)).not.toContain('>21 Nov<');
    expect(young(5 * 24 * hour)).toMatch(/>(?:19|20) Nov</);
    // Seconds of history are no line across the picture.
    expect(firstX(young(5000))).toBeGreaterThan(250);
  });

  it('leaves far thresholds out rather than flatten the line', () => {
    expect(renderChartSvg(chartOf())).not.toContain('>500<');
  });

  it('is a PNG of a phone’s sharpness', async () => {
    const png = await drawChart(chartOf());
    expect(png?.subarray(1, 4).toString()).toBe('PNG');
    expect(png?.readUInt32BE(16)).toBe(792);
    expect(png?.length).toBeLessThan(60_000);
  });

  it('that cannot be drawn is none, and no error', async () => {
    expect(await drawChart({ ...chartOf(), timezone: 'No/Where' })).toBeNull();
  });

  it('never draws outside numbers, regardless of the balances', () => {
    const history = fc.array(
      fc.record({
        at: fc.integer({ min: messageNow - 160 * hour, max: messageNow }),
        balances: fc.record({ sms: fc.maxSafeInteger(), voip: fc.constant(0) }),
        currency: fc.constant('CNY'),
      }),
      { minLength: 2, maxLength: 20 },
    );
    const threshold = fc.option(fc.maxSafeInteger(), { nil: undefined });
    fc.assert(
      fc.property(
        history,
        threshold,
        fc.option(fc.integer({ min: messageNow - hour, max: messageNow + 9e12 })),
        (readings, critical, emptyAt) => {
          const svg = renderChartSvg(
            chartOf({
              history: readings.toSorted((one, other) => one.at - other.at),
              thresholds: critical === undefined ? {} : { critical },
              runway: buildRunway({ emptyAt }),
            }),
          );
          expect(svg).not.toMatch(/NaN|Infinity/);
          expect(svg.length).toBeLessThan(40_000);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('which charts a mail plans', () => {
  it('one for the account of an alert', () => {
    expect(planCharts(buildMessage()).map(({ index }) => index)).toEqual([0]);
  });

  it('at most three in a group, and none twice', () => {
    const items = ['a', 'b', 'c', 'd', 'e'].map((id) => buildItem({ account: buildAccount({ id }) }));
    expect(planCharts(buildMessage([...items.slice(0, 1), ...items])).map(({ index }) => index)).toEqual([
      0, 2, 3,
    ]);
  });

  it('none without history, and none of a balance that stood still in a report', () => {
    expect(planCharts(buildMessage([buildItem({ account: buildAccount({ history: [] }) })]))).toEqual([]);
    expect(planCharts(buildReport()).map(({ index }) => index)).toEqual([0, 1]);
  });

  it('those of a report on an account that gained a balance within it', () => {
    const readingAt = (hours: number, balances: Record<string, number>) => ({
      ...{ at: messageNow - hours * hour, balances, currency: 'CNY' },
    });
    const old = [readingAt(4, { sms: money(9) }), readingAt(3, { sms: money(8) })];
    const history = [
      ...old,
      readingAt(2, { sms: money(7), voip: 0 }),
      readingAt(1, { sms: money(6), voip: 0 }),
    ];
    const report = buildReport();
    const accounts = report.accounts.slice(0, 1).map((account) => ({ ...account, history }));
    const plans = planCharts({ ...report, accounts });
    expect(plans.map(({ drawing }) => drawing.chart.points.length)).toEqual([4]);
  });

  it('leaves out readings in another currency', () => {
    const history = [
      { at: messageNow - 3 * hour, balances: { sms: money(9), voip: 0 }, currency: 'EUR' },
      { at: messageNow - 2 * hour, balances: { sms: money(50), voip: 0 }, currency: 'CNY' },
      { at: messageNow - hour, balances: { sms: money(40), voip: 0 }, currency: 'CNY' },
    ];
    const [plan] = planCharts(buildMessage([buildItem({ account: buildAccount({ history }) })]));
    expect(plan?.drawing.chart.points.map(({ value }) => value)).toEqual([money(50), money(40)]);
  });
});

function chartOf(over: Parameters<typeof buildAccount>[0] = {}): MailChart {
  const account = buildAccount(over);
  const [plan] = planCharts(buildMessage([buildItem({ firedAt: messageNow - 10 * hour, account })]));
  if (plan === undefined) throw new Error('A low balance has a chart.');
  return plan.drawing;
}
