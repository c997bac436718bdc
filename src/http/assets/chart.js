// Draws the charts of the account page with uPlot over the pictures that the server drew, once they come into view: the same facts, with a
// cursor and a zoom. What is looked at closely is fetched again with more points; two charts are zoomed together.

const words = JSON.parse(document.documentElement.dataset.words);
/** Each change of them has other colours: paper those of the light. */
const looks = ['(prefers-color-scheme: dark)', 'print'].map((look) => matchMedia(look));
const redrawMs = 5000;
/** Finer points are fetched once the zoom has come to rest. */
const restMs = 300;
/** The shortest time that is worth a whole chart, in seconds. */
const leastView = 60;
const csv = document.querySelector('[data-csv]');
const wholeCsv = csv?.getAttribute('href');
const wholeQuery = location.search;
/** What is looked at, as seconds since 1970; null is everything. */
let view = null;
let drawnAt = 0;
let resting = 0;
let redrawing = 0;
/** What draws: loaded for the first chart that comes into view. */
let drawing = null;

const charts = [...document.querySelectorAll('[data-chart]')].map((figure) => ({
  figure,
  box: figure.querySelector('.chart-box'),
  isInView: false,
  plot: null,
  /** As the server gave it, and the stretch of it that was fetched again with more points. */
  whole: null,
  fine: null,
}));

if (charts.length > 0) {
  const views = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes)
      charts.find(({ figure }) => figure === target).isInView = isIntersecting;
    if (charts.some(({ isInView, plot }) => isInView && (plot === null || isOld()))) drawAll();
  });
  for (const { figure } of charts) views.observe(figure);
  for (const look of looks) look.addEventListener('change', drawAnew);
  document.addEventListener('lowwater:fresh', () => {
    clearTimeout(redrawing);
    redrawing = setTimeout(drawAll, drawnAt + redrawMs - performance.now());
  });
  for (const chart of charts)
    new ResizeObserver(() => chart.plot?.setSize(drawing.sizeOf(chart.box))).observe(chart.figure);
}

function drawAnew() {
  for (const chart of charts) {
    chart.plot?.destroy();
    chart.plot = null;
    if (chart.whole !== null) show(chart);
  }
}

/** A chart of hours gains nothing from being drawn every second. */
function isOld() {
  return performance.now() - drawnAt > redrawMs;
}

async function drawAll() {
  const wanted = charts.filter(({ isInView }) => isInView);
  if (wanted.length === 0) return;
  drawnAt = performance.now();
  drawing ??= await import('./chart-drawing.js');
  await Promise.all(wanted.map(draw));
  if (view !== null) await refine();
}

async function draw(chart) {
  const fresh = await ask(chart, chart.figure.dataset.time);
  if (fresh === null || fresh.points.length === 0) return;
  chart.whole = fresh;
  show(chart);
}

async function ask({ figure }, time) {
  const response = await fetch(`${figure.dataset.chart}&${time}`, { cache: 'no-store' });
  return response.ok ? response.json() : null;
}

/** The same picture with newer numbers: cursor and zoom stay where they are. */
function show(chart) {
  if (chart.plot === null) drawFirst(chart);
  else chart.plot.setData(drawing.seriesOf(drawn(chart)), true);
}

function drawFirst(chart) {
  const { box, figure } = chart;
  const { timezone } = figure.dataset;
  const order = {
    box,
    timezone,
    drawn: () => drawn(chart),
    range: () => view ?? wholeView(),
    select: lookAt,
  };
  chart.plot = drawing.plot(order);
  box.classList.add('drawn');
  chart.plot.root.setAttribute('role', 'img');
  chart.plot.root.setAttribute('aria-label', figure.dataset.label);
  box.replaceChildren(chart.plot.root, ...(chart === charts[0] ? [zoomButtons()] : []));
  listenForZoom(chart.plot);
}

/** The chart, with finer points where there are any. */
function drawn({ whole, fine }) {
  if (fine === null) return whole;
  const before = whole.points.filter(([at]) => at < fine.since);
  const after = whole.points.filter(([at]) => at > fine.until);
  return { ...whole, points: [...before, ...fine.points, ...after] };
}

function wholeView() {
  const known = charts.flatMap(({ whole }) => whole ?? []);
  return [
    Math.min(...known.map(({ since }) => since)) / 1000,
    Math.max(...known.map(({ until }) => until)) / 1000,
  ];
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
  for (const chart of charts) {
    if (view !== null) chart.plot?.setScale('x', { min, max });
    else if (chart.plot !== null) {
      chart.fine = null;
      show(chart);
    }
  }
  offerCsv();
  keepInAddress();
  clearTimeout(resting);
  resting = setTimeout(refine, restMs);
}

/** The download is of what is shown. */
function offerCsv() {
  if (csv === null) return;
  const [from, to] = (view ?? []).map((seconds) => new Date(seconds * 1000).toISOString());
  csv.setAttribute('href', view === null ? wholeCsv : `${wholeCsv.split('?')[0]}?since=${from}&until=${to}`);
}

/** Whoever is sent the address sees the same. */
function keepInAddress() {
  const url = new URL(location.href);
  url.search = wholeQuery;
  if (view !== null) {
    const [since, until] = view.map((seconds) => new Date(seconds * 1000).toISOString());
    url.searchParams.delete('range');
    url.searchParams.set('since', since);
    url.searchParams.set('until', until);
  }
  history.replaceState(null, '', url);
}

/** Fetches what is looked at with as many points as the whole has. */
async function refine() {
  const asked = view;
  if (asked === null) return;
  const [since, until] = [Math.floor(asked[0] * 1000), Math.ceil(asked[1] * 1000)];
  await Promise.all(
    charts.map(async (chart) => {
      if (chart.whole === null || since >= chart.whole.now) return;
      const fine = await ask(chart, `since=${since}&until=${until}`);
      // Somebody went on meanwhile, and what is looked at now is under way.
      if (fine === null || view !== asked) return;
      chart.fine = { since, until: Math.min(until, fine.now), points: fine.points };
      show(chart);
    }),
  );
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
  bar.setAttribute('aria-label', words.zoom);
  for (const [word, act] of [
    [words.zoomIn, keys['+']],
    [words.zoomOut, keys['-']],
    [words.earlier, keys.ArrowLeft],
    [words.later, keys.ArrowRight],
    [words.whole, keys[0]],
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
function listenForZoom(plot) {
  const { over } = plot;
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
function lookAt(self) {
  const { left, width } = self.select;
  if (width < 8) return;
  look([self.posToVal(left, 'x'), self.posToVal(left + width, 'x')]);
  self.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
}
