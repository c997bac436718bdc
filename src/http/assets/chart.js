// Draws the chart of the account page with uPlot over the picture that the server drew: the same facts, with a cursor.

import uPlot from './uplot.js';

const figure = document.querySelector('[data-chart]');
const dark = matchMedia('(prefers-color-scheme: dark)');
const timezone = figure?.dataset.timezone ?? 'UTC';
const hourAndMinute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const redrawMs = 5000;
let plot = null;
let drawnAt = 0;

if (figure !== null) {
  draw();
  dark.addEventListener('change', draw);
  document.addEventListener('lowwater:fresh', () => {
    // A chart of hours gains nothing from being drawn every second.
    if (performance.now() - drawnAt > redrawMs) draw();
  });
  new ResizeObserver(() => plot?.setSize(sizeOf(figure.querySelector('.chart-box')))).observe(figure);
}

async function draw() {
  drawnAt = performance.now();
  const response = await fetch(figure.dataset.chart, { cache: 'no-store' });
  if (!response.ok) return;
  const chart = await response.json();
  if (chart.points.length === 0) return;
  const box = figure.querySelector('.chart-box');
  const fresh = document.createElement('div');
  plot?.destroy();
  plot = new uPlot(describe(chart, box), seriesOf(chart), fresh);
  box.classList.add('drawn');
  plot.root.setAttribute('role', 'img');
  plot.root.setAttribute('aria-label', figure.dataset.label);
  box.replaceChildren(plot.root);
}

/** Three rows over one list of instants: time, balance, projection. */
function seriesOf({ points, projection }) {
  const ahead = projection.slice(1);
  const times = [...points.map(([at]) => at / 1000), ...ahead.map(([at]) => at / 1000)];
  const balance = [...points.map(([, value]) => value), ...ahead.map(() => null)];
  const expected = times.map(() => null);
  if (ahead.length > 0) {
    expected[points.length - 1] = projection[0][1];
    ahead.forEach(([, value], index) => {
      expected[points.length + index] = value;
    });
  }
  return [times, balance, expected];
}

function describe(chart, box) {
  const colour = readColours();
  const money = (value) =>
    value === null || value === undefined ? '–' : `${formatMoney(value)} ${chart.currency ?? ''}`;
  const axis = {
    stroke: colour.soft,
    grid: { stroke: colour.line, width: 1 },
    ticks: { stroke: colour.line, width: 1 },
    font: '12px system-ui',
  };
  return {
    ...sizeOf(box),
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), timezone),
    fmtDate: (format) => uPlot.fmtDate(format),
    cursor: { points: { size: 7 }, drag: { x: true, y: false } },
    legend: { live: true },
    scales: {
      x: { time: true, range: () => [chart.since / 1000, chart.until / 1000] },
      y: { range: (_plot, lowest, highest) => rangeOf(chart, lowest, highest) },
    },
    axes: [
      { ...axis, space: 64, values: timeLabels },
      { ...axis, size: 64 },
    ],
    series: [
      {
        label: 'Time',
        value: (_plot, seconds) =>
          seconds === null
            ? '–'
            : wordTime(seconds, {
                weekday: 'short',
                day: 'numeric',
                month: 'short',
                ...hourAndMinute,
                timeZoneName: 'shortOffset',
              })
                .replace(',', '')
                .replace('GMT', 'UTC'),
      },
      {
        label: 'Balance',
        stroke: colour.link,
        width: 2,
        points: { show: false },
        value: (_plot, value) => money(value),
      },
      {
        label: 'Projection',
        stroke: colour.link,
        width: 2,
        dash: [6, 5],
        points: { show: false },
        spanGaps: true,
        value: (_plot, value) => money(value),
      },
    ],
    hooks: {
      drawClear: [(self) => shadeIncidents(self, chart, colour)],
      draw: [(self) => drawMarks(self, chart, colour)],
    },
  };
}

/** Hours while the view is short, days and months while it is long; the day with the first hour of it. */
function timeLabels(_plot, splits, _axisIndex, _space, step) {
  return splits.map((seconds) => {
    const day = wordTime(seconds, { day: 'numeric', month: 'short' });
    if (step >= 28 * 86_400) return wordTime(seconds, { month: 'short', year: '2-digit' });
    if (step >= 86_400) return day;
    if (step < 60) return wordTime(seconds, { ...hourAndMinute, second: '2-digit' });
    const clock = wordTime(seconds, hourAndMinute);
    return clock === '00:00' ? day : clock;
  });
}

/** A time in the zone that the whole page speaks in, whatever the zone of the browser. */
function wordTime(seconds, parts) {
  return new Date(seconds * 1000).toLocaleString('en-GB', { ...parts, timeZone: timezone });
}

function rangeOf({ thresholds }, lowest, highest) {
  const values = [lowest, highest, ...thresholds.map(({ value }) => value)].filter((value) => value !== null);
  const least = Math.min(...values);
  const most = Math.max(...values);
  const margin = (most - least) * 0.06 || Math.max(1, Math.abs(most) * 0.1);
  return [least >= 0 && least < margin ? 0 : least - margin, most + margin];
}

function shadeIncidents(self, { incidents }, colour) {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.globalAlpha = 0.14;
  for (const { from, to, severity } of incidents) {
    const left = Math.max(bbox.left, self.valToPos(from / 1000, 'x', true));
    const right = Math.min(bbox.left + bbox.width, self.valToPos(to / 1000, 'x', true));
    ctx.fillStyle = colour[severity];
    if (right > left) ctx.fillRect(left, bbox.top, Math.max(right - left, 2), bbox.height);
  }
  ctx.restore();
}

function drawMarks(self, { thresholds, topUps, now }, colour) {
  const { ctx, bbox } = self;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `600 ${12 * scale}px system-ui`;
  ctx.textAlign = 'right';
  ctx.lineWidth = 1.4 * scale;
  for (const { severity, value } of thresholds) {
    const y = self.valToPos(value, 'y', true);
    ctx.strokeStyle = ctx.fillStyle = colour[severity];
    line(ctx, [bbox.left, y, bbox.left + bbox.width, y], [7 * scale, 4 * scale]);
    // Above the line, or below it where the chart ends.
    const above = y - 18 * scale > bbox.top;
    const place = [
      `${severity} ${value}`,
      bbox.left + bbox.width - 4 * scale,
      above ? y - 5 * scale : y + 14 * scale,
    ];
    // A halo keeps the words apart from the lines that they cross.
    ctx.setLineDash([]);
    ctx.lineWidth = 4 * scale;
    ctx.strokeStyle = colour.surface;
    ctx.strokeText(...place);
    ctx.fillText(...place);
    ctx.lineWidth = 1.4 * scale;
  }
  const x = self.valToPos(now / 1000, 'x', true);
  ctx.strokeStyle = colour.soft;
  line(ctx, [x, bbox.top, x, bbox.top + bbox.height], [scale, 3 * scale]);
  for (const { at, value } of topUps) {
    ctx.beginPath();
    ctx.arc(
      self.valToPos(at / 1000, 'x', true),
      self.valToPos(value, 'y', true),
      4.5 * scale,
      0,
      2 * Math.PI,
    );
    ctx.fillStyle = colour.good;
    ctx.strokeStyle = colour.surface;
    ctx.setLineDash([]);
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}

function line(ctx, [fromX, fromY, toX, toY], dash) {
  ctx.setLineDash(dash);
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ['soft', 'line', 'link', 'surface', 'critical', 'warning', 'info', 'good'];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

function sizeOf(box) {
  const width = Math.max(200, Math.floor(box.clientWidth));
  return { width, height: width < 600 ? 240 : 280 };
}

function formatMoney(value) {
  return value.toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 6,
    useGrouping: false,
  });
}
