// How uPlot draws a chart of the account page: axes, series, and what lies under and over the line. `order` gives the chart as it is when it
// is drawn, so that newer numbers need no new plot.

import uPlot from './uplot.js';

const { lang, dataset } = document.documentElement;
const words = JSON.parse(dataset.words);
const hourAndMinute = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/** A plot for a chart in `box`; `range` gives what is looked at, `select` is called with what was marked. */
export function plot(order) {
  return new uPlot(describe(order), seriesOf(order.drawn()), document.createElement('div'));
}

function describe({ box, timezone, drawn, range, select }) {
  const colour = readColours();
  const money = (value) =>
    value === null || value === undefined ? '–' : `${formatMoney(value)} ${drawn().currency ?? ''}`;
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
      x: { time: true, range },
      y: { range: (_plot, lowest, highest) => rangeOf(drawn(), lowest, highest) },
    },
    axes: [
      { ...axis, space: 64, values: timeLabels(timezone) },
      {
        ...axis,
        size: (_plot, values) =>
          Math.max(64, 14 + 8 * Math.max(...(values ?? []).map(({ length }) => length))),
        values: (_plot, splits) => splits.map((value) => formatMoney(value, 0)),
      },
    ],
    series: [
      {
        label: words.time,
        value: (_plot, seconds) => (seconds === null ? '–' : wordMoment(timezone, seconds)),
      },
      {
        label: words.balance,
        stroke: colour.link,
        width: 2,
        points: { show: false, filter: alone, size: 7, fill: colour.link },
        value: (_plot, value) => money(value),
      },
      {
        label: words.projection,
        stroke: colour.link,
        width: 2,
        dash: [6, 5],
        points: { show: false },
        spanGaps: true,
        value: (_plot, value) => money(value),
      },
    ],
    hooks: {
      setSelect: [select],
      drawClear: [(self) => drawUnder(self, drawn(), colour)],
      draw: [(self) => drawMarks(self, drawn(), colour)],
    },
  };
}

/** Hours while the view is short, days and months while it is long; the day with the first hour of it. */
function timeLabels(timezone) {
  const word = (seconds, parts) => wordTime(timezone, seconds, parts);
  return (_plot, splits, _axisIndex, _space, step) =>
    splits.map((seconds) => {
      const day = word(seconds, { day: 'numeric', month: 'short' });
      if (step >= 28 * 86_400) return word(seconds, { month: 'short', year: '2-digit' });
      if (step >= 86_400) return day;
      if (step < 60) return word(seconds, { ...hourAndMinute, second: '2-digit' });
      const clock = word(seconds, hourAndMinute);
      return clock === '00:00' ? day : clock;
    });
}

/** A time in the zone of the whole page, not in that of the browser. */
function wordTime(timezone, seconds, parts) {
  return new Date(seconds * 1000).toLocaleString(lang === 'en' ? 'en-GB' : lang, {
    ...parts,
    timeZone: timezone,
  });
}

/** As the page says a moment: its sentence brings the word for day where there is one. */
function wordMoment(timezone, seconds) {
  const at = new Date(seconds * 1000);
  const [day, zone] = at
    .toLocaleString('en-GB', { timeZone: timezone, day: 'numeric', timeZoneName: 'shortOffset' })
    .split(/, | /);
  const word = (parts) => wordTime(timezone, seconds, parts);
  return fill(words.moment, {
    weekday: word({ weekday: 'short' }),
    day,
    month: word({ month: 'short' }),
    time: word(hourAndMinute),
    zone: zone.replace(/GMT(?:\+0$)?/, 'UTC'),
  });
}

function fill(sentence, given) {
  return sentence.replaceAll(/\{(\w+)\}/g, (_hole, name) => given[name]);
}

/** Readings that no line leads to or from, as the first one: each is a dot. */
function alone({ data: [, balance] }) {
  const isNone = (index) => (balance[index] ?? null) === null;
  return [...balance.keys()].filter((at) => !isNone(at) && isNone(at - 1) && isNone(at + 1));
}

/** Three rows over one list of instants: time, balance, projection. */
export function seriesOf({ points, projection }) {
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

function rangeOf({ thresholds, fan, foretold }, lowest, highest) {
  const marks = [
    ...thresholds.map(({ value }) => value),
    ...fan.map(([, low]) => low),
    ...foretold.map(([, value]) => value),
  ];
  const values = [lowest, highest, ...marks].filter((value) => value !== null);
  const least = Math.min(...values);
  const most = Math.max(...values);
  const margin = (most - least) * 0.06 || Math.max(1, Math.abs(most) * 0.1);
  return [least >= 0 && least < margin ? 0 : least - margin, most + margin];
}

/** What lies under the line: incidents, silences, stretches that were not read, the fan of what is foretold, and what once was. */
function drawUnder(self, chart, colour) {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  hatchUnread(self, chart, colour);
  fillFan(self, chart, colour);
  drawForetold(self, chart, colour);
  drawRails(self, chart, colour);
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

/** Rails along the foot, where they hide neither the line nor the fan: incidents above silences. */
function drawRails(self, { incidents, silences }, colour) {
  const { ctx, bbox } = self;
  const height = 6 * devicePixelRatio;
  const foot = bbox.top + bbox.height;
  ctx.save();
  for (const { from, to, severity } of incidents) {
    ctx.fillStyle = colour[severity];
    fillBand(self, [from, to], [foot - 2 * height, height - devicePixelRatio]);
  }
  ctx.fillStyle = colour.pending;
  for (const { from, to } of silences) fillBand(self, [from, to], [foot - height, height]);
  ctx.restore();
}

function fillBand({ ctx, bbox, valToPos }, [from, to], [top, height]) {
  const left = Math.max(bbox.left, valToPos(from / 1000, 'x', true));
  const right = Math.min(bbox.left + bbox.width, valToPos(to / 1000, 'x', true));
  if (right > left) ctx.fillRect(left, top, Math.max(right - left, 2), height);
}

function drawForetold(self, { foretold }, colour) {
  if (foretold.length === 0) return;
  const { ctx } = self;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour.soft;
  ctx.lineWidth = 1.6 * scale;
  ctx.setLineDash([2 * scale, 4 * scale]);
  ctx.beginPath();
  for (const [at, value] of foretold)
    ctx.lineTo(self.valToPos(at / 1000, 'x', true), self.valToPos(value, 'y', true));
  ctx.stroke();
  ctx.restore();
}

function drawMarks(self, { thresholds, topUps, coming, now }, colour) {
  const { ctx, bbox } = self;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.font = `600 ${12 * scale}px system-ui`;
  ctx.textAlign = 'right';
  ctx.lineWidth = 1.4 * scale;
  const names = [];
  coming.forEach(([at, amount], index) => {
    const when = self.valToPos(at / 1000, 'x', true);
    // One below the other: two may come on one day.
    const y = bbox.top + (14 + 14 * (index % 3)) * scale;
    ctx.fillStyle = ctx.strokeStyle = colour.soft;
    line(ctx, [when, bbox.top, when, bbox.top + bbox.height], [2 * scale, 3 * scale]);
    ctx.fillText(`${amount > 0 ? '+' : ''}${formatMoney(amount)}`, when - 4 * scale, y);
    names.push(y);
  });
  for (const { severity, value } of thresholds) {
    const y = self.valToPos(value, 'y', true);
    ctx.strokeStyle = ctx.fillStyle = colour[severity];
    line(ctx, [bbox.left, y, bbox.left + bbox.width, y], [7 * scale, 4 * scale]);
    // Above the line; below it, or further away, where the chart ends or another name stands.
    const free = [-5, 14, -20, 29, -35, 44]
      .map((offset) => y + offset * scale)
      .find((at) => at - 12 * scale > bbox.top && names.every((other) => Math.abs(other - at) >= 14 * scale));
    const foot = free ?? y - 5 * scale;
    names.push(foot);
    const place = [
      fill(words[severity], { amount: formatMoney(value, 0) }),
      bbox.left + bbox.width - 4 * scale,
      foot,
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
  const names = ['soft', 'line', 'link', 'surface', 'critical', 'warning', 'info', 'good', 'pending'];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

export function sizeOf(box) {
  const width = Math.max(200, Math.floor(box.clientWidth));
  return { width, height: width < 600 ? 240 : 280 };
}

function formatMoney(value, minimumFractionDigits = 2) {
  return value.toLocaleString(lang, {
    minimumFractionDigits,
    maximumFractionDigits: 6,
    // Groups four digits too, as everywhere on the page.
    useGrouping: 'always',
  });
}
