import { createHash } from 'node:crypto';
import { Html, type HtmlValue, html } from '../../wording/html.ts';

/** The mark after each part, by which it is found again in the text of a page. */
const end = '<!--/live-->';
const marks = /<(\w+) data-live="([^"]*)" data-is="([^"]*)"|<!--\/live-->/g;
/** Ages are updated by the browser: a part that differs only in ages counts as the same. */
const ages = /(data-age>)[^<]*/g;

export interface LivePart {
  readonly key: string;
  readonly digest: string;
  readonly markup: string;
}

/**
 * A part of a page that is kept fresh: an element with a key that is unique on the page, and a digest of its content.
 * Parts may contain parts. The digest of an outer part covers which inner parts there are, but not their content.
 */
export function live(
  key: string,
  content: HtmlValue,
  { tag = 'div', attributes = html`` }: { readonly tag?: string; readonly attributes?: Html } = {},
): Html {
  const name = html`${key}`.markup;
  const inner = html`${content}`.markup;
  const same = `${name} ${attributes.markup} ${emptyParts(inner)}`.replaceAll(ages, '$1');
  const digest = createHash('sha256').update(same).digest('base64url').slice(0, 6);
  const head = `<${tag} data-live="${name}" data-is="${digest}" ${attributes.markup}`.trimEnd();
  return new Html(`${head}>${inner}</${tag}>${end}`);
}

/** The parts of a page. Inner parts come before those that contain them. */
export function readParts(page: string): readonly LivePart[] {
  const open: { readonly key: string; readonly digest: string; readonly from: number }[] = [];
  const parts: LivePart[] = [];
  for (const { 2: key, 3: digest, index } of page.matchAll(marks)) {
    if (key !== undefined && digest !== undefined) open.push({ key, digest, from: index });
    else {
      const part = open.pop();
      if (part !== undefined) parts.push({ ...part, markup: page.slice(part.from, index) });
    }
  }
  return parts;
}

/** The markup of a part, with an empty element for each inner part: the page has those already, or is sent them too. */
export function withoutInner({ markup }: LivePart): string {
  const start = markup.indexOf('>') + 1;
  return markup.slice(0, start) + emptyParts(markup.slice(start));
}

function emptyParts(markup: string): string {
  let text = '';
  let depth = 0;
  let from = 0;
  for (const { 0: mark, 1: tag, 2: key, index } of markup.matchAll(marks)) {
    if (tag !== undefined) {
      if (depth === 0) text += `${markup.slice(from, index)}<${tag} data-live="${key}"></${tag}>`;
      depth += 1;
    } else {
      depth -= 1;
      from = index + mark.length;
    }
  }
  return text + markup.slice(from);
}
