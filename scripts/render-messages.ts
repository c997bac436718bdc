/**
 * Makes docs/messages.md and its pictures from messages as they are really rendered: the HTML of the mails at
 * the widths of a phone and a window, light and dark, and the Slack form as text and as Block Kit JSON. Needs
 * Chromium (CHROMIUM or /usr/bin/chromium).
 *
 *   node scripts/render-messages.ts             makes the documentation
 *   node scripts/render-messages.ts FOLDER      puts every message in every look into another folder, to look at
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { render as renderDingtalk } from '../src/channels/dingtalk/dingtalk-robot.ts';
import { composeEmail } from '../src/channels/email/email-sender.ts';
import { renderSlack } from '../src/channels/slack/render-slack.ts';
import { describeSlackPayload } from '../src/channels/slack/slack-blocks.ts';
import type { Message } from '../src/domain/message.ts';
import { loadLanguage } from '../src/languages/load-language.ts';
import { messageSubject } from '../src/messages/message-wording.ts';
import { everyMessage } from '../test/support/messages.ts';
import { shrinkPng } from './shrink-png.ts';

const from = { name: 'lowwater', address: 'lowwater@example.com' };
const to = [{ name: '', address: 'ops@example.com' }];

const looks = {
  'phone-light': { width: 360, scheme: 'light' },
  'phone-dark': { width: 360, scheme: 'dark' },
  'window-light': { width: 800, scheme: 'light' },
  'window-dark': { width: 800, scheme: 'dark' },
} as const;

type Look = keyof typeof looks;

const everyLook: readonly Look[] = ['phone-light', 'phone-dark', 'window-light', 'window-dark'];

interface Chapter {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly looks: readonly Look[];
}

const chapters: readonly Chapter[] = [
  {
    name: 'firing',
    title: 'An alert fires',
    text: 'The message says the problem, since when, and what to do. It has the numbers, and seven days of the balance with its thresholds, top-ups and projected end. The same mail on a phone and in a window, light and dark:',
    looks: everyLook,
  },
  {
    name: 'runway',
    title: 'A balance that may run out',
    text: 'The forecast: when, and the 80 % range, as a fan in the chart; *pay by* if `leadTime` is known, the links of the account, its `note`.',
    looks: ['phone-light', 'window-dark'],
  },
  {
    name: 'worse',
    title: 'It gets worse',
    text: 'The severity of an open incident rose.',
    looks: ['phone-light'],
  },
  {
    name: 'reminder',
    title: 'A reminder',
    text: 'The incident is still open after `repeatEvery`. It is in the thread of the first mail, under the same subject.',
    looks: ['phone-dark'],
  },
  {
    name: 'escalated',
    title: 'Escalation',
    text: 'Nobody acknowledged it in time, so other people hear of it.',
    looks: ['phone-light'],
  },
  {
    name: 'acknowledged',
    title: 'Acknowledged',
    text: 'Everybody who was notified hears who took it, and what they said.',
    looks: ['phone-light'],
  },
  { name: 'resolved', title: 'Resolved', text: 'By what, and how long it lasted.', looks: ['phone-light'] },
  {
    name: 'flapping',
    title: 'Flapping',
    text: 'An alert that changes too often is sent once and then held back.',
    looks: ['phone-light'],
  },
  {
    name: 'negative',
    title: 'A sudden change',
    text: 'When the balance changes by half or more in one poll, the message names the value before: it may be a mistake.',
    looks: ['phone-dark'],
  },
  {
    name: 'top-up',
    title: 'A top-up',
    text: 'An event has no end and asks for nothing.',
    looks: ['phone-light'],
  },
  {
    name: 'surge',
    title: 'Spending surges',
    text: 'Far more than this hour of the week usually takes (`surge`): since when, how much, and when the balance would be empty at that pace.',
    looks: ['phone-light'],
  },
  {
    name: 'slump',
    title: 'Spending falls away',
    text: 'Far less than this hour usually takes, although no balance is empty (`slump`).',
    looks: ['phone-dark'],
  },
  {
    name: 'missed-top-up',
    title: 'A recharge did not come',
    text: 'The balance is below the level at which automatic top-ups came (`missed-top-up`).',
    looks: ['phone-light'],
  },
  {
    name: 'budget',
    title: 'A budget is reached',
    text: 'The spending since the period began (`budget`), and its projected total at the end.',
    looks: ['phone-light'],
  },
  {
    name: 'auth-failed',
    title: 'The key is refused',
    text: 'A rotated or wrong access key. The last reading stays visible, with its age.',
    looks: ['phone-light'],
  },
  {
    name: 'stale',
    title: 'No readings',
    text: 'What to do depends on how the polls fail.',
    looks: ['phone-dark'],
  },
  {
    name: 'provider-down',
    title: 'The provider is down',
    text: 'One message instead of one for each account.',
    looks: ['phone-light'],
  },
  {
    name: 'storage-failed',
    title: 'lowwater cannot store',
    text: 'Alerting goes on from memory.',
    looks: ['phone-light'],
  },
  {
    name: 'channel-failed',
    title: 'A channel fails',
    text: 'Reported on every other channel.',
    looks: ['phone-dark'],
  },
  {
    name: 'config-invalid',
    title: 'A changed configuration is invalid',
    text: 'The running one stays.',
    looks: ['phone-light'],
  },
  {
    name: 'group',
    title: 'Several alerts at once',
    text: 'Alerts that become due within `groupWait` are one message, the most urgent first. Long lists are cut and say how many more there are.',
    looks: ['phone-light'],
  },
  {
    name: 'report',
    title: 'A report',
    text: 'All accounts, with a chart each; the one that is empty first is on top.',
    looks: ['window-light'],
  },
  {
    name: 'test',
    title: 'A test',
    text: 'The message that `lowwater test-channel` sends.',
    looks: ['phone-light'],
  },
];

const messages = everyMessage();
const [, , elsewhere] = process.argv;
const documentation = new URL('../docs/', import.meta.url);
const folder = elsewhere === undefined ? new URL('messages/', documentation) : pathToFileURL(`${elsewhere}/`);
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
      elsewhere === undefined ? (chapters.find((chapter) => chapter.name === name)?.looks ?? []) : everyLook;
    for (const look of wanted) await photograph({ browser, name, message, look });
  }
  await loadLanguage('zh-CN');
  const chinese = { ...messageOf('runway'), language: 'zh-CN' };
  await photograph({ browser, name: 'zh-CN-mail', message: chinese, look: 'phone-light' });
  await photograph({ browser, name: 'zh-CN-dingtalk', html: drawDingtalk(chinese), look: 'phone-light' });
} finally {
  await browser.close();
}
if (elsewhere === undefined) await writeFile(new URL('messages.md', documentation), writeChapters());

async function photograph(order: {
  readonly browser: Browser;
  readonly name: string;
  readonly message?: Message;
  readonly html?: string;
  readonly look: Look;
}): Promise<void> {
  const { width, scheme } = looks[order.look];
  const context = await order.browser.newContext({ viewport: { width, height: 300 }, colorScheme: scheme });
  const page = await context.newPage();
  const { html = '', message } = order;
  await page.setContent(message === undefined ? html : await selfContainedHtml(message));
  const overflow = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  if (overflow === true) throw new Error(`${order.name} is wider than ${width} pixels.`);
  const picture = await page.screenshot({ fullPage: true });
  await context.close();
  await writeFile(new URL(`${order.name}-${order.look}.png`, folder), shrinkPng(picture));
}

/** A message of a group robot as DingTalk draws it: headings, bold, quotes and links. */
function drawDingtalk(message: Message): string {
  const { markdown } = JSON.parse(renderDingtalk(message, { mention: {} })[0].body);
  // The machine that takes the pictures may have no font with these.
  const lines = String(markdown.text)
    .replaceAll('🟠', '<i>●</i>')
    .replaceAll('👉', '→')
    .replaceAll('📌', '※')
    .split('\n\n')
    .map((line) => line.replace(/\*\*(.+?)\*\*/g, '<b>$1</b>').replace(/\[(.+?)\]\(.+?\)/g, '<a>$1</a>'))
    .map((line) => {
      if (line.startsWith('### ')) return `<h3>${line.slice(4)}</h3>`;
      return line.startsWith('> ') ? `<blockquote>${line.slice(2)}</blockquote>` : `<p>${line}</p>`;
    });
  return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 12px; background: #f2f3f5; font: 15px/1.5 'Noto Sans CJK SC', sans-serif; color: #171a1d }
div { background: #fff; border-radius: 10px; padding: 10px 14px } h3 { font-size: 16px; margin: 4px 0 8px }
p { margin: 6px 0 } blockquote { margin: 3px 0; padding-left: 8px; border-left: 3px solid #d8dbe0; color: #60656b }
i { color: #e8890c; font-style: normal } b { font-weight: 600; color: #171a1d } a { color: #1772f6 }</style><div>${lines.join('')}</div>`;
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

function writeChapters(): string {
  return `# Messages

This page shows examples of messages: the mail as a picture, and the Slack form as text. These have the same form and no example: \`idle\`, \`currency\`, \`late-top-up\`,
\`chat-lost\`, \`rates-failed\`, \`cluster-degraded\`, \`cluster-changed\` and the alert of \`lowwater test-alert\`. \`node scripts/render-messages.ts\` makes this page and its
pictures from messages as they are really rendered; do not edit it by hand. The JSON of the webhook channel is
described in [webhook.md](webhook.md); how the other channels show an alert, in [channels.md](channels.md).

${chapters.map(writeChapter).join('\n')}
## In another language

The same alert as *A balance that may run out*, with \`"language": "zh-CN"\`, by mail and by a group robot of DingTalk: [README.zh-CN.md](../README.zh-CN.md).

<img src="messages/zh-CN-mail-phone-light.png" width="260" alt="A mail in Chinese">
<img src="messages/zh-CN-dingtalk-phone-light.png" width="260" alt="A message of DingTalk in Chinese">

## Slack as Block Kit

The first message above, as it is posted to the webhook. Names and reasons are in plain text elements, in which nothing is markup.

\`\`\`json
${JSON.stringify(renderSlack(messageOf('firing')), null, 1)}
\`\`\`
`;
}

function writeChapter(chapter: Chapter): string {
  const message = messageOf(chapter.name);
  const pictures = chapter.looks.map((look) => {
    const width = looks[look].width === 360 ? 260 : 480;
    return `<img src="messages/${chapter.name}-${look}.png" width="${width}" alt="${chapter.title}, mail, ${look.replace('-', ', ')}">`;
  });
  return `## ${chapter.title}

${chapter.text}

${pictures.join('\n')}

Subject: \`${messageSubject(message)}\`

\`\`\`text
${describeSlackPayload(renderSlack(message)).join('\n')}
\`\`\`
`;
}

function messageOf(name: string): Message {
  const message = messages[name];
  if (message === undefined) throw new Error(`No message is called ${name}.`);
  return message;
}
