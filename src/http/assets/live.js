// Keeps an open page fresh: the server says that something changed, the page asks again for itself and takes over the parts
// marked with data-live. Without this script the page is as complete, and is reloaded by hand.

const retryMs = 10_000;
const tickMs = 15_000;
/** The server shows every four seconds that it is alive. One that says nothing for longer hangs, or is gone. */
const silentMs = 10_000;
const watchMs = 1_000;
/** Many changes in a row are fetched together. */
const leastPauseMs = 5_000;
const connection = document.getElementById('connection');
const banner = document.getElementById('lost');
const favicon = document.querySelector('link[rel="icon"]');
/** The server's clock minus ours: ages are told by the server's. */
let offset = Number(document.documentElement.dataset.now) - Date.now();
let loading = false;
let again = false;
let title = document.title;
let icon = favicon.getAttribute('href');
let heardAt = performance.now();
let refreshedAt = Number.NEGATIVE_INFINITY;
let waiting = false;
let lost = false;

listen();
setInterval(tellAges, tickMs);
setInterval(watch, watchMs);

function listen() {
  const source = new EventSource('/events');
  source.addEventListener('open', () => {
    hear();
    refresh();
  });
  source.addEventListener('alive', hear);
  source.addEventListener('changed', () => {
    hear();
    refreshSoon();
  });
  source.addEventListener('error', () => {
    if (source.readyState !== EventSource.CLOSED) {
      lose();
      return;
    }
    // The server refused: it restarts, has too many pages open, or the session is over. Asking for the page tells which.
    source.close();
    refresh();
    setTimeout(listen, retryMs);
  });
}

function watch() {
  if (performance.now() - heardAt > silentMs) lose();
}

function hear() {
  heardAt = performance.now();
  if (lost) refresh();
  lost = false;
  show();
}

function lose() {
  lost = true;
  show();
}

/** On top, in the title and on the tab: what the page shows is only as good as its connection. */
function show() {
  const words = lost
    ? `No connection to lowwater: this page is as of ${asOf()}, and may be wrong by now.`
    : '';
  if (banner.textContent !== words) banner.textContent = words;
  banner.hidden = !lost;
  connection.textContent = lost ? 'Not connected.' : 'Updates by itself.';
  connection.className = lost ? 'lost' : '';
  const wanted = lost ? `Not connected · ${title}` : title;
  if (document.title !== wanted) document.title = wanted;
  const image = lost ? banner.dataset.icon : icon;
  if (favicon.getAttribute('href') !== image) favicon.setAttribute('href', image);
}

function asOf() {
  return document.querySelector('[data-live="as-of"]')?.textContent ?? 'before';
}

/** The first of many changes at once, the others together. */
function refreshSoon() {
  if (waiting) return;
  waiting = true;
  setTimeout(
    () => {
      waiting = false;
      refresh();
    },
    Math.max(0, refreshedAt + leastPauseMs - performance.now()),
  );
}

async function refresh() {
  if (document.hidden || loading) {
    again = true;
    return;
  }
  loading = true;
  again = false;
  refreshedAt = performance.now();
  try {
    const signal = AbortSignal.timeout(silentMs);
    const response = await fetch(pageAddress(), {
      headers: { accept: 'text/html' },
      cache: 'no-store',
      signal,
    });
    if (new URL(response.url).pathname === '/sign-in') location.reload();
    if (response.ok) takeOver(new DOMParser().parseFromString(await response.text(), 'text/html'));
  } catch {
    // The next event or the next connection tries again.
  } finally {
    loading = false;
    if (again && !document.hidden) setTimeout(refresh, 1000);
  }
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && again) refresh();
});

/** The address without what a form has just done, which is told once. */
function pageAddress() {
  const url = new URL(location.href);
  url.searchParams.delete('done');
  url.hash = '';
  return url;
}

function takeOver(fresh) {
  offset = Number(fresh.documentElement.dataset.now) - Date.now();
  title = fresh.title;
  icon = fresh.querySelector('link[rel="icon"]').getAttribute('href');
  for (const part of document.querySelectorAll('[data-live]')) {
    const next = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
    // Ticked boxes belong to a form that may stand elsewhere.
    if (next !== null && next.innerHTML !== part.innerHTML && !isInUse(part)) replace(part, next);
  }
  lost = false;
  heardAt = performance.now();
  show();
  document.dispatchEvent(new Event('lowwater:fresh'));
}

/** Somebody fills in a form or reads something unfolded: it is not taken away. */
function isInUse(part) {
  return (
    part.querySelector('details[open], input[type=checkbox]:checked') !== null ||
    part.querySelector('input:focus, select:focus, button:focus, summary:focus') !== null
  );
}

/** Replaces a part and leaves the focus where it was. */
function replace(part, next) {
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  const tables = [...part.querySelectorAll('.scroll')].map((table) => table.scrollLeft);
  const hadTableFocus =
    part.contains(document.activeElement) && document.activeElement.classList.contains('scroll');
  part.replaceChildren(...document.adoptNode(next).childNodes);
  [...part.querySelectorAll('.scroll')].forEach((table, index) => {
    table.scrollLeft = tables[index] ?? 0;
  });
  if (focused !== null)
    part.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  else if (hadTableFocus) part.querySelector('.scroll')?.focus({ preventScroll: true });
}

function tellAges() {
  const now = Date.now() + offset;
  for (const time of document.querySelectorAll('time[data-age]')) {
    time.textContent = describeDistance(Date.parse(time.dateTime), now);
  }
}

/** The same words as the server's. */
function describeDistance(at, now) {
  const distance = now - at;
  if (Math.abs(distance) < 1000) return 'just now';
  return distance > 0 ? `${roughDuration(distance)} ago` : `in ${roughDuration(-distance)}`;
}

function roughDuration(ms) {
  const minute = 60_000;
  const hour = 60 * minute;
  const day = 24 * hour;
  if (ms < 2 * minute) return twoUnits(Math.round(ms / 1000) * 1000);
  if (ms < 2 * hour) return plural(Math.round(ms / minute), 'minute');
  if (ms < 10 * hour) return twoUnits(Math.round(ms / minute) * minute);
  if (ms < 2 * day) return plural(Math.round(ms / hour), 'hour');
  if (ms < 10 * day) return twoUnits(Math.round(ms / hour) * hour);
  return plural(Math.round(ms / day), 'day');
}

function twoUnits(ms) {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1000],
  ];
  const first = units.findIndex(([, size]) => ms >= size);
  let rest = ms;
  const words = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(plural(count, name));
  }
  return words.join(' ');
}

function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
