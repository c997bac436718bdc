// Keeps an open page fresh: the server sends the parts of it (marked with data-live) that are no longer as they were. Without this
// script the page is as complete, and is reloaded by hand.

const retryMs = 3_000;
const tickMs = 15_000;
/** The server shows every four seconds that it is alive. One that says nothing for longer hangs, or is gone. */
const silentMs = 10_000;
const watchMs = 1_000;
const connection = document.getElementById('connection');
const banner = document.getElementById('lost');
const favicon = document.querySelector('link[rel="icon"]');
/** Parts that came while somebody used what they replace, by key. */
const waiting = new Map();
/** The server's clock minus ours: ages are told by the server's. */
let offset = Number(document.documentElement.dataset.now) - Date.now();
let title = document.title;
let icon = favicon.getAttribute('href');
let heardAt = performance.now();
let lost = false;

offerOwnZone();
listen();
setInterval(tellAges, tickMs);
setInterval(watch, watchMs);

/** What only the browser knows: where its reader is. */
function offerOwnZone() {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const button = document.getElementById('own-zone');
  if (button === null || button.dataset.shown === own) return;
  button.value = own;
  button.textContent = `Show ${own}, as here`;
  button.hidden = false;
}

function listen() {
  const have = [...document.querySelectorAll('[data-is]')].map((part) => part.dataset.is).join('.');
  const page = pageAddress();
  const source = new EventSource(
    `/events?${new URLSearchParams({ page: page.pathname + page.search, have })}`,
  );
  source.addEventListener('open', hear);
  source.addEventListener('alive', hear);
  source.addEventListener('changed', (event) => {
    for (const [key, markup] of Object.entries(JSON.parse(event.data))) waiting.set(key, markup);
    takeOver();
    hear();
  });
  source.addEventListener('error', () => {
    // Not left to the browser: it would ask for what was news when the page was opened.
    source.close();
    void askOnce().finally(() => setTimeout(listen, retryMs));
  });
}

function watch() {
  if (waiting.size > 0) takeOver();
  if (performance.now() - heardAt > silentMs) lose();
}

/** Why there is no stream: the daemon is gone, has too many pages open, the session is over, or there is no such page any more. */
async function askOnce() {
  try {
    const signal = AbortSignal.timeout(silentMs);
    const response = await fetch(pageAddress(), {
      headers: { accept: 'text/html' },
      cache: 'no-store',
      signal,
    });
    if (response.redirected || response.status === 404) location.reload();
    if (!response.ok) return lose();
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of fresh.querySelectorAll('[data-live]')) {
      if (part.dataset.is !== find(part.dataset.live)?.dataset.is)
        waiting.set(part.dataset.live, part.outerHTML);
    }
    takeOver();
    hear();
  } catch {
    lose();
  }
}

function hear() {
  heardAt = performance.now();
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

/** The address without what a form has just done, which is told once. */
function pageAddress() {
  const url = new URL(location.href);
  url.searchParams.delete('done');
  url.hash = '';
  return url;
}

/** Takes over what came and is not in use; the rest waits until it is left alone. */
function takeOver() {
  const taken = [];
  for (const [key, markup] of waiting) {
    const part = find(key);
    if (part === null || isInUse(part)) continue;
    waiting.delete(key);
    replace(part, markup);
    taken.push(key);
  }
  if (taken.includes('title')) {
    title = find('title').textContent;
    icon = find('title').dataset.icon;
  }
  if (taken.includes('as-of')) offset = Date.parse(find('as-of').firstElementChild.dateTime) - Date.now();
  if (taken.some((key) => key !== 'as-of')) document.dispatchEvent(new Event('lowwater:fresh'));
}

function find(key) {
  return document.querySelector(`[data-live="${CSS.escape(key)}"]`);
}

/** Somebody fills in a form or reads something unfolded: it is not taken away. */
function isInUse(part) {
  return (
    part.querySelector('details[open], input[type=checkbox]:checked') !== null ||
    part.querySelector('input:focus, select:focus, button:focus, summary:focus') !== null
  );
}

/** Replaces a part, keeps the parts within it that stay, and leaves the focus where it was. */
function replace(part, markup) {
  const focused = part.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  const tables = [...part.querySelectorAll('.scroll')].map((table) => table.scrollLeft);
  const hadTableFocus =
    part.contains(document.activeElement) && document.activeElement.classList.contains('scroll');
  const kept = new Map([...part.querySelectorAll('[data-live]')].map((inner) => [inner.dataset.live, inner]));
  const template = document.createElement('template');
  template.innerHTML = markup;
  const next = template.content.firstElementChild;
  for (const place of next.querySelectorAll('[data-live]:empty')) {
    const inner = kept.get(place.dataset.live);
    if (inner !== undefined) place.replaceWith(inner);
  }
  part.replaceWith(next);
  [...next.querySelectorAll('.scroll')].forEach((table, index) => {
    table.scrollLeft = tables[index] ?? 0;
  });
  if (focused !== null)
    next.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  else if (hadTableFocus) next.querySelector('.scroll')?.focus({ preventScroll: true });
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
