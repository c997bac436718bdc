// One stream of events for all tabs of a browser, which over HTTP/1.1 has six connections to a server: a stream keeps one of them.

const retryMs = 3_000;
/** Tabs that open or close together are one change. */
const gatherMs = 50;
/** Tabs in the background speak once a minute. */
const silentMs = 180_000;
/** A longer address may be refused: pages then get all of their parts. */
const maxLength = 6_000;
/** By port: the tab's page, the digests of its parts, and when it spoke last. */
const tabs = new Map();
let source = null;
let opening = null;

self.onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    const known = tabs.get(port);
    if (data.page === undefined) tabs.delete(port);
    else tabs.set(port, { ...data, spokeAt: performance.now() });
    // A tab that asked by itself may have more, or less, than an open stream has sent it.
    if (known?.page !== data.page || (data.byItself && source !== null)) openSoon(gatherMs);
  };
};

function openSoon(delayMs) {
  clearTimeout(opening);
  opening = setTimeout(open, delayMs);
}

function open() {
  source?.close();
  source = null;
  if (tabs.size === 0) return;
  const asked = new URLSearchParams();
  for (const page of new Set([...tabs.values()].map((tab) => tab.page))) {
    const [first, ...others] = [...tabs.values()]
      .filter((tab) => tab.page === page)
      .map(({ have }) => have.split('.'));
    asked.append('page', page);
    asked.append('have', first.filter((digest) => others.every((have) => have.includes(digest))).join('.'));
  }
  if (asked.toString().length > maxLength) asked.delete('have');
  source = new EventSource(`/events?${asked}`);
  source.addEventListener('open', () => tell('alive'));
  source.addEventListener('alive', () => {
    forgetSilent();
    tell('alive');
  });
  source.addEventListener('changed', ({ data, lastEventId }) => tell('changed', data, lastEventId));
  source.addEventListener('error', () => {
    // Not left to the browser: it would ask for what was news when the stream was opened.
    source.close();
    source = null;
    tell('error');
    openSoon(retryMs);
  });
}

function tell(kind, data, page) {
  for (const [port, tab] of tabs)
    if (page === undefined || tab.page === page) port.postMessage({ kind, data });
}

/** A tab that crashed does not say that it is gone. */
function forgetSilent() {
  for (const [port, { spokeAt }] of tabs) if (performance.now() - spokeAt > silentMs) tabs.delete(port);
}
