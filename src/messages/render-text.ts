import type { IncidentMessage, Message, ReportMessage } from '../domain/message.ts';
import { labelled } from '../wording/lists.ts';
import { phrases, say } from '../wording/phrase.ts';
import { type ItemWording, readerOf } from './item-wording.ts';
import { pageLinks, sayMore, testHeadline, testStory, wordIncidents } from './message-wording.ts';
import { wordReport } from './report-wording.ts';

const itemsShown = 20;
const accountsShown = 200;

/** A message as lines of plain text of at most `width` characters where words allow it; no newline at the end. */
export function renderText(message: Message, width: number): string {
  switch (message.kind) {
    case 'incidents':
      return renderIncidents(message, width).join('\n');
    case 'report':
      return renderReport(message, width).join('\n');
    case 'test':
      return [...wrap(testHeadline(message), 0, width), ...wrap(testStory(message), 2, width)].join('\n');
  }
}

/** Characters two columns wide (Unicode UAX #11); those beyond the BMP are two units long anyway. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/g;

/** Text that stays together on a line: a word with the wide character right after it, or one wide character; with punctuation and space. */
const breakable = new RegExp(
  `[（【「]*(?:${wide.source}|(?:(?!${wide.source})[^ ])+${wide.source}?)[，。：；、）」”】]* ?| `,
  'g',
);

function columnsOf(text: string): number {
  return text.length + (text.match(wide)?.length ?? 0);
}

export function wrap(text: string, indent: number, width: number): readonly string[] {
  const room = Math.max(20, width - indent);
  const lines: string[] = [];
  let line = '';
  for (const piece of text.match(breakable) ?? []) {
    if (line !== '' && columnsOf((line + piece).trimEnd()) > room) {
      lines.push(line);
      line = '';
    }
    line += piece;
  }
  lines.push(line);
  return lines.map((each) => ' '.repeat(indent) + each.trimEnd());
}

function renderIncidents(message: IncidentMessage, width: number): readonly string[] {
  const words = wordIncidents(message, itemsShown);
  if (words.items.length === 1 && words.more === 0)
    return words.items.flatMap((item) => renderItem(item, width));
  const more = words.more === 0 ? [] : [sayMore(words.more, message)];
  const items = words.items.flatMap((item) => ['', ...renderItem(item, width)]);
  const tail = [...more, ...linesOf(pageLinks(message))];
  return [...wrap(words.headline, 0, width), ...items, ...(tail.length === 0 ? [] : ['', ...tail])];
}

function renderItem(item: ItemWording, width: number): readonly string[] {
  const widest = item.figures.reduce((most, { label }) => Math.max(most, columnsOf(label)), 0);
  const figures = item.figures.flatMap(({ label, value }) => {
    const [first = '', ...rest] = wrap(value, widest + 4, width);
    return [`  ${label}${' '.repeat(widest - columnsOf(label))}  ${first.trimStart()}`, ...rest];
  });
  const advice = item.advice.flatMap((sentence) => wrap(`→ ${sentence}`, 2, width));
  return [
    ...wrap(item.headline, 0, width),
    ...item.story.flatMap((sentence) => wrap(sentence, 2, width)),
    ...figures,
    ...advice,
    ...(item.noteLine === null ? [] : wrap(item.noteLine, 2, width)),
    ...linesOf(item.links),
    ...wrap(item.origin, 2, width),
  ];
}

function linesOf(links: ReturnType<typeof pageLinks>): readonly string[] {
  return links.map(({ label, url }) => `  ${labelled(label, url)}`);
}

const says = phrases('reportText', {
  line: '{label} {balance}; spent {perDay}; nothing topped up; {runway}',
  lineToppedUp: '{label} {balance}; spent {perDay}; topped up {toppedUp}; {runway}',
});

function renderReport(message: ReportMessage, width: number): readonly string[] {
  const reader = readerOf(message);
  const words = wordReport(message, accountsShown);
  const accounts = words.accounts.flatMap((account) => [
    '',
    `  ${account.name} (${account.id})`,
    ...wrap(account.status, 4, width),
    ...account.lines.flatMap((line) => [
      ...wrap(
        say(
          line.toppedUp === null ? says.line : says.lineToppedUp,
          { ...line, toppedUp: line.toppedUp ?? '', runway: line.runwayClause },
          reader,
        ),
        4,
        width,
      ),
      ...wrap(line.forecasts, 6, width),
    ]),
    ...(account.advice === null ? [] : wrap(`→ ${account.advice}`, 4, width)),
  ]);
  return [
    ...wrap(words.headline, 0, width),
    ...(words.runsOut === null ? [] : wrap(words.runsOut, 2, width)),
    ...wrap(words.period, 2, width),
    ...words.totals.flatMap((total) => wrap(total, 2, width)),
    ...accounts,
    ...(words.more === 0 ? [] : ['', `  ${sayMore(words.more, message)}`]),
    ...linesOf(pageLinks(message)).flatMap((line) => ['', line]),
  ];
}
