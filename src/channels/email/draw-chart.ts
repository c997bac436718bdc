import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type MailChart, renderChartSvg } from './chart-svg.ts';

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
  collect ??= findCollector();
  collect({ type: 'minor' });
}

type Collector = (options: { readonly type: 'minor' }) => void;

let collect: Collector | null = null;

function findCollector(): Collector {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('typeof gc === "function" ? gc : null');
  return isCollector(found) ? found : () => undefined;
}

function isCollector(value: unknown): value is Collector {
  return typeof value === 'function';
}
