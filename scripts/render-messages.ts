/**
 * Renders every kind of message as it is really made, for docs/messages.md: the HTML of the mails as pictures at the widths of a phone and a
 * window, light and dark, and the Slack form as Block Kit JSON and as text. Needs Chromium (CHROMIUM or /usr/bin/chromium).
 *
 *   node scripts/render-messages.ts [name …]
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { type Browser, chromium } from 'playwright-core';
import { composeEmail } from '../src/channels/email/email-channel.ts';
import { renderSlack } from '../src/channels/slack/render-slack.ts';
import type { Message } from '../src/core/message.ts';
import { everyMessage } from '../test/support/messages.ts';

const folder = new URL('../docs/messages/', import.meta.url);
const from = { name: 'lowwater', address: 'lowwater@example.com' };
const to = [{ name: '', address: 'ops@example.com' }];

/** In the documentation stands what differs to the eye; every message can be rendered by naming it. */
const documented: Readonly<Record<string, readonly Look[]>> = {
  firing: ['phone-light', 'phone-dark', 'window-light', 'window-dark'],
  worse: ['phone-light'],
  reminder: ['phone-dark'],
  escalated: ['phone-light'],
  resolved: ['phone-light'],
  flapping: ['phone-light'],
  'top-up': ['phone-dark'],
  negative: ['phone-light'],
  'auth-failed': ['phone-dark'],
  stale: ['phone-light'],
  'provider-down': ['phone-light'],
  'channel-failed': ['phone-light'],
  'storage-failed': ['phone-dark'],
  group: ['window-light'],
  report: ['window-light'],
  test: ['phone-light'],
};

const looks = {
  'phone-light': { width: 360, scheme: 'light' },
  'phone-dark': { width: 360, scheme: 'dark' },
  'window-light': { width: 800, scheme: 'light' },
  'window-dark': { width: 800, scheme: 'dark' },
} as const;

type Look = keyof typeof looks;

const asked = process.argv.slice(2);
const messages = everyMessage();
await mkdir(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
try {
  for (const [name, message] of Object.entries(messages)) {
    const wanted =
      asked.length === 0
        ? (documented[name] ?? [])
        : asked.includes(name)
          ? (Object.keys(looks) as Look[])
          : [];
    for (const look of wanted) await photograph({ browser, name, message, look });
  }
} finally {
  await browser.close();
}
await writeFile(
  new URL('slack.json', folder),
  `${JSON.stringify(Object.fromEntries(Object.entries(messages).map(([name, message]) => [name, renderSlack(message)])), null, 1)}\n`,
);

async function photograph(order: {
  readonly browser: Browser;
  readonly name: string;
  readonly message: Message;
  readonly look: Look;
}): Promise<void> {
  const { width, scheme } = looks[order.look];
  const context = await order.browser.newContext({
    viewport: { width, height: 400 },
    colorScheme: scheme,
    deviceScaleFactor: 1,
  });
  const page = await context.newPage();
  await page.setContent(await selfContainedHtml(order.message));
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  if (overflow === true) console.error(`${order.name} is wider than ${width} pixels`);
  const file = new URL(`${order.name}-${order.look}.png`, folder);
  await page.screenshot({ path: file.pathname, fullPage: true });
  await context.close();
  console.log(file.pathname);
}

/** The HTML of the mail with its inline pictures put in place, as a mail program shows it. */
async function selfContainedHtml(message: Message): Promise<string> {
  const mail = await composeEmail(message, { from, to });
  let html = String(mail.html);
  for (const { cid, content } of mail.attachments ?? []) {
    if (cid !== undefined && Buffer.isBuffer(content))
      html = html.replaceAll(`cid:${cid}`, `data:image/png;base64,${content.toString('base64')}`);
  }
  return html;
}
