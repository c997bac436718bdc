/**
 * Draws the pictures of the pages in docs/screenshots: of a real daemon after a scripted month, all from one moment.
 * Run: node scripts/screenshots.ts [folder]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { signLink } from '../src/http/ack-link.ts';
import { hourMs } from '../test/support/account-facts.ts';
import { launchBrowser, openPage } from '../test/support/browser.ts';
import { liveThroughMonth, type TeamNames } from '../test/support/demo-month.ts';
import { runServer } from '../test/support/web-server.ts';
import { shrinkPng } from './shrink-png.ts';

interface Look {
  readonly name: string;
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

const folder = process.argv[2] ?? 'docs/screenshots';
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  readonly version: string;
};
/** Of a longer page the beginning is shown. */
const maxHeight = 1_400;
const light: Look = { name: 'light', width: 1280, colorScheme: 'light' };
const phone: Look = { name: 'phone', width: 390, colorScheme: 'light' };
const looks: readonly Look[] = [light, { name: 'dark', width: 1280, colorScheme: 'dark' }, phone];
const pages = [
  ['overview', '/'],
  ['account', '/accounts/otp?range=7d'],
  ['alerts', '/alerts'],
  ['pay', '/pay'],
  ['review', '/review'],
  ['silences', '/silences'],
  ['messages', '/messages'],
] as const;

const english: TeamNames = {
  otp: 'OTP production',
  marketing: 'Marketing Europe',
  voice: 'Voice alerts',
  billing: 'Billing notices',
  batch: 'Batch jobs',
  support: 'Support desk',
  standby: 'Standby',
  note: 'Finance pays by card until 18:00: ask Priya.',
};
const chinese: TeamNames = {
  otp: 'OTP 生产',
  marketing: '欧洲营销',
  voice: '语音告警',
  billing: '账单通知',
  batch: '批量任务',
  support: '客服',
  standby: '备用',
  note: '18:00 前由财务刷卡付款：联系王伟。',
};

const browser = await launchBrowser();
mkdirSync(folder, { recursive: true });
await takePictures(browser, {
  names: english,
  timezone: 'UTC',
  language: 'en',
  wanted: looks.flatMap((look) =>
    pages.map(([name, path]) => ({ file: `${name}-${look.name}`, path, look })),
  ),
  linked: 'link-phone',
});
await takePictures(browser, {
  names: chinese,
  timezone: 'Asia/Shanghai',
  language: 'zh-CN',
  wanted: [light, phone].flatMap((look) =>
    [pages[0], pages[3]].map(([name, path]) => ({ file: `zh-CN-${name}-${look.name}`, path, look })),
  ),
  linked: 'zh-CN-link-phone',
});
await browser.close();

interface Pictures {
  readonly names: TeamNames;
  readonly timezone: string;
  readonly language: string;
  readonly wanted: readonly { readonly file: string; readonly path: string; readonly look: Look }[];
  /** The picture of the page behind the link of a message. */
  readonly linked: string;
}

async function takePictures(
  browser: Browser,
  { names, timezone, language, wanted, linked }: Pictures,
): Promise<void> {
  const ends: (() => void)[] = [];
  const world = await liveThroughMonth(names, timezone, { atEnd: (end) => ends.push(end), version });
  const server = await runServer({ world, timezone });
  const alerts = await world.views.alerts({ all: false });
  const incident = alerts.find(({ account, inhibited }) => account === 'otp' && !inhibited)?.incident ?? '';
  const [key] = world.views.linkKeys();
  if (key === undefined || incident === '') throw new Error('the month ends without an alert of otp');
  const link = `/a/${signLink(key, { incident, expiresAt: world.now + hourMs })}`;
  for (const { file, path, look } of [...wanted, { file: linked, path: link, look: phone }]) {
    const { width, colorScheme } = look;
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    await context.addCookies([{ name: 'lowwater_language', value: language, url: server.url }]);
    const page = await context.newPage();
    await openPage(page, server.url + path);
    await page.waitForTimeout(300);
    const height: number = await page.evaluate('document.documentElement.scrollHeight');
    const clip = { x: 0, y: 0, width, height: Math.min(height, maxHeight) };
    writeFileSync(join(folder, `${file}.png`), shrinkPng(await page.screenshot({ fullPage: true, clip })));
    await context.close();
  }
  await server.close();
  for (const end of ends) end();
}
