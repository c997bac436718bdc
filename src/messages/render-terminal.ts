import type { IncidentMessage, Message, ReportMessage } from '../domain/message.ts';
import { plural } from '../domain/moment.ts';
import { testHeadline, testStory, wordIncidents, wordMore } from './message-wording.ts';
import type { Tone } from './notice-tone.ts';
import type { NoticeWording } from './notice-wording.ts';
import { wordReport } from './report-wording.ts';

/** `width` in columns; `colour` allows ANSI sequences. */
export interface TerminalStyle {
  readonly colour: boolean;
  readonly width: number;
}

const ansi = {
  critical: '1;31',
  warning: '1;33',
  info: '1;36',
  good: '1;32',
  neutral: '1',
  dim: '2',
} as const;

const noticesShown = 20;
const accountsShown = 200;

/** A message as lines of text no wider than `style.width` where words allow it; no newline at the end. */
export function renderTerminal(message: Message, style: TerminalStyle): string {
  switch (message.kind) {
    case 'incidents':
      return renderIncidents(message, style).join('\n');
    case 'report':
      return renderReport(message, style).join('\n');
    case 'test':
      return [
        ...heading(testHeadline(message), 'info', style),
        ...wrap(testStory(message), 2, style.width),
      ].join('\n');
  }
}

/** Breaks a text at spaces into lines of at most `width` columns, each indented by `indent`. */
function wrap(text: string, indent: number, width: number): readonly string[] {
  const room = Math.max(20, width - indent);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines.map((each) => ' '.repeat(indent) + each);
}

function renderIncidents(message: IncidentMessage, style: TerminalStyle): readonly string[] {
  const words = wordIncidents(message, noticesShown);
  if (words.notices.length === 1 && words.more === 0)
    return words.notices.flatMap((notice) => renderNotice(notice, style));
  const more = words.more === 0 ? [] : [paint(wordMore(words.more), 'dim', style)];
  const notices = words.notices.flatMap((notice) => ['', ...renderNotice(notice, style)]);
  return [...heading(words.headline, words.tone, style), ...notices, ...more];
}

function renderNotice(notice: NoticeWording, style: TerminalStyle): readonly string[] {
  const widest = notice.figures.reduce((most, { label }) => Math.max(most, label.length), 0);
  const figures = notice.figures.flatMap(({ label, value }) => {
    const [first = '', ...rest] = wrap(value, widest + 4, style.width);
    return [`  ${paint(label.padEnd(widest), 'dim', style)}  ${first.trimStart()}`, ...rest];
  });
  const advice = notice.advice.flatMap((sentence) => wrap(`→ ${sentence}`, 2, style.width));
  return [
    ...heading(notice.headline, notice.tone, style),
    ...notice.story.flatMap((sentence) => wrap(sentence, 2, style.width)),
    ...figures,
    ...advice,
    ...(notice.note === null ? [] : wrap(`Note: ${notice.note}`, 2, style.width)),
    ...notice.links.map(({ label, url }) => `  ${label}: ${url}`),
    ...wrap(notice.origin, 2, style.width).map((line) => paint(line, 'dim', style)),
  ];
}

function renderReport(message: ReportMessage, style: TerminalStyle): readonly string[] {
  const words = wordReport(message, accountsShown);
  const accounts = words.accounts.flatMap((account) => [
    '',
    `  ${paint(account.name, 'neutral', style)} (${account.id})`,
    ...wrap(`${account.incidents}, ${account.read}`, 4, style.width),
    ...account.lines.flatMap((line) => [
      ...wrap(
        `${line.label} ${line.balance}; spent ${line.perDay} per day; topped up ${line.toppedUp}; ${line.lasting}`,
        4,
        style.width,
      ),
      ...wrap(line.forecasts, 6, style.width),
    ]),
    ...(account.advice === null ? [] : wrap(`→ ${account.advice}`, 4, style.width)),
  ]);
  return [
    ...heading(words.headline, 'info', style),
    ...(words.runsOut === null ? [] : wrap(words.runsOut, 2, style.width)),
    ...wrap(words.period, 2, style.width),
    ...words.totals.flatMap((total) => wrap(total, 2, style.width)),
    ...accounts,
    ...(words.more === 0 ? [] : ['', `  and ${plural(words.more, 'more account')}`]),
  ];
}

function heading(text: string, tone: Tone, style: TerminalStyle): readonly string[] {
  return wrap(text, 0, style.width).map((line) => paint(line, tone, style));
}

function paint(text: string, code: keyof typeof ansi, style: TerminalStyle): string {
  return style.colour ? `\u001b[${ansi[code]}m${text}\u001b[0m` : text;
}
