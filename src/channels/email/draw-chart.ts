import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Chart, roomyAmounts } from '../../chart/chart.ts';
import { drawSvg, type Part, type SvgLook, shortAmount } from '../../chart/draw-svg.ts';
import { type NameDay, roundedRange, type ValueRange, valueTicks } from '../../chart/scale.ts';
import { cutText } from '../../domain/plain-text.ts';
import type { Forecast } from '../../domain/quantity.ts';
import type { Severity } from '../../domain/severity.ts';
import { dayMs } from '../../domain/time.ts';
import { type Html, html } from '../../wording/html.ts';
import { english } from '../../wording/language.ts';
import { sayDay, sayShortMoment } from '../../wording/moments.ts';

/** Next to `src` and `dist` alike, so that it is found in the repository, the package and the image. */
const fontFile = fileURLToPath(new URL('../../../assets/fonts/DejaVuSans-lowwater.ttf', import.meta.url));

/** Sharp on a phone, and at the 560 pixels of a wide window; more would cost memory and nobody sees it. */
const zoom = 2.2;

/**
 * A chart as PNG with the font that lowwater ships: a container has none. Null when drawing fails: a message
 * is never held up by its picture. The renderer is a native module and is loaded with the first chart only;
 * it draws outside the event loop.
 */
export async function drawChart(chart: MailChart): Promise<Buffer | null> {
  try {
    const png = await drawPng(renderChartSvg(chart));
    releaseDrawings();
    return png;
  } catch {
    return null;
  }
}

/** A function of its own: when it returns, nothing refers to the drawing behind the PNG any more. */
async function drawPng(svg: string): Promise<Buffer> {
  const { renderAsync } = await import('@resvg/resvg-js');
  const drawing = await renderAsync(svg, {
    font: { loadSystemFonts: false, fontFiles: [fontFile], defaultFontFamily: 'DejaVu Sans' },
    fitTo: { mode: 'zoom', value: zoom },
    logLevel: 'off',
  });
  return drawing.asPng();
}

/**
 * Frees drawings that nobody refers to any more. The renderer keeps the pixels of each (about 1.5 MB) outside
 * V8's heap without telling V8 of them, so that their garbage presses on no limit: a daemon that allocates
 * little would keep hundreds before it collected one. A minor collection takes a few milliseconds at most and
 * finds them all, because they are young. V8 offers it to programs only by this flag.
 */
function releaseDrawings(): void {
  setFlagsFromString('--expose-gc');
  collect ??= runInNewContext('typeof gc === "function" ? gc : () => undefined');
  collect?.({ type: 'minor' });
}

let collect: NodeJS.GCFunction | null = null;

export interface MailChart {
  /** `SMS balance in CNY`; free of control characters. */
  readonly title: string;
  /** Whether words stand in the picture. */
  readonly isWorded: boolean;
  readonly timezone: string;
  /** The forecast with its interval; null if it is unknown how far off it may be. */
  readonly forecast: Forecast | null;
  readonly chart: Chart;
}

/** Size in CSS pixels. Small, so that its text is still readable when a phone shows it 330 pixels wide. */
const chartSize = { width: 360, height: 208 } as const;

const maxTicks = 4;

/** An end further away is no news, and its date would need a year. */
const farthestEndMs = 300 * dayMs;

/** Mails are read on white and on dark. The picture has no background, and each colour has a contrast of at least 3 to 1 with both. */
const tones: Readonly<Record<Severity, string>> = {
  critical: '#e0483d',
  warning: '#c4731a',
  info: '#3f85d6',
};
const [ink, soft, blue, green] = ['#7a838d', '#7a838d', '#3f85d6', '#2f9450'];

const paints: Readonly<Record<Part, string>> = {
  shade: 'fill="currentColor"',
  'not-read': 'fill="none"',
  silenced: 'fill="#8c959f"',
  grid: 'stroke="#8c959f" stroke-opacity="0.3"',
  zero: 'stroke="#6e7781"',
  tick: `fill="${soft}"`,
  upright: 'stroke="none"',
  threshold: 'stroke="currentColor" stroke-dasharray="5 3"',
  'threshold-name': `fill="currentColor"`,
  now: 'stroke="#afb8c1" stroke-dasharray="1 2"',
  coming: `stroke="${soft}" stroke-dasharray="2 3"`,
  'coming-name': `fill="${soft}"`,
  fan: `fill="${blue}" fill-opacity="0.28"`,
  line: `fill="none" stroke="${blue}" stroke-width="2.2" stroke-linejoin="round" stroke-linecap="round"`,
  foretold: 'fill="none" stroke="#afb8c1"',
  projection: `fill="none" stroke="${blue}" stroke-width="1.8" stroke-dasharray="3 4"`,
  'top-up': `fill="${green}"`,
  'top-up-name': `fill="${green}"`,
  last: `fill="${blue}"`,
  end: 'fill="none" stroke="#e0483d" stroke-width="2"',
};

const look: Omit<SvgLook, 'nameDay'> = {
  unit: '',
  plot: { left: 44, right: 318, top: 32, bottom: 182 },
  paint: (part, severity = 'info') => paints[part].replaceAll('currentColor', tones[severity]),
  places: { tick: 'x="39" dy="4" text-anchor="end"', time: 'y="182" dy="16"', threshold: 'x="322" dy="4"' },
  lineHeight: 12,
  nameThreshold: ({ value }) => shortAmount(value),
  figure: (english) => english,
  times: 4,
};

/** A chart as SVG, with its title, and when the balance ends. */
export function renderChartSvg(mail: MailChart): string {
  const { width, height } = chartSize;
  const head = html`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="DejaVu Sans" font-size="11">
<text x="10" y="18" font-size="12" fill="${ink}">${cutText(mail.title, 24)}</text>${endLabel(mail)}`;
  const nameDay: NameDay = (month, day) =>
    mail.isWorded ? sayDay(month, day, { language: english }) : [month + 1, day ?? []].flat().join('-');
  const amounts = amountsOf(mail.chart);
  const picture = drawSvg(mail.chart, { look: { ...look, nameDay }, amounts, timezone: mail.timezone });
  return html`${head}${picture}</svg>`.markup;
}

/** The amounts of the axis: from zero, or below it if the balance is negative, to a round amount. */
function amountsOf(chart: Chart): ValueRange {
  const amounts = roomyAmounts(chart);
  const lowest = Math.min(0, amounts.lowest);
  const { highest } = roundedRange(lowest, amounts.highest, maxTicks);
  return { lowest, highest, ticks: valueTicks(lowest, highest, maxTicks) };
}

/** `21 Nov 14:00–19:00`, or `21 Nov – 24 Nov` if it may be on several days: there is no room for more, and the mail says it in full. */
function wordShortEnd(emptyAt: number, { forecast, timezone, chart: { now } }: MailChart): string {
  const reader = { language: english, timezone };
  const { earliest = null, latest = null } = forecast ?? {};
  if (earliest === null) return `about ${sayShortMoment(emptyAt, reader)}`;
  const [from, to] = [Math.max(earliest, now), latest].map((at) =>
    at === null || at > now + farthestEndMs ? null : sayShortMoment(at, reader),
  );
  if (from == null) return `about ${sayShortMoment(emptyAt, reader)}`;
  if (to == null) return `${from} or later`;
  const [fromDay, toDay] = [from, to].map((moment) => moment.slice(0, -' 00:00'.length));
  return fromDay === toDay ? `${from}–${to.slice(-'00:00'.length)}` : `${fromDay} – ${toDay}`;
}

function endLabel(mail: MailChart): Html | null {
  const { emptyAt, now } = mail.chart;
  if (!mail.isWorded || emptyAt === null || emptyAt <= now || emptyAt > now + farthestEndMs) return null;
  return html`<text x="${chartSize.width - 10}" y="18" text-anchor="end" fill="${tones.critical}">empty ${wordShortEnd(emptyAt, mail)}</text>`;
}
