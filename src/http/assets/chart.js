// Draws the chart of the account page with uPlot over the picture that the server drew: the same facts, with a cursor.

import uPlot from './uplot.js';

const figure = document.querySelector('[data-chart]');
const dark = matchMedia('(prefers-color-scheme: dark)');
const timezone = figure?.dataset.timezone ?? 'UTC';
const hourAndMinute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const redrawMs = 5000;
/** The shortest time that is worth a whole chart, in seconds. */
const leastView = 60;
let plot = null;
let chart = null;
/** What is looked at, as seconds since 1970; null is everything. */
let view = null;
let drawnAt = 0;

if (figure !== null) {
  draw();
  dark.addEventListener('change', () => {
    plot?.destroy();
    plot = null;
    draw();
  });
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
  const fresh = await response.json();
  if (fresh.points.length === 0) return;
  chart = fresh;
  if (plot === null) drawFirst();
  // The same picture with newer numbers: cursor and zoom stay where they are.
  else plot.setData(seriesOf(chart), true);
}

function drawFirst() {
  const box = figure.querySelector('.chart-box');
  plot = new uPlot(describe(box), seriesOf(chart), document.createElement('div'));
  box.classList.add('drawn');
  plot.root.setAttribute('role', 'img');
  plot.root.setAttribute('aria-label', figure.dataset.label);
  box.replaceChildren(plot.root, zoomButtons());
  listenForZoom(plot.over);
}

function wholeView() {
  return [chart.since / 1000, chart.until / 1000];
}

/** Looks at a part, kept within the chart; null looks at everything. */
function look(wanted) {
  const [since, until] = wholeView();
  if (wanted === null) view = null;
  else {
    const length = Math.min(until - since, Math.max(leastView, wanted[1] - wanted[0]));
    const from = Math.min(Math.max(since, wanted[0]), until - length);
    view = length >= until - since ? null : [from, from + length];
  }
  const [min, max] = view ?? wholeView();
  plot.setScale('x', { min, max });
}

/** Makes the view `factor` times as long around an instant, by default its middle. */
function zoom(factor, around) {
  const [from, to] = view ?? wholeView();
  const at = around ?? (from + to) / 2;
  look([at - (at - from) * factor, at + (to - at) * factor]);
}

/** Moves by a share of the view. */
function move(share) {
  const [from, to] = view ?? wholeView();
  const by = (to - from) * share;
  look([from + by, to + by]);
}

const keys = {
  '+': () => zoom(0.5),
  '=': () => zoom(0.5),
  '-': () => zoom(2),
  0: () => look(null),
  ArrowLeft: () => move(-0.25),
  ArrowRight: () => move(0.25),
};

/** For fingers and keyboards; the keys work while one of the buttons has the focus. */
function zoomButtons() {
  const bar = document.createElement('div');
  bar.className = 'zoom';
  bar.setAttribute('role', 'group');
  bar.setAttribute('aria-label', 'Zoom of the chart');
  for (const [word, act] of [
    ['Zoom in', keys['+']],
    ['Zoom out', keys['-']],
    ['Earlier', keys.ArrowLeft],
    ['Later', keys.ArrowRight],
    ['Whole', keys[0]],
  ]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.textContent = word;
    button.addEventListener('click', act);
    bar.append(button);
  }
  bar.addEventListener('keydown', (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  return bar;
}

/** Wheel with Ctrl (which a trackpad's pinch sends too), two fingers, and a double click back to everything. */
function listenForZoom(over) {
  const instantAt = (x) => plot.posToVal(x - over.getBoundingClientRect().left, 'x');
  const fingers = new Map();
  over.addEventListener(
    'wheel',
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, instantAt(event.clientX));
    },
    { passive: false },
  );
  over.addEventListener('dblclick', () => look(null));
  over.addEventListener('pointerdown', (event) => {
    if (event.pointerType === 'touch') fingers.set(event.pointerId, event.clientX);
  });
  over.addEventListener('pointermove', (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = [...fingers.values()];
    fingers.set(event.pointerId, event.clientX);
    const now = [...fingers.values()];
    if (now.length !== 2) return;
    const [was, is] = [Math.abs(before[0] - before[1]), Math.abs(now[0] - now[1])];
    if (was > 10 && is > 10) zoom(was / is, instantAt((now[0] + now[1]) / 2));
  });
  for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
    over.addEventListener(end, (event) => fingers.delete(event.pointerId));
}

/** What was marked by dragging becomes the view. */
function lookAtSelection(self) {
  const { left, width } = self.select;
  if (width < 8) return;
  look([self.posToVal(left, 'x'), self.posToVal(left + width, 'x')]);
  self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
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

function describe(box) {
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
    cursor: { points: { size: 7 }, drag: { x: true, y: false, setScale: false } },
    legend: { live: true },
    scales: {
      x: { time: true, range: () => view ?? wholeView() },
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
      setSelect: [lookAtSelection],
      drawClear: [(self) => drawUnder(self, chart, colour)],
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

function rangeOf({ thresholds, fan }, lowest, highest) {
  const marks = [...thresholds.map(({ value }) => value), ...fan.map(([, low]) => low)];
  const values = [lowest, highest, ...marks].filter((value) => value !== null);
  const least = Math.min(...values);
  const most = Math.max(...values);
  const margin = (most - least) * 0.06 || Math.max(1, Math.abs(most) * 0.1);
  return [least >= 0 && least < margin ? 0 : least - margin, most + margin];
}

/** What lies under the line: incidents, stretches that were not read, and the fan of what is foretold. */
function drawUnder(self, chart, colour) {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  shadeIncidents(self, chart, colour);
  hatchUnread(self, chart, colour);
  fillFan(self, chart, colour);
  ctx.restore();
}

function hatchUnread(self, { points, now }, colour) {
  const { ctx, bbox } = self;
  const step = 8 * devicePixelRatio;
  points.forEach(([from, value], index) => {
    if (value !== null) return;
    const left = Math.max(bbox.left, self.valToPos(from / 1000, 'x', true));
    const right = Math.min(
      bbox.left + bbox.width,
      self.valToPos((points[index + 1]?.[0] ?? now) / 1000, 'x', true),
    );
    if (right <= left) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, Math.max(right - left, 2), bbox.height);
    ctx.clip();
    ctx.globalAlpha = 0.55;
    ctx.strokeStyle = colour.soft;
    ctx.lineWidth = 1.4 * devicePixelRatio;
    // From a common origin, so that the stripes of neighbours meet.
    const first = Math.floor((left - bbox.height) / step) * step;
    for (let x = first; x < right; x += step)
      line(ctx, [x, bbox.top + bbox.height, x + bbox.height, bbox.top], []);
    ctx.restore();
  });
}

function fillFan(self, { fan }, colour) {
  if (fan.length === 0) return;
  const { ctx } = self;
  const corner = (at, value) =>
    ctx.lineTo(self.valToPos(at / 1000, 'x', true), self.valToPos(value, 'y', true));
  ctx.save();
  ctx.globalAlpha = 0.16;
  ctx.fillStyle = colour.link;
  ctx.beginPath();
  for (const [at, , high] of fan) corner(at, high);
  for (const [at, low] of fan.toReversed()) corner(at, low);
  ctx.fill();
  ctx.restore();
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
