import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { Secret } from '../../src/domain/secret.ts';
import { type SharedBrowser, shareBrowser } from './browser.ts';
import { hourMs, viewsNow } from './built-views.ts';
import { demoViews } from './demo-views.ts';
import { signAcknowledgement } from './old-links.ts';
import { trialsOn } from './trials.ts';
import { ackKey, type FakeServer, runFakeServer } from './web-server.ts';

export const token = 'browser-token';
export const narrow = { width: 360, height: 740 };

/** As a message carries it: acknowledges without signing in. */
export const ackLink = `/ack?${signAcknowledgement(ackKey, { account: 'otp', rule: 'sms-low', incident: 'incident-1', expiresAt: viewsNow + hourMs })}`;

/** The browser before two servers of made-up views, there while the tests of a `describe` run. */
export interface BrowserBed extends SharedBrowser {
  readonly server: FakeServer;
  /** Asks for `token`. */
  readonly locked: FakeServer;
}

/** To be called in a `describe`. */
export function useBrowser(): BrowserBed {
  let made: BrowserBed | null = null;
  const bed = (): BrowserBed => {
    if (made === null) throw new Error('the browser is there in tests only');
    return made;
  };
  beforeAll(async () => {
    made = await makeBed();
  });
  afterAll(async () => {
    const { scripted, plain, server, locked } = bed();
    await Promise.all([scripted.clearCookies(), plain.clearCookies(), server.close(), locked.close()]);
  });
  return {
    get browser() {
      return bed().browser;
    },
    get scripted() {
      return bed().scripted;
    },
    get plain() {
      return bed().plain;
    },
    get server() {
      return bed().server;
    },
    get locked() {
      return bed().locked;
    },
  };
}

async function makeBed(): Promise<BrowserBed> {
  const views = demoViews();
  return {
    ...(await shareBrowser()),
    server: await runFakeServer({ views, trials: trialsOn(views) }),
    locked: await runFakeServer({ views: demoViews(), settings: { token: new Secret(token) } }),
  };
}

/** Brings axe into the page, as the browser's own code: the policy of the page holds for the page only. */
export async function loadAxe(page: Page): Promise<void> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
}

/** What axe finds serious, with all its rules or these. To be called after `loadAxe`. */
export function seriousFindings(
  page: Page,
  rules: readonly string[] | null = null,
): Promise<readonly string[]> {
  const options = {
    resultTypes: ['violations'],
    // Nobody reads where an element is, and nothing is to be loaded ahead: the page's own server has all its styles, so their rules can be read.
    selectors: false,
    preload: false,
    ...(rules === null ? {} : { runOnly: rules }),
  };
  // What a rule finds is as grave as the rule: those that find nothing serious need not look. The page hands over no more than is read.
  return page.evaluate(`(async () => {
    const slight = axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate');
    const rules = Object.fromEntries(slight.map(({ id }) => [id, { enabled: false }]));
    const { violations } = await axe.run(document, { ...${JSON.stringify(options)}, rules });
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    return serious.map(({ id, nodes }) => id + ': ' + nodes[0]?.html);
  })()`);
}

/**
 * Puts a page of the same server in the place of the open one, as it is where no script runs: laid out by the same styles, for a tenth of
 * what it costs to open one.
 */
export async function putWithoutScript(page: Page, path: string): Promise<void> {
  await page.evaluate(`(async () => {
    const answer = await fetch(${JSON.stringify(path)}, { headers: { accept: 'text/html' } });
    const { body } = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const spare of body.querySelectorAll('noscript')) spare.replaceWith(...spare.childNodes);
    document.body = document.adoptNode(body);
  })()`);
}

/** Of all that could be scrolled to, once the chart has followed a change of the window. */
export async function widthOf(page: Page): Promise<number> {
  const measure = () => page.evaluate('document.documentElement.scrollWidth') as Promise<number>;
  const room = page.viewportSize()?.width ?? 0;
  for (let tries = 0; tries < 40 && (await measure()) > room; tries += 1) await page.waitForTimeout(25);
  return measure();
}
