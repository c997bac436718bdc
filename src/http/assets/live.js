// Keeps an open page fresh: the server sends the parts of it (marked with data-live) that are no longer as they were. Without this
// script the page is as complete, and is reloaded by hand.

const retryMs = 3_000;
const tickMs = 15_000;
/** The server shows every four seconds that it is alive. One that says nothing for longer hangs, or is gone. */
const silentMs = 10_000;
/** A stream that is as silent as this may be held up on its way, where an answer is not. */
const quietMs = 6_000;
const watchMs = 1_000;
/** A session goes on while it is used, and a page that stays open is in use. */
const signOfLifeMs = 3_600_000;
const { lang, dataset } = document.documentElement;
const words = JSON.parse(dataset.words);
const plurals = new Intl.PluralRules(lang);
const connection = document.getElementById('connection');
const banner = document.getElementById('lost');
const favicon = document.querySelector('link[rel="icon"]');
/** The content is as of when it was asked for: title and notices alone are kept fresh. */
const isStill = find('as-of').dataset.is === undefined;
/** Unfolded by somebody to read or to fill in; a list or table that folds is no more than that. */
const read = 'details[open]:not(.fold, .table-of-chart)';
/** Parts that came, by key. */
const waiting = new Map();
/** Forms and boxes that somebody is at, with what takes their place once they are left. */
const putOffs = new Map();
/** The server's clock minus ours: ages are counted by the server's. */
let offset = Number(dataset.now) - Date.now();
let title = document.title;
let icon = favicon.getAttribute('href');
/** The page was whole when it was sent; this script may come much later. Not every browser says when that was. */
let heardAt = performance.getEntriesByType('navigation')[0]?.responseStart ?? 0;
let lost = false;
let asking = null;
let askedAt = 0;
/** Its reader chose another time zone since, or lowwater is another: what is no part, as the axis of a chart or a script, is still of the one before. */
let isOld = false;
/** How often the stream brought something: what was asked for before is older than that. */
let brought = 0;

offerOwnZone();
listen();
setInterval(tellAges, tickMs);
setInterval(watch, watchMs);
setInterval(() => fetch(pageAddress(), { method: 'HEAD' }).catch(() => {}), signOfLifeMs);

/** Only the browser knows where its reader is. */
function offerOwnZone() {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const button = document.getElementById('own-zone');
  if (button === null || button.dataset.shown === own) return;
  button.value = own;
  button.textContent = fill(words.ownZone, { zone: own });
  button.hidden = false;
}

/** All tabs of a browser share one stream. Where they cannot, only the tab in front has one. */
function listen() {
  if (typeof SharedWorker === 'undefined') return listenAlone();
  const worker = new SharedWorker(`/assets/stream.js${new URL(import.meta.url).search}`);
  worker.addEventListener('error', listenAlone);
  const { port } = worker;
  const speak = (byItself) => port.postMessage({ ...whatIsOpen(), byItself });
  port.onmessage = async ({ data: { kind, data } }) => {
    const { have } = whatIsOpen();
    await hearOf[kind](data);
    // The stream is told what the page has now, before it is opened again.
    if (have !== whatIsOpen().have) speak(kind !== 'changed');
  };
  addEventListener('pagehide', () => port.postMessage({}));
  addEventListener('pageshow', () => speak(false));
  setInterval(speak, tickMs, false);
  speak(false);
}

function listenAlone() {
  if (document.hidden) return document.addEventListener('visibilitychange', listenAlone, { once: true });
  const source = new EventSource(`/events?${new URLSearchParams(whatIsOpen())}`);
  const end = (again) => {
    source.close();
    document.removeEventListener('visibilitychange', turned);
    void hearOf.error().finally(() => setTimeout(listenAlone, again));
  };
  const turned = () => document.hidden && end(0);
  document.addEventListener('visibilitychange', turned);
  source.addEventListener('changed', ({ data }) => hearOf.changed(data));
  for (const kind of ['open', 'alive'])
    source.addEventListener(kind, () => (isAway() ? end(retryMs) : hear()));
  source.addEventListener('error', () => end(retryMs));
}

const hearOf = {
  // The daemon lives: what a page that was away shows is of before.
  alive: () => (isAway() ? askOnce() : hear()),
  error: () => askOnce(),
  changed(parts) {
    brought += 1;
    for (const [key, markup] of Object.entries(JSON.parse(parts))) waiting.set(key, markup);
    takeOver();
    hear();
  },
};

function whatIsOpen() {
  const have = [...document.querySelectorAll('[data-is]')].map((part) => part.dataset.is).join('.');
  const { pathname, search } = pageAddress();
  return { page: `${pathname}${search}#${lang}`, have };
}

function watch() {
  settle();
  if (isAway()) lose();
  if (performance.now() - Math.max(heardAt, askedAt) > quietMs) askOnce();
}

/** It may have missed something: its connection was lost, its machine slept, or its browser froze it. */
function isAway() {
  return lost || performance.now() - heardAt > silentMs;
}

/** Once at a time: a tab that was frozen hears at once all that was said meanwhile. */
function askOnce() {
  askedAt = performance.now();
  asking ??= ask().finally(() => {
    asking = null;
  });
  return asking;
}

/** Why there is no stream: the daemon is gone, has too many pages open, the session is over, or there is no such page any more. */
async function ask() {
  const broughtBefore = brought;
  try {
    const signal = AbortSignal.timeout(silentMs);
    const response = await fetch(pageAddress(), {
      headers: { accept: 'text/html', 'lowwater-language': lang },
      cache: 'no-store',
      signal,
    });
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    // What stands in front of lowwater may answer with a page of its own.
    const isOurs = fresh.querySelector('[data-live="as-of"]') !== null;
    if (response.redirected || (isOurs && response.status === 404)) location.replace(pageAddress());
    if (!isOurs || !response.ok) return lose();
    if (brought !== broughtBefore) return;
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
  const moment = find('as-of').textContent;
  const warning = lost ? fill(words.lostBanner, { moment }) : '';
  if (banner.textContent !== warning) banner.textContent = warning;
  banner.hidden = !lost;
  // Read out where it is written, though it says the same.
  const state = lost ? words.lost : isStill ? '' : words.fresh;
  if (connection.textContent !== state) connection.textContent = state;
  connection.className = lost ? 'lost' : '';
  const wanted = lost ? fill(words.lostTitle, { title }) : title;
  if (document.title !== wanted) document.title = wanted;
  const image = lost ? banner.dataset.icon : icon;
  if (favicon.getAttribute('href') !== image) favicon.setAttribute('href', image);
}

function fill(sentence, given) {
  return sentence.replaceAll(/\{(\w+)\}/g, (_hole, name) => given[name]);
}

/** The address without what a form has just done, which is shown once. */
function pageAddress() {
  const url = new URL(location.href);
  url.searchParams.delete('done');
  url.hash = '';
  return url;
}

/** Takes over what came. Somebody who fills in a form, chooses, or reads something unfolded keeps that; all else is as it is now. */
function takeOver() {
  const taken = [...waiting];
  waiting.clear();
  for (const [key, markup] of taken) {
    const part = find(key);
    const template = document.createElement('template');
    template.innerHTML = markup;
    if (part !== null) keepFocus(() => morphPart(part, template.content.firstElementChild));
  }
  const keys = taken.map(([key]) => key);
  if (keys.includes('title')) {
    title = find('title').textContent;
    icon = find('title').dataset.icon;
  }
  if (keys.includes('zone')) isOld = true;
  // Not at once: daemons behind one address may be of two versions for a while.
  if (keys.includes('version')) setTimeout(() => (isOld = true), tickMs);
  if (keys.includes('as-of')) offset = Date.parse(find('as-of').firstElementChild.dateTime) - Date.now();
  if (keys.some((key) => key !== 'as-of')) document.dispatchEvent(new Event('lowwater:fresh'));
}

function find(key) {
  return document.querySelector(`[data-live="${CSS.escape(key)}"]`);
}

/** An element that is moved loses the focus. */
function keepFocus(change) {
  const focused = document.activeElement;
  change();
  if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
}

/** The parts that stand within what a part becomes: they go where they stand there, out of another list as well. */
let placed = new Map();

function morphPart(part, next) {
  const places = [...next.querySelectorAll('[data-live]')].filter(isPlace);
  placed = new Map(places.map(({ dataset: { live } }) => [live, find(live)]));
  morph(part, next);
  placed = new Map();
}

/** A part within a part stands as an empty element without a digest: it has a message of its own. */
function isPlace({ dataset }) {
  return dataset?.live !== undefined && dataset.is === undefined;
}

/** Makes an element like another, in place: what stays the same stays the same element, with its focus and what was typed. */
function morph(element, next) {
  if (isPlace(next) && element.dataset.live === next.dataset.live) return;
  if (element.matches('form, input:checked') && isUsed(element)) {
    putOff(element, next);
    return;
  }
  for (const { name } of [...element.attributes])
    if (!next.hasAttribute(name) && !(name === 'open' && element.tagName === 'DETAILS'))
      element.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  morphChildren(element, [...next.childNodes]);
}

function morphChildren(element, wanted) {
  const had = [...element.childNodes];
  const kept = new Set();
  let last = null;
  for (const next of wanted) {
    const moved = placed.get(next.dataset?.live);
    const same = moved ?? had.find((child) => !kept.has(child) && isSame(child, next));
    const node = same ?? withPlaced(next);
    kept.add(node);
    if (same?.nodeType === Node.ELEMENT_NODE) morph(same, next);
    else if (node.data !== next.data) node.data = next.data;
    const place = last === null ? element.firstChild : last.nextSibling;
    if (node !== place) element.insertBefore(node, place);
    last = node;
  }
  for (const child of had) if (!kept.has(child)) takeAway(child);
}

/** Gives an element that is new, such as a list, its parts from where they stood. */
function withPlaced(next) {
  for (const place of next.querySelectorAll?.('[data-live]') ?? []) {
    const part = placed.get(place.dataset.live);
    if (part) place.replaceWith(part);
  }
  return next;
}

/** An element that is no longer there goes, unless somebody is at it: then it says that it is over, and goes when it is left alone. */
function takeAway(child) {
  if (placed.has(child.dataset?.live)) return;
  if (child.nodeType !== Node.ELEMENT_NODE || !isUsed(child)) {
    child.remove();
    return;
  }
  if (child.matches('ul, section')) {
    for (const inner of [...child.childNodes]) takeAway(inner);
    return;
  }
  child.classList.add('over');
  noteChange(child, words.over);
}

function isSame(child, next) {
  if (child.nodeName !== next.nodeName) return false;
  if (child.nodeType !== Node.ELEMENT_NODE) return true;
  return nameIn(child) === nameIn(next) && !child.classList.contains('changed');
}

/**
 * The name of an element among its siblings. Rows with buttons have one, so that under the keyboard none becomes the row of something else.
 * A form gives its fields for its properties of the same name: attributes are safe.
 */
function nameIn(element) {
  return (
    ['data-live', 'data-key', 'id', 'name'].map((name) => element.getAttribute(name)).find(Boolean) ?? ''
  );
}

/** Somebody fills it in, has chosen it, or reads it unfolded. */
function isUsed(element) {
  return (
    element.closest(read) !== null ||
    element.matches('input:checked') ||
    element.querySelector(`${read}, input[type=checkbox]:checked`) !== null ||
    (element.contains(document.activeElement) && document.activeElement.matches('input, select, textarea'))
  );
}

/** Next to what is in use: it is no longer as the person sees it. What they send is refused then, and the answer says why. */
function noteChange(element, what) {
  const place = element.matches('input') ? element.parentElement : (element.cells?.[0] ?? element);
  if (place.querySelector(':scope > .changed') !== null) return;
  const note = document.createElement('p');
  note.className = 'changed';
  note.setAttribute('role', 'status');
  note.textContent = what;
  place.prepend(note);
}

/** Keeps what somebody is at as they see it, and says so where it has changed: its order is refused then. */
function putOff(element, next) {
  const plain = element.cloneNode(true);
  for (const note of plain.querySelectorAll('.changed')) note.remove();
  if (!plain.isEqualNode(next)) noteChange(element, words.changed);
  putOffs.set(element, next);
}

/** Elements that somebody was at are as they are now, or gone, once they have left them. */
function settle() {
  for (const [element, next] of putOffs) {
    if (element.isConnected && isUsed(element)) continue;
    putOffs.delete(element);
    for (const note of (element.parentElement ?? element).querySelectorAll('.changed')) note.remove();
    if (element.isConnected) morph(element, next);
  }
  for (const element of document.querySelectorAll('.over')) if (!isUsed(element)) element.remove();
  if (isOld && !isUsed(document.body)) location.replace(pageAddress());
}

function tellAges() {
  const now = Date.now() + offset;
  for (const time of document.querySelectorAll('time[data-age]'))
    time.textContent = describeDistance(Date.parse(time.dateTime), now);
}

/** As the server says it. */
function describeDistance(at, now) {
  const distance = now - at;
  if (Math.abs(distance) < 1000) return words.now;
  const duration = roughDuration(Math.abs(distance));
  return fill(distance > 0 ? words.past : words.future, { duration });
}

function roughDuration(ms) {
  const minute = 60_000;
  const hour = 60 * minute;
  const day = 24 * hour;
  if (ms < 2 * minute) return twoUnits(Math.round(ms / 1000) * 1000);
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
  const parts = [];
  for (const [name, size] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(plural(count, name));
  }
  return parts.reduce((larger, smaller) => fill(words.joined, { larger, smaller }));
}

function plural(count, noun) {
  return words.units[noun][plurals.select(count)].replace('#', count);
}
