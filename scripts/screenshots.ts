/** Draws the pictures of the pages in docs/screenshots from the demo's accounts. Run: node scripts/screenshots.ts [folder] */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser, openPage } from '../test/support/browser.ts';
import { demoViews } from '../test/support/demo-views.ts';
import { runFakeServer } from '../test/support/web-server.ts';
import { shrinkPng } from './shrink-png.ts';

const folder = process.argv[2] ?? 'docs/screenshots';
const pages = [
  ['overview', '/'],
  ['account', '/accounts/otp?range=7d'],
  ['alerts', '/alerts'],
  ['pay', '/pay'],
  ['review', '/review'],
  ['silences', '/silences'],
  ['messages', '/messages'],
] as const;
const views = [
  { name: 'light', width: 1280, colorScheme: 'light' },
  { name: 'dark', width: 1280, colorScheme: 'dark' },
  { name: 'phone', width: 390, colorScheme: 'light' },
] as const;

const browser = await launchBrowser();
const server = await runFakeServer({ views: demoViews() });
mkdirSync(folder, { recursive: true });
for (const { name: look, width, colorScheme } of views) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  for (const [name, path] of pages) {
    await openPage(page, server.url + path);
    await page.waitForTimeout(300);
    const picture = await page.screenshot({ fullPage: true });
    writeFileSync(join(folder, `${name}-${look}.png`), shrinkPng(picture));
  }
  await context.close();
}
await browser.close();
await server.close();
