import { describe, expect, it } from 'vitest';
import { type LinePoint, layChart } from '../../../src/chart/chart.ts';
import { drawChart } from '../../../src/cli/terminal/chart.ts';
import { createStyle } from '../../../src/cli/terminal/output.ts';
import { displayWidth } from '../../../src/cli/terminal/text.ts';
import { formatMoney } from '../../../src/domain/money.ts';
import type { Ladder } from '../../../src/domain/rule.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 10, 20);

function draw({
  points = [],
  thresholds = {},
}: {
  points?: readonly LinePoint[];
  thresholds?: Ladder<number>;
}) {
  const readings = points.flatMap(({ at, value }) =>
    value === null ? [] : [{ at, balances: { sms: value, voip: 0 }, currency: 'CNY' }],
  );
  const until = start + 24 * hour;
  const chart = layChart({
    since: start,
    until,
    now: until,
    readings,
    balance: 'sms',
    intervalMs: hour,
    thresholds,
  });
  return drawChart({
    chart: { ...chart, until },
    width: 60,
    height: 12,
    formatValue: formatMoney,
    timezone: 'UTC',
    style: createStyle(false),
  });
}

const falling = Array.from({ length: 24 }, (_, index) => ({
  at: start + index * hour,
  value: (240 - index * 10) * 1_000_000,
}));

describe('a chart on the terminal', () => {
  it('fits its width and height', () => {
    const lines = draw({ points: falling });
    expect(lines).toHaveLength(12);
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(60);
  });

  it('labels its axes with round values and the times at both ends', () => {
    const text = draw({ points: falling }).join('\n');
    expect(text).toMatch(/^\s*300\.00 ┤|^\s*250\.00 ┤/m);
    expect(text).toMatch(/\b0\.00 ┤/);
    expect(text).toContain('2026-11-20 00:00');
    expect(text).toContain('2026-11-21 00:00');
  });

  it('falls from the upper left to the lower right', () => {
    const plot = draw({ points: falling }).filter((line) => /[┤│]/.test(line));
    const firstDot = (line: string) => line.search(/[\u2801-\u28ff]/);
    const columns = plot.map(firstDot).filter((column) => column !== -1);
    expect(columns).toEqual(columns.toSorted((left, right) => left - right));
  });

  it('leaves a gap where nothing was read for long', () => {
    const points = falling.filter((_, index) => index < 4 || index > 18);
    const plot = draw({ points }).filter((line) => /[┤│]/.test(line));
    const middle = plot.map((line) => line.slice(25, 45)).join('');
    expect(middle).not.toMatch(/[\u2801-\u28ff]/);
  });

  it('shows a threshold that is near and leaves out one that would flatten the curve', () => {
    const points = falling.map(({ at, value }) => ({ at, value: value / 10 }));
    const text = draw({ points, thresholds: { critical: 5_000_000, info: 9_000_000_000 } }).join('\n');
    expect(text).toContain('┄');
    expect(text).toMatch(/30\.00 ┤|25\.00 ┤/);
  });

  it.each([
    ['no points', []],
    ['one point', falling.slice(0, 1)],
    ['a level line', falling.map(({ at }) => ({ at, value: 5_000_000 }))],
    ['level at zero', falling.map(({ at }) => ({ at, value: 0 }))],
    ['only negative values', falling.map(({ at, value }) => ({ at, value: -value - 1 }))],
    [
      'the largest values there are',
      falling.map(({ at }, index) => ({ at, value: index % 2 === 0 ? -9e15 : 9e15 })),
    ],
  ])('draws %s without breaking', (_name, points) => {
    const lines = draw({ points });
    expect(lines).toHaveLength(12);
    expect(lines.join('\n')).not.toMatch(/NaN|undefined|Infinity/);
  });
});
