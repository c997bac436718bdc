import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The same engine without a window takes half of the processor time. */
const windowless = '/usr/bin/chromium-headless-shell';
const executablePath = process.env.CHROMIUM ?? (existsSync(windowless) ? windowless : '/usr/bin/chromium');

/** Whether there is a browser to try the pages in. Where there must be one, its absence ends the run. */
export function hasBrowser(): boolean {
  if (existsSync(executablePath)) return true;
  if (process.env.LOWWATER_REQUIRE_CHROMIUM === '1') throw new Error(`no Chromium at ${executablePath}`);
  process.stdout.write(
    `skipped: no Chromium at ${executablePath}, so the pages were not tried in a browser\n`,
  );
  return false;
}

export function launchBrowser(): Promise<Browser> {
  const quiet = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];
  // All pages are of this machine: one process draws them, which takes an eighth less of the processor.
  const single = ['--renderer-process-limit=1', '--disable-site-isolation-trials'];
  return chromium.launch({
    executablePath,
    args: [...quiet, ...single, '--disable-component-update', '--disable-sync'],
  });
}

let shared: Promise<SharedBrowser> | null = null;

/** A browser with two contexts; a context costs more than most of what is done in it, and a browser as much as two of them. */
export interface SharedBrowser {
  readonly browser: Browser;
  readonly scripted: BrowserContext;
  /** Runs no script. */
  readonly plain: BrowserContext;
}

export const wide = { width: 1280, height: 800 };

/** One for all tests of a worker, which ends with it. Who signs in or chooses a language clears the cookies. */
export function shareBrowser(): Promise<SharedBrowser> {
  shared ??= openShared();
  return shared;
}

async function openShared(): Promise<SharedBrowser> {
  const browser = await launchBrowser();
  const [scripted, plain] = await Promise.all([
    browser.newContext({ viewport: wide }),
    browser.newContext({ viewport: wide, javaScriptEnabled: false }),
  ]);
  return { browser, scripted, plain };
}

/** Opens a page and waits until its scripts have drawn every chart. */
export async function openPage(page: Page, url: string): Promise<void> {
  await page.goto(url);
  const scripted = await page.evaluate(
    'document.scripts.length > 0 && matchMedia("(scripting: enabled)").matches',
  );
  if (scripted !== true) return;
  while ((await page.evaluate(scrollToPicture)) === true);
}

/** A picture that the server drew is taken over once it comes into view, which may be before anybody scrolls to it. */
const scrollToPicture = `new Promise((resolve) => {
  const picture = document.querySelector('[data-chart] .chart-svg:has(.line)');
  picture?.scrollIntoView();
  requestAnimationFrame(() => resolve(picture !== null));
})`;

/** Tabs at rest: a new one costs as much as what most tests do in it. */
const resting = new WeakMap<BrowserContext, Page[]>();

/** A tab as a new one would be, with all that its page complains of; given back afterwards. */
export async function withPage<T>(
  context: BrowserContext,
  use: (page: Page, complaints: string[]) => Promise<T>,
): Promise<T> {
  const tabs = resting.get(context) ?? [];
  resting.set(context, tabs);
  const page = tabs.pop() ?? (await context.newPage());
  const size = page.viewportSize();
  const complaints: string[] = [];
  listenToComplaints(page, complaints);
  const result = await use(page, complaints);
  page.removeAllListeners();
  await page.goto('about:blank');
  await page.emulateMedia({ media: null });
  if (size !== null) await page.setViewportSize(size);
  tabs.push(page);
  return result;
}

export function listenToComplaints(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
}
