import type { IncidentMessage, Message, MessageItem, ReportMessage } from '../../domain/message.ts';
import { ownOf } from '../../domain/own.ts';
import { cleanCurrency, cutLines } from '../../domain/plain-text.ts';
import { amountOf, unitOf } from '../../domain/reading.ts';
import { dayMs } from '../../domain/time.ts';
import { type ItemWording, readerOf, type Tone, toneIcons } from '../../messages/item-wording.ts';
import {
  pageLinks,
  sayMore,
  testHeadline,
  testStory,
  wordIncidents,
} from '../../messages/message-wording.ts';
import { type ReportAccountWording, wordReport } from '../../messages/report-wording.ts';
import { joinSentences, labelled, withoutStop } from '../../wording/lists.ts';
import type { Reader } from '../../wording/moments.ts';
import { sayAmount } from '../../wording/quantity-wording.ts';
import { drawSparkline } from '../../wording/sparkline.ts';
import { buttonsOf, type ChatButton, sayQuietMenu } from '../chats/buttons.ts';
import { breakMentions, cutUnits, fitFacts } from '../markdown.ts';
import { type Mention, mentionsIn } from '../mention.ts';
import {
  actions,
  context,
  cutEscaped,
  escapeSlack,
  fields,
  literalMrkdwn,
  pressable,
  type SlackBlock,
  section,
  unescapeSlack,
} from './slack-blocks.ts';

/** Slack's limits in characters (docs.slack.dev, Block Kit reference), and ours if it documents none. */
const limits = {
  fallback: 600,
  details: 800,
  url: 3000,
  groupedUrls: 2400,
  report: 2900,
  account: 800,
  shown: 8,
} as const;

const colours: Readonly<Record<Tone, string>> = {
  critical: '#d92d20',
  warning: '#e8890c',
  info: '#2e77d0',
  good: '#1a8f4c',
  neutral: '#8a8f98',
};

export interface SlackPayload {
  /** Text that a phone's notification shows too. Slack draws it above the attachment, which does not repeat it. */
  readonly text: string;
  /** Off if nobody is mentioned: the text is shown as it is written. */
  readonly mrkdwn: boolean;
  readonly attachments?: { readonly color: string; readonly fallback: string; blocks: SlackBlock[] }[];
}

/**
 * A message as Block Kit in one coloured attachment, far below Slack's limits for every message.
 * Names and reasons stand in plain text elements, where nothing is markup; mrkdwn holds our labels and
 * numbers only. `isHeard`: people act by its buttons.
 */
export function renderSlack(message: Message, mention: Mention = {}, isHeard = false): SlackPayload {
  const payload =
    message.kind === 'incidents'
      ? renderIncidents(message, isHeard)
      : message.kind === 'report'
        ? renderReport(message)
        : payloadOf(testHeadline(message), 'info', [section(testStory(message))]);
  return withMentions(payload, mentionsIn(message, mention));
}

/** The same message as one short line: what is sent when Slack cannot take the blocks. */
export function renderSlackPlainly(message: Message, mention: Mention = {}): SlackPayload {
  const { text, mrkdwn } = renderSlack(message, mention);
  return { text, mrkdwn };
}

/** The same payload for chat.update, which draws every text as mrkdwn: nothing in it is markup that was not meant. */
export function asMarkdown(payload: SlackPayload): SlackPayload {
  if (payload.mrkdwn) return payload;
  return { ...payload, text: literalMrkdwn(unescapeSlack(payload.text)), mrkdwn: true };
}

/** Mentions stand in the text before the headline: within an attachment they call nobody. */
function withMentions(payload: SlackPayload, people: readonly string[]): SlackPayload {
  if (people.length === 0) return payload;
  const tags = people.map((person) => {
    if (/^[UW]/.test(person)) return `<@${person}>`;
    return person.startsWith('S') ? `<!subteam^${person}>` : `<!${person}>`;
  });
  const { text, ...literal } = asMarkdown(payload);
  return { ...literal, text: `${tags.join(' ')} ${text}` };
}

function renderIncidents(message: IncidentMessage, isHeard: boolean): SlackPayload {
  const words = wordIncidents(message, limits.shown);
  const [item] = message.items;
  const [only] = words.items;
  const single = message.items.length === 1 && item !== undefined && only !== undefined;
  const buttons = message.items.map((each) => (isHeard ? buttonsOf(each, readerOf(message)) : []));
  const blocks = single
    ? itemBlocks(only, item, message, buttons[0] ?? [])
    : groupBlocks(words, message, buttons);
  // Previews show the beginning: account and amount; the icon before them says how bad it is.
  const headline = single ? `${only.subject} · ${only.stateWord}` : words.headline;
  return payloadOf(headline, words.tone, blocks);
}

function itemBlocks(
  words: ItemWording,
  item: MessageItem,
  message: IncidentMessage,
  buttons: readonly ChatButton[],
): readonly SlackBlock[] {
  const trend = sparklineOf(item, readerOf(message));
  const links = words.links.filter(({ kind, url }) => url.length <= limits.url && !isPressed(kind, buttons));
  return [
    section(joinSentences(words.story)),
    ...fields(words.figures),
    ...words.advice.map((sentence) => section(`👉 ${sentence}`)),
    ...(words.note === null ? [] : [section(`📌 ${words.note}`)]),
    ...(trend === null ? [] : [context(trend)]),
    ...pressable(buttons, sayQuietMenu(readerOf(message))),
    ...actions(
      links.map(({ kind, label, url }) => ({ label, url, id: kind })),
      buttons.length === 0,
    ),
    context(words.origin),
  ];
}

/** Whether a button does the same here: a link would lead to the page. */
function isPressed(link: string, buttons: readonly ChatButton[]): boolean {
  return link === 'acknowledge' && buttons.length > 0;
}

function groupBlocks(
  words: ReturnType<typeof wordIncidents>,
  message: IncidentMessage,
  buttons: readonly (readonly ChatButton[])[],
): readonly SlackBlock[] {
  const more = words.more === 0 ? [] : [context(sayMore(words.more, message))];
  const links = groupedLinks(words.items, buttons);
  return [
    ...words.items.flatMap((item, index) => [
      groupedItem(item),
      groupedDetails(item),
      ...pressable((buttons[index] ?? []).slice(0, 1)),
      ...(links[index] ?? []),
    ]),
    ...more,
    ...pageButton(message),
  ];
}

/** One item among others: its headline, and the one sentence that helps most. */
function groupedItem(item: ItemWording): SlackBlock {
  const help = item.advice[0] ?? item.story[0] ?? '';
  const headline = fitFacts(item.headline, ({ length }) => length <= 160);
  return section(`${toneIcons[item.tone]} ${headline}\n${cutUnits(help, 140)}`, 310);
}

/** The links of each item except those to the page, the first ones first, as far as all addresses together are short enough. */
function groupedLinks(
  items: readonly ItemWording[],
  buttons: readonly (readonly ChatButton[])[],
): readonly (readonly SlackBlock[])[] {
  let left: number = limits.groupedUrls;
  return items.map((item, index) => {
    const links = item.links.filter(({ kind, url }) => {
      if (kind === 'page' || url.length > left || isPressed(kind, buttons[index] ?? [])) return false;
      left -= url.length;
      return true;
    });
    return actions(links.map(({ kind, label, url }) => ({ label, url, id: `${kind}-${index}` })));
  });
}

/** The small print of every message: since when, the numbers and their age, the note, the rest of its story, the rule. */
function groupedDetails(item: ItemWording): SlackBlock {
  const figures = item.figures.map(({ label, value }) => labelled(label, value));
  // Without advice, the first sentence was shown above already.
  const story = item.story.slice(item.advice.length > 0 ? 0 : 1).map(withoutStop);
  const [begun, more] = [story.slice(0, 1).map((sentence) => cutUnits(sentence, 160)), story.slice(1)];
  const note = item.note === null ? [] : [`📌 ${item.note}`];
  return context(joinWhole([...begun, ...figures, ...note, ...more, item.origin], limits.details));
}

/** Facts as far as there is room, the first ones first, each whole. */
function joinWhole(texts: readonly string[], limit: number): string {
  const [first = '', ...rest] = texts;
  let joined = cutUnits(first, limit);
  for (const text of rest) {
    const longer = `${joined} · ${text}`;
    if (longer.length > limit) break;
    joined = longer;
  }
  return joined;
}

function renderReport(message: ReportMessage): SlackPayload {
  const words = wordReport(message, limits.shown);
  const more = words.more === 0 ? [] : [context(sayMore(words.more, message))];
  const runsOut = words.runsOut === null ? [] : [words.runsOut];
  const blocks: readonly SlackBlock[] = [
    section(cutLines([...runsOut, words.period, ...words.totals].join('\n'), limits.report)),
    ...words.accounts.map(reportSection),
    ...more,
    ...pageButton(message),
  ];
  return payloadOf(words.headline, 'info', blocks);
}

function reportSection(account: ReportAccountWording): SlackBlock {
  const lines = account.lines.map(
    (line) => `${line.label} ${line.balance} · ${line.perDay} · ${line.runwayClause} · ${line.forecasts}`,
  );
  const advice = account.advice === null ? [] : [`👉 ${account.advice}`];
  return section(
    cutLines([`${account.name} · ${account.status}`, ...lines, ...advice].join('\n'), limits.account),
  );
}

function payloadOf(headline: string, tone: Tone, blocks: readonly SlackBlock[]): SlackPayload {
  // Slack takes no bare `@` as a mention; Mattermost and Rocket.Chat do, and Rocket.Chat may refuse the message for it.
  const literal = escapeSlack(breakMentions(`${toneIcons[tone]} ${headline}`));
  const text = cutEscaped(literal, limits.fallback);
  return {
    text,
    mrkdwn: false,
    attachments: [{ color: colours[tone], fallback: text, blocks: [...blocks] }],
  };
}

function pageButton(message: Message): readonly SlackBlock[] {
  return actions(pageLinks(message).map((link, index) => ({ ...link, id: `page-${index}` })));
}

/** The last 24 hours of the balance in one line; null if fewer than two readings are known. */
function sparklineOf(item: MessageItem, reader: Reader): string | null {
  const { now } = reader;
  const { account, balance } = item;
  if (account === null || balance === null) return null;
  const readings = account.history.filter(
    ({ at, balances }) => at >= now - dayMs && at <= now && ownOf(balances, balance) !== undefined,
  );
  const [first] = readings;
  const last = readings.at(-1);
  if (first === undefined || last === undefined || readings.length < 2) return null;
  const points = readings.map((reading) => ({ at: reading.at, value: amountOf(reading, balance) }));
  const line = drawSparkline({ points, since: now - dayMs, until: now + 1, width: 24 });
  const ends = [first, last].map((reading) =>
    sayAmount(amountOf(reading, balance), {
      ...reader,
      currency: cleanCurrency(unitOf({ balances: account.balances, currency: reading.currency }, balance)),
    }),
  );
  return `24 h  ${line}  ${ends.join(' → ')}`;
}
