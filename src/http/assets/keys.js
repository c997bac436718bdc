// The pages by keyboard alone: `?` lists the keys. Without this script everything is reached by Tab as well.

const words = JSON.parse(document.documentElement.dataset.words);
/** Kept by this browser, for all its tabs: keys of one letter can be in the way of speech and of other tools. */
const offKey = 'lowwater-keys-off';
const places = { o: '/', a: '/alerts', p: '/pay', s: '/silences', r: '/review', m: '/messages' };
const keys = [
  ['/', words.search],
  ['j, k', words.next],
  ['Enter', words.open],
  ['←, →', words.acts],
  ['a', words.acknowledge],
  ['s', words.silence],
  ['x', words.tick],
  ['g o, g a, g p, g s, g r, g m', words.go],
  ['Esc', words.leave],
  ['?', words.list],
];
const acts = {
  g: () => {
    chordUntil = performance.now() + chordMs;
  },
  '?': list,
  '/': search,
  j: () => move(1),
  k: () => move(-1),
  a: () => unfold(['/acknowledge', '/many']),
  s: () => unfold(['/silences']),
  x: () => here('.alert')?.querySelector('.pick input')?.click(),
};
/** A second key belongs to the first for so long. */
const chordMs = 1_500;
let chordUntil = 0;

const forBrowser = storageOf('localStorage');
const forTab = storageOf('sessionStorage');

offerList();
oneStopEach();
document.addEventListener('lowwater:fresh', oneStopEach);
returnToList();

/** Where the browser blocks storage, for this page alone: that must not cost the keys. */
function storageOf(kind) {
  try {
    return window[kind];
  } catch {
    const kept = new Map();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => kept.set(key, value),
      removeItem: (key) => kept.delete(key),
    };
  }
}

/** Tab stops at an alert and at its menu; the arrows go to everything else of it. */
function oneStopEach() {
  for (const alert of document.querySelectorAll('.alert')) {
    const menu = alert.querySelector('.acts summary, .acts > form button');
    const first = alert.querySelector('a') ?? menu;
    for (const control of controlsOf(alert))
      control.tabIndex = control === first || control === menu ? 0 : -1;
  }
}

function controlsOf(alert) {
  return [...alert.querySelectorAll('a, summary, .pick input, .acts > form button')];
}

/** Back to the list as it was filtered. */
function returnToList() {
  const key = 'lowwater-list';
  const crumb = document.querySelector('.crumb a');
  if (['/', '/alerts', '/review'].includes(location.pathname)) {
    forTab.setItem(key, location.pathname + location.search);
  } else if (crumb !== null) {
    const list = forTab.getItem(key) ?? '/';
    crumb.setAttribute('href', list);
    const page = document.querySelector(`nav a[href="${list.split('?')[0]}"]`);
    if (page !== null) crumb.textContent = page.textContent;
  }
}

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') return leave(event.target);
  const fields = 'input:not([type=checkbox]), select, textarea, dialog, [contenteditable]';
  if (event.target.closest(fields) !== null) return;
  if (moveWithin(event.key) || (areOn() && act(event.key))) event.preventDefault();
});

function areOn() {
  return forBrowser.getItem(offKey) === null;
}

/** Also for whoever has turned the keys off. */
function offerList() {
  const button = Object.assign(document.createElement('button'), {
    className: 'quiet',
    textContent: words.keys,
  });
  button.addEventListener('click', list);
  document.querySelector('footer').lastElementChild.append(' ', button);
}

/** From one control of an alert to the next. */
function moveWithin(key) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
  const alert = here('.alert');
  if (by === undefined || alert === null) return false;
  const controls = controlsOf(alert);
  controls[controls.indexOf(document.activeElement) + by]?.focus();
  return true;
}

/** Whether the key meant something. */
function act(key) {
  if (performance.now() < chordUntil) {
    chordUntil = 0;
    if (places[key] !== undefined) location.assign(places[key]);
    return places[key] !== undefined;
  }
  acts[key]?.();
  return acts[key] !== undefined;
}

function search() {
  const field = document.querySelector('input[type=search]');
  field?.closest('details')?.setAttribute('open', '');
  field?.focus();
}

/** To the next alert or account; of a page that has neither, nowhere. */
function move(by) {
  const stops = [...document.querySelectorAll('.alert, .accounts tbody tr')];
  const at = stops.findIndex((stop) => stop.contains(document.activeElement));
  const stop = stops[Math.min(stops.length - 1, Math.max(0, at + by))];
  stop?.querySelector('a, summary')?.focus();
  stop?.scrollIntoView({ block: 'nearest' });
}

function here(selector) {
  return document.activeElement.closest(selector);
}

/** Opens a form of the alert that has the focus, else of the only one; by what it orders: its words differ with the language. */
function unfold(orders) {
  const alerts = document.querySelectorAll('.alert');
  const alert = here('.alert') ?? (alerts.length === 1 ? alerts[0] : null);
  const form = [...(alert?.querySelectorAll('.act > form') ?? [])].find((it) =>
    orders.some((order) => it.getAttribute('action').endsWith(order)),
  );
  if (form === undefined) return;
  form.parentElement.open = true;
  form.querySelector('select, input:not([type=hidden])')?.focus();
}

function leave(element) {
  const form = element.closest?.('details.act[open]');
  if (form === null || form === undefined) return;
  form.open = false;
  form.querySelector('summary').focus();
}

function list() {
  const dialog = document.createElement('dialog');
  dialog.className = 'keys panel';
  dialog.setAttribute('aria-labelledby', 'keys-heading');
  const heading = document.createElement('h2');
  heading.id = 'keys-heading';
  heading.textContent = words.keys;
  const meanings = document.createElement('dl');
  for (const [key, meaning] of keys) {
    meanings.append(
      Object.assign(document.createElement('dt'), { textContent: key }),
      Object.assign(document.createElement('dd'), { textContent: meaning }),
    );
  }
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: areOn() });
  box.addEventListener('change', () =>
    box.checked ? forBrowser.removeItem(offKey) : forBrowser.setItem(offKey, ''),
  );
  const choice = document.createElement('label');
  choice.append(box, ' ', words.single);
  const close = Object.assign(document.createElement('button'), {
    textContent: words.close,
    autofocus: true,
  });
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', () => dialog.remove());
  dialog.append(heading, meanings, choice, close);
  document.body.append(dialog);
  dialog.showModal();
}
