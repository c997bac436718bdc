import { domainToASCII } from 'node:url';
import {
  type IncidentMessage,
  type Message,
  type ReportMessage,
  stateOf,
  type TestMessage,
} from '../../domain/message.ts';
import { cleanText } from '../../domain/plain-text.ts';
import type { Mailbox } from '../../domain/settings.ts';
import { type ItemWording, readerOf } from '../../messages/item-wording.ts';
import {
  messageSubject,
  pageLinks,
  sayMore,
  testStory,
  testSubject,
  wordIncidents,
} from '../../messages/message-wording.ts';
import { renderText, wrap } from '../../messages/render-text.ts';
import { type ReportAccountWording, wordReport } from '../../messages/report-wording.ts';
import type { Html } from '../../wording/html.ts';
import type { Reader } from '../../wording/moments.ts';
import { phrases, say } from '../../wording/phrase.ts';
import type { ChartPlan } from './email-charts.ts';
import {
  adviceBox,
  buttonRow,
  buttons,
  card,
  cardTitle,
  chartImage,
  emailPage,
  figureTable,
  groupTitle,
  overviewTable,
  paragraph,
  sayFooter,
} from './email-page.ts';

export type RenderedEmail = ReturnType<typeof renderEmail>;

/**
 * A message as mail. Nothing in it depends on the attempt: a retry is the same mail. `charts` are the planned ones that could be drawn; the
 * HTML refers to no other. Headers follow RFC 3834 (`Auto-Submitted`), RFC 2919 (`List-Id`) and RFC 5322 (ids); `X-Auto-Response-Suppress`
 * keeps Exchange from answering.
 */
export function renderEmail(
  message: Message,
  order: { readonly from: Mailbox; readonly to: readonly Mailbox[]; readonly charts: readonly ChartPlan[] },
) {
  const domain = domainOf(order.from.address);
  const thread = message.kind === 'incidents' ? message.thread : null;
  const references = thread === null ? [] : [...new Set([thread.firstMessage, ...thread.references])];
  return {
    from: cleanMailbox(order.from),
    to: order.to.map(cleanMailbox),
    subject: cleanText(messageSubject(message), 200),
    text: [renderText(message, width), '', ...wrap(sayFooter(readerOf(message)), 0, width), ''].join('\n'),
    html: renderEmailHtml(message, order.charts),
    date: new Date(message.at),
    messageId: messageIdOf(message.id, domain),
    ...(thread === null ? {} : { inReplyTo: messageIdOf(thread.firstMessage, domain) }),
    references: references.map((id) => messageIdOf(id, domain)),
    list: { id: { url: `lowwater.${domain}`, comment: 'lowwater alerts' } },
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    ...(isImportant(message) ? { priority: 'high' as const } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** An id of ours, or a whole Message-ID as it is. */
function messageIdOf(id: string, domain: string): string {
  const whole = /^<?([A-Za-z0-9._-]+@[A-Za-z0-9.-]+)>?$/.exec(id)?.[1];
  return whole === undefined ? `<${id.replace(/[^A-Za-z0-9._-]/g, '-')}@${domain}>` : `<${whole}>`;
}

function domainOf(address: string): string {
  const domain = domainToASCII(address.slice(address.lastIndexOf('@') + 1));
  return /^[a-z0-9.-]+$/.test(domain) ? domain : 'lowwater.invalid';
}

function cleanMailbox(mailbox: Mailbox): Mailbox {
  return { name: cleanText(mailbox.name, 100), address: mailbox.address };
}

function isImportant(message: Message): boolean {
  if (message.kind !== 'incidents') return false;
  return message.items.some(
    (item) => item.severity === 'critical' && stateOf(item) !== 'resolved' && stateOf(item) !== 'closed',
  );
}

const says = phrases('mail', {
  account: 'Account',
  balance: 'Balance',
  lasts: 'Lasts',
  spending: 'Spending',
  toppedUp: 'Topped up',
  lastsBy: '{runway}; {forecasts}',
  unknown: 'unknown',
  test: 'TEST',
});

/** The columns of a line of the text part. */
const width = 76;
/** Items shown in full in one mail, and items of one line after them: of thousands, the worst twenty. Gmail cuts HTML at about 100 KB. */
const wholeItems = 8;
const shortItems = 12;
/** Accounts in the overview of a report, and how many of them have a card with a chart. */
const accountsShown = 40;
const accountCards = 8;

/** The HTML part. Only `charts` are shown: a chart that could not be drawn leaves no hole. */
export function renderEmailHtml(message: Message, charts: readonly ChartPlan[]): string {
  const { headline, cards } =
    message.kind === 'incidents'
      ? drawIncidents(message, charts)
      : message.kind === 'report'
        ? drawReport(message, charts)
        : drawTest(message);
  return emailPage(messageSubject(message), headline, cards, readerOf(message));
}

function drawIncidents(message: IncidentMessage, charts: readonly ChartPlan[]) {
  const reader = readerOf(message);
  const { items, more, tally, headline } = wordIncidents(message, wholeItems + shortItems);
  const [first] = items.slice(0, wholeItems);
  if (message.items.length === 1 && first !== undefined)
    return { headline, cards: [itemCard(first, 'main', chartAt(charts, 0), reader)] };
  const whole = items
    .slice(0, wholeItems)
    .map((item, index) => itemCard(item, 'sub', chartAt(charts, index), reader));
  const rest = items.slice(wholeItems).map((item) => paragraph(item.headline));
  if (more > 0) rest.push(paragraph(sayMore(more, message)));
  const tail = rest.length === 0 ? [] : [card('neutral', rest)];
  return { headline, cards: [groupTitle(tally), ...whole, ...tail, buttonRow(pageLinks(message))] };
}

function itemCard(
  item: ItemWording,
  level: 'main' | 'sub',
  chart: ChartPlan | undefined,
  reader: Reader,
): Html {
  return card(item.tone, [
    cardTitle(item.tone, item.stateWord, item.subject, level),
    adviceBox(item.tone, item.advice, reader, item.links),
    ...item.story.map((sentence) => paragraph(sentence)),
    ...(item.noteLine === null ? [] : [paragraph(item.noteLine)]),
    figureTable(item.figures),
    chartImage(chart),
    ...(item.advice.length === 0 ? [buttons(item.links)] : []),
    paragraph(item.origin, 'dim'),
  ]);
}

function drawReport(message: ReportMessage, charts: readonly ChartPlan[]) {
  const reader = readerOf(message);
  const { headline, ...words } = wordReport(message, accountsShown);
  const summary = card('info', [
    cardTitle('info', words.kindWord, words.what, 'main'),
    ...(words.runsOut === null ? [] : [paragraph(words.runsOut)]),
    paragraph(words.period, 'dim'),
    overviewTable(
      [say(says.account, reader), say(says.balance, reader), say(says.lasts, reader)],
      words.accounts.flatMap((account) => overviewRows(account, reader)),
    ),
    ...(words.more === 0 ? [] : [paragraph(sayMore(words.more, message), 'dim')]),
    ...words.totals.map((total) => paragraph(total)),
    buttons(pageLinks(message)),
  ]);
  const accounts = words.accounts
    .slice(0, accountCards)
    .map((account, index) => accountCard(account, chartAt(charts, index), reader));
  return { headline, cards: [summary, ...accounts] };
}

/** One row a balance: the account, what is left, and how long it lasts. */
function overviewRows(account: ReportAccountWording, reader: Reader): readonly (readonly string[])[] {
  if (account.lines.length === 0) return [[account.name, account.read, say(says.unknown, reader)]];
  return account.lines.map((line) => [`${account.name} ${line.label}`, line.balance, line.lasts]);
}

function accountCard(account: ReportAccountWording, chart: ChartPlan | undefined, reader: Reader): Html {
  const { tone, word } = account.state;
  const rows = account.lines.map((line) =>
    figureTable([
      { label: line.balanceName, value: line.balance },
      { label: say(says.spending, reader), value: line.perDay },
      ...(line.toppedUp === null ? [] : [{ label: say(says.toppedUp, reader), value: line.toppedUp }]),
      { label: say(says.lasts, reader), value: say(says.lastsBy, line, reader) },
    ]),
  );
  return card(tone, [
    cardTitle(tone, word, account.name, 'sub'),
    paragraph(account.status, 'dim'),
    adviceBox(tone, account.advice === null ? [] : [account.advice], reader),
    ...rows,
    chartImage(chart),
  ]);
}

function drawTest(message: TestMessage) {
  const headline = messageSubject(message);
  const title = cardTitle('info', say(says.test, readerOf(message)), testSubject(message), 'main');
  return { headline, cards: [card('info', [title, paragraph(testStory(message))])] };
}

function chartAt(charts: readonly ChartPlan[], index: number): ChartPlan | undefined {
  return charts.find((chart) => chart.index === index);
}
