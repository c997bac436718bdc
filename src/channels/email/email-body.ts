import type { IncidentMessage, Message, ReportMessage, TestMessage } from '../../domain/message.ts';
import { plural } from '../../domain/plain-text.ts';
import type { ItemWording } from '../../messages/item-wording.ts';
import {
  messageSubject,
  pageLinks,
  testHeadline,
  testStory,
  wordIncidents,
  wordMore,
} from '../../messages/message-wording.ts';
import { type ReportAccountWording, wordReport } from '../../messages/report-wording.ts';
import { type Html, html } from '../../wording/html.ts';
import type { ChartPlan } from './email-charts.ts';
import {
  adviceBox,
  buttons,
  card,
  cardEnd,
  cardTitle,
  chartImage,
  emailPage,
  figureTable,
  footer,
  overviewTable,
  paragraph,
} from './email-page.ts';

/** Whole items in one mail, and lines after them: of thousands the worst twenty. Gmail cuts HTML at about 100 KB. */
const wholeItems = 8;
const shortItems = 12;
/** Accounts in the overview of a report, and those of them that have a card with chart. */
const accountsShown = 40;
const accountCards = 8;

const sender = 'Sent by lowwater, which watches prepaid balances. Replies are not read.';

/** The HTML part. Only `charts` are shown: a chart that could not be drawn leaves no hole. */
export function renderEmailHtml(message: Message, charts: readonly ChartPlan[]): string {
  switch (message.kind) {
    case 'incidents':
      return renderIncidents(message, charts);
    case 'report':
      return renderReport(message, charts);
    case 'test':
      return renderTest(message);
  }
}

function renderIncidents(message: IncidentMessage, charts: readonly ChartPlan[]): string {
  const words = wordIncidents(message, wholeItems + shortItems);
  const single = message.items.length === 1;
  const whole = words.items
    .slice(0, wholeItems)
    .map((item, index) => itemCard(item, { single, chart: chartAt(charts, index) }));
  const rest = words.items.slice(wholeItems);
  const tail = rest.length === 0 && words.more === 0 ? [] : [restCard(rest, words.more)];
  const head = single ? [] : [groupTitle(words.tally)];
  const links = single ? [] : pageLinks(message);
  const page =
    links.length === 0
      ? []
      : [
          html`<tr><td style="padding:0 0 12px 0;"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${buttons(links)}</table></td></tr>
`,
        ];
  return emailPage({
    title: messageSubject(message),
    preview: words.headline,
    body: [...head, ...whole, ...tail, ...page, footer(sender)],
  });
}

function itemCard(
  item: ItemWording,
  order: { readonly single: boolean; readonly chart: ChartPlan | undefined },
): Html {
  return card(item.tone, [
    cardTitle({
      tone: item.tone,
      word: item.stateWord,
      title: item.subject,
      level: order.single ? 'main' : 'sub',
    }),
    adviceBox(item.tone, item.advice, item.links),
    ...item.story.map((sentence) => paragraph(sentence)),
    ...(item.note === null ? [] : [paragraph(`Note: ${item.note}`)]),
    figureTable(item.figures),
    ...(order.chart === undefined ? [] : [chartImage(order.chart.cid, order.chart.alt)]),
    ...(item.advice.length === 0 ? [buttons(item.links)] : []),
    paragraph(item.origin, 'dim'),
    cardEnd(),
  ]);
}

function groupTitle(headline: string): Html {
  return html`<tr><td class="pad ink" style="padding:6px 24px 14px 24px;font-family:Helvetica,Arial,sans-serif;font-size:15px;line-height:1.4;font-weight:700;color:#14181d;overflow-wrap:anywhere;">${headline}</td></tr>
`;
}

/** What does not fit in full: a line each, then a count. */
function restCard(rest: readonly ItemWording[], more: number): Html {
  const lines = rest.map((item) => paragraph(item.headline));
  return card('neutral', [...lines, ...(more === 0 ? [] : [paragraph(wordMore(more))]), cardEnd()]);
}

function renderReport(message: ReportMessage, charts: readonly ChartPlan[]): string {
  const words = wordReport(message, accountsShown);
  const more = words.more === 0 ? [] : [paragraph(`and ${plural(words.more, 'more account')}`, 'dim')];
  const summary = card('info', [
    cardTitle({
      tone: 'info',
      word: 'REPORT',
      title: words.headline.replace(/^REPORT · /, ''),
      level: 'main',
    }),
    ...(words.runsOut === null ? [] : [paragraph(words.runsOut)]),
    paragraph(words.period, 'dim'),
    overviewTable(words.accounts.flatMap(overviewRows)),
    ...more,
    ...words.totals.map((total) => paragraph(total)),
    buttons(pageLinks(message)),
    cardEnd(),
  ]);
  const accounts = words.accounts
    .slice(0, accountCards)
    .map((account, index) => accountCard(account, chartAt(charts, index)));
  return emailPage({
    title: messageSubject(message),
    preview: words.headline,
    body: [summary, ...accounts, footer(sender)],
  });
}

/** One row a balance: the account, what is left, and how long it lasts. */
function overviewRows(account: ReportAccountWording): readonly (readonly string[])[] {
  if (account.lines.length === 0) return [[account.name, account.read, 'unknown']];
  return account.lines.map((line) => [`${account.name} ${line.label}`, line.balance, line.lasts]);
}

function accountCard(account: ReportAccountWording, chart: ChartPlan | undefined): Html {
  const { tone, word } = account.state;
  const rows = account.lines.map((line) =>
    figureTable([
      { label: `${line.label} balance`, value: line.balance },
      { label: 'Spending', value: `${line.perDay} per day` },
      ...(line.toppedUp === 'none' ? [] : [{ label: 'Topped up', value: line.toppedUp }]),
      { label: 'Lasts', value: `${line.runway}; ${line.forecasts}` },
    ]),
  );
  return card(tone, [
    cardTitle({ tone, word, title: account.name, level: 'sub' }),
    paragraph(`${account.incidents}, ${account.read}`, 'dim'),
    adviceBox(tone, account.advice === null ? [] : [account.advice]),
    ...rows,
    ...(chart === undefined ? [] : [chartImage(chart.cid, chart.alt)]),
    cardEnd(),
  ]);
}

function renderTest(message: TestMessage): string {
  const headline = testHeadline(message);
  const body = [
    card('info', [
      cardTitle({ tone: 'info', word: 'TEST', title: headline.replace(/^TEST · /, ''), level: 'main' }),
      paragraph(testStory(message)),
      cardEnd(),
    ]),
    footer(sender),
  ];
  return emailPage({ title: messageSubject(message), preview: headline, body });
}

function chartAt(charts: readonly ChartPlan[], index: number): ChartPlan | undefined {
  return charts.find((chart) => chart.index === index);
}
