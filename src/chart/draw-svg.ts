import { formatMicros, formatMoney, type Micros } from '../domain/money.ts';
import type { Severity } from '../domain/severity.ts';
import { Html, html } from '../wording/html.ts';
import type { Chart, Stretch } from './chart.ts';
import { linear, type NameDay, timeTicks, type ValueRange } from './scale.ts';

/** The parts of a picture, painted as the page or a mail looks. */
export type Part =
  | 'shade'
  | 'not-read'
  | 'silenced'
  | 'grid'
  | 'zero'
  | 'tick'
  | 'upright'
  | 'threshold'
  | 'threshold-name'
  | 'now'
  | 'coming'
  | 'coming-name'
  | 'fan'
  | 'line'
  | 'foretold'
  | 'projection'
  | 'top-up'
  | 'top-up-name'
  | 'last'
  | 'end';

/** The look of a picture: the plot in units of the picture, and the attributes of each part. */
export interface SvgLook {
  /** Pixels for a picture of a fixed size, or shares for one that stretches, in which letters keep their size. */
  readonly unit: '' | '%';
  readonly plot: Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>;
  readonly paint: (part: Part, severity?: Severity) => string;
  /** Attributes that place the labels of amounts, times and thresholds. */
  readonly places: { readonly tick: string; readonly time: string; readonly threshold: string };
  /** The least distance between the labels of two thresholds. */
  readonly lineHeight: number;
  readonly nameDay: NameDay;
  /** Writes an English figure as the reader does. */
  readonly figure: (english: string) => string;
  readonly nameThreshold: (level: Chart['thresholds'][number]) => string;
  readonly times: number;
}

/** Incidents and silences are rails along the foot, where they cover neither the line nor the fan. */
const railShare = 0.03;
/** In a picture that stretches, paths have units of their own: a thousand in each direction. */
const grid = 1000;
const labelledTopUps = 3;

/** The inside of an SVG. Labels that would overlap are left out, the least urgent first. `timezone`: IANA. */
export function drawSvg(
  chart: Chart,
  order: { readonly look: SvgLook; readonly amounts: ValueRange; readonly timezone: string },
): Html {
  const { look, amounts, timezone } = order;
  const { since, until, now } = chart;
  const { unit, plot, places } = look;
  const across = linear(since, until, plot.left, plot.right);
  const down = linear(amounts.highest, amounts.lowest, plot.top, plot.bottom);
  const x = (at: number): string => `${round(across(at))}${unit}`;
  const y = (value: Micros): string => `${round(down(value))}${unit}`;
  const paint = (part: Part, severity?: Severity): Html => new Html(look.paint(part, severity));
  const [left, right, top, bottom] = [plot.left, plot.right, plot.top, plot.bottom].map(
    (at) => `${at}${unit}`,
  );
  const height = plot.bottom - plot.top;
  const band = ({ from, to }: Stretch, part: Part, rails?: number, severity?: Severity): Html => {
    const tall = rails === undefined ? height : height * railShare;
    const width = round(Math.max(unit === '%' ? 0.3 : 2, across(to) - across(from)));
    return html`<rect x="${x(from)}" y="${round(plot.bottom - tall * (rails ?? 1))}${unit}" width="${width}${unit}" height="${round(tall)}${unit}" ${paint(part, severity)}/>`;
  };
  const level = (value: Micros, part: Part, severity?: Severity): Html =>
    html`<line x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}" ${paint(part, severity)}/>`;
  const upright = (at: number, part: Part): Html =>
    html`<line x1="${x(at)}" x2="${x(at)}" y1="${top}" y2="${bottom}" ${paint(part)}/>`;
  const dot = ({ at, value }: { readonly at: number; readonly value: Micros }, part: Part): Html =>
    html`<circle cx="${x(at)}" cy="${y(value)}" r="3.6" ${paint(part)}/>`;
  const times = timeTicks({ since, until, timezone, count: look.times, nameDay: look.nameDay });
  const last = chart.points.findLast(({ value }) => value !== null);
  const end = chart.projection.at(-1);
  const topUps = chart.topUps.filter(({ rise }) => rise > (amounts.highest - amounts.lowest) / 100);
  const largest = topUps.toSorted((one, other) => other.rise - one.rise).slice(0, labelledTopUps);
  return html`${chart.incidents.map((incident) => band(incident, 'shade', 2, incident.severity))}
${unreadStretches(chart.points, Math.min(now, until)).map((stretch) => band(stretch, 'not-read'))}
${chart.silences.map((stretch) => band(stretch, 'silenced', 1))}
${amounts.ticks.map((tick) => html`${level(tick, tick === 0 ? 'zero' : 'grid')}<text y="${y(tick)}" ${new Html(places.tick)} ${paint('tick')}>${look.figure(shortAmount(tick))}</text>`)}
${times.map(({ at, label }) => !isAtEdge(across(at), plot) && html`${upright(at, 'upright')}<text x="${x(at)}" ${new Html(places.time)} text-anchor="middle" ${paint('tick')}>${label}</text>`)}
${chart.thresholds.map(({ severity, value }) => level(value, 'threshold', severity))}
${apart(chart.thresholds, ({ value }) => down(value), look.lineHeight).map(
  (threshold) =>
    html`<text y="${y(threshold.value)}" ${new Html(places.threshold)} ${paint('threshold-name', threshold.severity)}>${look.nameThreshold(threshold)}</text>`,
)}
${now <= until && upright(now, 'now')}
${chart.coming.map(({ at, micros }, index) => html`${upright(at, 'coming')}<text x="${x(at)}" y="${top}" dx="-4" dy="${10 + 13 * (index % 3)}" text-anchor="end" ${paint('coming-name')}>${look.figure(signed(micros))}</text>`)}
${pathsOf(chart, across, down, paint, unit === '%')}
${topUps.map((topUp) => dot(topUp, 'top-up'))}
${largest.map((topUp) => html`<text x="${x(topUp.at)}" y="${y(topUp.value)}" ${new Html(across(topUp.at) > plot.left + 0.85 * (plot.right - plot.left) ? 'dx="-7" text-anchor="end"' : 'dx="7"')} dy="-4" ${paint('top-up-name')}>${look.figure(signed(topUp.rise))}</text>`)}
${last !== undefined && last.value !== null && dot({ at: last.at, value: last.value }, 'last')}
${end !== undefined && chart.emptyAt === end.at && dot(end, 'end')}`;
}

function pathsOf(
  { fan, points, predicted, projection }: Chart,
  across: (at: number) => number,
  down: (value: Micros) => number,
  paint: (part: Part) => Html,
  stretches: boolean,
): Html {
  const scale = stretches ? grid / 100 : 1;
  const place = (at: number, value: Micros) => `${round(across(at) * scale)} ${round(down(value) * scale)}`;
  // Not escaped, because escaping cuts a text after some thousand characters.
  const path = (part: Part, line: Chart['points']): Html | false =>
    line.length > 0 && html`<path d="${new Html(pathThrough(line, place))}" ${paint(part)}/>`;
  // Along the upper edge, and back along the lower.
  const edge = [
    ...fan.map(({ at, high }) => ({ at, value: high })),
    ...fan.toReversed().map(({ at, low }) => ({ at, value: low })),
  ];
  const paths = html`${path('fan', edge)}${path('line', points)}${path('foretold', predicted)}${path('projection', projection)}`;
  if (!stretches) return paths;
  return html`<svg x="0" y="0" width="100%" height="100%" viewBox="0 0 ${grid} ${grid}" preserveAspectRatio="none">${paths}</svg>`;
}

/** An SVG path through points, broken where nothing was read; `place` returns `x y`. A single point is a line of no length: a dot. */
function pathThrough(points: Chart['points'], place: (at: number, value: Micros) => string): string {
  let path = '';
  let pen = 'M';
  for (const [index, { at, value }] of points.entries()) {
    const isAlone = pen === 'M' && (points[index + 1]?.value ?? null) === null;
    if (value !== null) path += pen + place(at, value) + (isAlone ? 'h0' : '');
    pen = value === null ? 'M' : 'L';
  }
  return path;
}

/** The stretches in which a line is broken; the last one may go up to `now`. */
export function unreadStretches(points: Chart['points'], now: number): readonly Stretch[] {
  return points.flatMap(({ at, value }, index) =>
    value === null ? [{ from: at, to: points[index + 1]?.at ?? now }] : [],
  );
}

/** The items that are far enough from all items before them; the worst is first. */
function apart<Item>(
  items: readonly Item[],
  placeOf: (item: Item) => number,
  distance: number,
): readonly Item[] {
  const taken: number[] = [];
  return items.filter((item) => {
    const place = placeOf(item);
    const isFree = taken.every((other) => Math.abs(other - place) >= distance);
    if (isFree) taken.push(place);
    return isFree;
  });
}

/** Whether a label would be cut off at the edge. */
function isAtEdge(place: number, { left, right }: SvgLook['plot']): boolean {
  const share = (place - left) / (right - left);
  return share < 0.03 || share > 0.97;
}

/** An amount with its sign, to two digits: a rise was lessened by spending between two readings, and a run differs each month. */
function signed(micros: Micros): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.abs(micros) || 1)) - 1);
  return `${micros > 0 ? '+' : ''}${shortAmount(roundTo(micros, step))}`;
}

/** Whole numbers stay short; `12k`, `3.5M`, `9bn` if digits would not fit. */
export function shortAmount(value: Micros): string {
  const units = Math.abs(value) / 1_000_000;
  if (units >= 1_000_000_000) return `${formatMicros(roundTo(value / 1_000_000_000, 10_000))}bn`;
  if (units >= 1_000_000) return `${formatMicros(roundTo(value / 1_000_000, 10_000))}M`;
  if (units >= 10_000) return `${formatMicros(roundTo(value / 1000, 100_000))}k`;
  return Number.isInteger(units) ? formatMicros(value) : formatMoney(roundTo(value, 10_000));
}

function roundTo(value: Micros, step: Micros): Micros {
  return Math.round(value / step) * step;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
