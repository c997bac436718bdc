import { describe, expect, it } from 'vitest';
import { drawSparkline } from '../../src/wording/sparkline.ts';

const hour = 3_600_000;

describe('drawSparkline', () => {
  it('runs from the lowest to the highest bar as the values do', () => {
    const points = [0, 1, 2, 3, 4, 5, 6, 7].map((value) => ({ at: value * hour, value }));
    expect(drawSparkline({ points, since: 0, until: 8 * hour, width: 8 })).toBe('▁▂▃▄▅▆▇█');
  });

  it('leaves a gap where nothing was read', () => {
    const points = [
      { at: 0, value: 10 },
      { at: 3 * hour, value: 0 },
    ];
    expect(drawSparkline({ points, since: 0, until: 4 * hour, width: 4 })).toBe('█  ▁');
  });

  it('shows the last value of each column', () => {
    const points = [
      { at: 0, value: 1 },
      { at: 1, value: 9 },
      { at: hour, value: 1 },
    ];
    expect(drawSparkline({ points, since: 0, until: 2 * hour, width: 2 })).toBe('█▁');
  });

  it('draws equal values as a level line and nothing at all without values', () => {
    expect(drawSparkline({ points: [{ at: 0, value: 5 }], since: 0, until: hour, width: 1 })).toBe('▄');
    expect(drawSparkline({ points: [], since: 0, until: hour, width: 5 })).toBe('');
  });
});
