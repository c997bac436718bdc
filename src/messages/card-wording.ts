import type { IncidentMessage, Message, ReportMessage } from '../domain/message.ts';
import { plural } from '../domain/plain-text.ts';
import type { Figure } from '../rules/kind.ts';
import type { Tone } from './item-tone.ts';
import type { ItemLink, ItemWording } from './item-wording.ts';
import { testHeadline, testStory, wordIncidents, wordMore } from './message-wording.ts';
import { type ReportAccountWording, wordReport } from './report-wording.ts';

/** A message as channels with cards show it. Nothing in it is escaped. */
export interface Card {
  readonly tone: Tone;
  /** Readable alone, in a notification of a phone. */
  readonly headline: string;
  readonly parts: readonly CardPart[];
  readonly more: string | null;
  /** Of the message as a whole; those of a part are in the part. */
  readonly links: readonly Pick<ItemLink, 'label' | 'url'>[];
}

export interface CardPart {
  /** Null where the headline says it. */
  readonly title: string | null;
  readonly tone: Tone;
  readonly lines: readonly string[];
  readonly figures: readonly Figure[];
  readonly advice: readonly string[];
  readonly note: string | null;
  /** In small print. */
  readonly origin: string | null;
  readonly links: readonly Pick<ItemLink, 'label' | 'url'>[];
}

/** Parts that a card has, from all that is worth reading down to what always fits. */
const sizes = [8, 5, 3, 2, 1] as const;

/** Figures of each alert when there are several. */
const figuresAmongOthers = 4;

/**
 * The largest form of a message that its receiver accepts: `render` makes it from a card, `fits` checks it.
 * The last form, a headline alone, is returned unchecked: `render` keeps single texts within their limits.
 */
export function renderFitting<Rendered>(
  message: Message,
  options: { readonly render: (card: Card) => Rendered; readonly fits: (rendered: Rendered) => boolean },
): Rendered {
  for (const size of sizes) {
    const rendered = options.render(wordCard(message, size));
    if (options.fits(rendered)) return rendered;
  }
  return options.render({ ...wordCard(message, 1), parts: [], more: null });
}

export function wordCard(message: Message, maxParts: number): Card {
  switch (message.kind) {
    case 'incidents':
      return wordIncidentCard(message, maxParts);
    case 'report':
      return wordReportCard(message, maxParts);
    case 'test': {
      const part = { ...emptyPart, lines: [testStory(message)] };
      return { tone: 'info', headline: testHeadline(message), parts: [part], more: null, links: [] };
    }
  }
}

const emptyPart: CardPart = {
  title: null,
  tone: 'info',
  lines: [],
  figures: [],
  advice: [],
  note: null,
  origin: null,
  links: [],
};

function wordIncidentCard(message: IncidentMessage, maxParts: number): Card {
  const { headline, tone, items, more } = wordIncidents(message, maxParts);
  const single = message.items.length === 1;
  return {
    tone,
    headline,
    parts: items.map((item) => (single ? wholePart(item) : partAmongOthers(item))),
    more: more === 0 ? null : wordMore(more),
    links: single ? [] : pageLinks(message),
  };
}

function wholePart({ tone, story, figures, advice, note, origin, links }: ItemWording): CardPart {
  return { title: null, tone, lines: story, figures, advice, note, origin, links };
}

function partAmongOthers(item: ItemWording): CardPart {
  return {
    ...wholePart(item),
    title: item.headline,
    lines: item.story.slice(0, 1),
    figures: item.figures.slice(0, figuresAmongOthers),
    advice: item.advice.slice(0, 1),
    links: item.links.filter(({ kind }) => kind === 'top-up' || kind === 'acknowledge'),
  };
}

function wordReportCard(message: ReportMessage, maxParts: number): Card {
  const words = wordReport(message, maxParts);
  return {
    tone: 'info',
    headline: words.headline,
    parts: [
      {
        ...emptyPart,
        lines: [...(words.runsOut === null ? [] : [words.runsOut]), words.period, ...words.totals],
      },
      ...words.accounts.map(accountPart),
    ],
    more: words.more === 0 ? null : `and ${plural(words.more, 'more account')}`,
    links: pageLinks(message),
  };
}

function accountPart(account: ReportAccountWording): CardPart {
  return {
    ...emptyPart,
    title: account.name,
    tone: account.state.tone,
    lines: [`${account.incidents}, ${account.read}`],
    figures: account.lines.map(({ label, balance, perDay, runwayClause, forecasts }) => ({
      label,
      value: `${balance} · ${perDay} per day · ${runwayClause} · ${forecasts}`,
    })),
    advice: account.advice === null ? [] : [account.advice],
  };
}

/** Where the page goes on with a message: with the review of a report's time. Nowhere where its address is not known. */
export function pageLinks(message: Message): Card['links'] {
  const { publicUrl } = message;
  if (publicUrl === null) return [];
  if (message.kind !== 'report') return [{ label: 'Open lowwater', url: `${publicUrl}/` }];
  const [from, to] = [message.since, message.until].map((at) => new Date(at).toISOString());
  return [{ label: 'Review', url: `${publicUrl}/review?from=${from}&to=${to}` }];
}
