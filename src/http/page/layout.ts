import type { Severity } from '../../domain/severity.ts';
import { Html, type HtmlValue, html, sayHtml } from '../../wording/html.ts';
import { phrases, say } from '../../wording/phrase.ts';
import { assetPath } from '../assets.ts';
import { choiceLink } from './forms.ts';
import { live } from './live.ts';
import { moment } from './markup.ts';
import { scriptWords } from './script-words.ts';
import { type Frame, pages } from './words.ts';

const says = phrases('show', {
  skip: 'Skip to content',
  asOf: 'as of {moment}.',
  asOfIn: 'as of {moment}, times in {zone}.',
  metrics: 'Metrics',
  pages: 'Pages',
  signOut: 'Sign out',
});

export interface LayoutOptions {
  readonly title: string;
  readonly content: HtmlValue;
  readonly frame: Frame;
  /** Null on pages for people who are not signed in: they get no links to the other pages. */
  readonly chrome: Chrome | null;
  readonly done?: HtmlValue;
  readonly scripts?: readonly string[];
  readonly styles?: readonly string[];
  readonly worst?: Worst;
  /** Whether the content stays as it was when it was requested: then only the frame around it is kept fresh. */
  readonly isStill?: boolean;
  readonly reload?: boolean;
}

export type PageName = (typeof navigated)[number];

/** The frame around the content of a page for a person who is signed in. */
export interface Chrome {
  readonly current: PageName | null;
  readonly canSignOut: boolean;
  readonly version: string;
  /** Facts that nobody may miss: problems of lowwater itself, and silences. */
  readonly notices: Html;
  /** The forms for choosing zone and language. */
  readonly zone: Html;
}

/** The worst severity that needs attention; `unsure` if not everything is known, null if there is nothing to say. */
export type Worst = Severity | 'unsure' | null;

/** The whole document around the content of a page. */
export function layOut(options: LayoutOptions): Html {
  const { title, content, frame, chrome, done, worst = null, reload = false } = options;
  const { scripts = [], styles = [], isStill = false } = options;
  const at = moment(frame.now, frame);
  const asOf = isStill ? html`<span data-live="as-of">${at}</span>` : live('as-of', at, { tag: 'span' });
  const iconPath = assetPath(worst === null || worst === 'info' ? 'icon.svg' : `icon-${worst}.svg`);
  return html`<!doctype html>
<html lang="${frame.language.id}" data-now="${frame.now}"${(chrome !== null || scripts.length > 0) && html` data-words="${scriptWords(frame.language)}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
${reload && html`<meta http-equiv="refresh" content="0">`}
${live('title', title, { tag: 'title', attributes: html`data-icon="${iconPath}"` })}
<link rel="icon" href="${iconPath}" type="image/svg+xml">
${[...styles, 'lowwater.css'].map((name) => html`<link rel="stylesheet" href="${assetPath(name)}">\n`)}
${[...scripts, ...(chrome === null ? [] : ['keys.js', 'typed.js'])].map((name) => html`<script type="module" src="${assetPath(name)}"></script>\n`)}
</head>
<body>
<p id="lost" class="lost-banner" role="alert" data-icon="${assetPath('icon-unsure.svg')}" hidden></p>
${sprite}
<a class="skip" href="#main">${say(says.skip, frame)}</a>
<header class="top"><div class="wrap">
<a class="brand" href="/"><svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><use href="#i-mark"/></svg>lowwater</a>
${chrome !== null && navigation(chrome, frame)}
</div></header>
<main id="main" class="wrap" tabindex="-1">
${chrome !== null && live('notices', chrome.notices)}
${done !== undefined && html`<p class="done" role="status">${done}</p>`}
${content}
</main>
<footer class="wrap">
<p>${chrome !== null && html`lowwater ${live('version', chrome.version, { tag: 'span' })} · `}${chrome === null ? sayHtml(says.asOfIn, { moment: asOf, zone: frame.timezone }, frame) : sayHtml(says.asOf, { moment: asOf }, frame)} <span id="connection" role="status"></span></p>
${chrome?.zone}
${chrome !== null && html`<p>${chrome.canSignOut && html`<a href="/sessions">${say(pages.sessions, frame)}</a> · `}<a href="/audit">${say(pages.audit, frame)}</a> · <a href="/api/v1/openapi.json">API</a> · <a href="/metrics">${say(says.metrics, frame)}</a></p>`}
</footer>
</body>
</html>
`;
}

function navigation({ current, canSignOut }: Chrome, frame: Frame): Html {
  const link = (page: PageName): Html =>
    choiceLink(page === 'overview' ? '/' : `/${page}`, say(pages[page], frame), page === current, 'page');
  return html`<nav aria-label="${say(says.pages, frame)}">${navigated.map(link)}</nav>
${canSignOut && html`<form class="sign-out" method="post" action="/sign-out"><button class="quiet">${say(says.signOut, frame)}</button></form>`}`;
}

const navigated = ['overview', 'alerts', 'pay', 'silences', 'review', 'messages'] as const;

/** Every icon, defined once. Icons differ in shape, not only in colour. */
const sprite = new Html(`<svg class="sprite" width="0" height="0" aria-hidden="true" focusable="false">
<pattern id="not-read" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" x2="0" y1="0" y2="8"/></pattern>
<symbol id="i-mark" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5c73"/><path d="M5 12.5c2.8-2.6 5.2-2.6 8 0s5.2 2.6 8 0 4.4-2.3 6-1" fill="none" stroke="#9adcf0" stroke-width="2.6" stroke-linecap="round"/><path d="M5 19.500h22" stroke="#ffd479" stroke-width="2.6" stroke-linecap="round" stroke-dasharray="3.5 4.2"/><path d="M5 25.500h22" stroke="#9adcf0" stroke-width="2.6" stroke-linecap="round" opacity=".45"/></symbol>
<symbol id="i-critical" viewBox="0 0 16 16"><path d="M5 1h6l4 4v6l-4 4H5l-4-4V5z" fill="currentColor"/><path d="M8 4.200v4.600M8 11.200v.6" stroke="var(--surface)" stroke-width="2" stroke-linecap="round"/></symbol>
<symbol id="i-warning" viewBox="0 0 16 16"><path d="M8 1.2 15.3 14.500H.7z" fill="currentColor" stroke="currentColor" stroke-linejoin="round"/><path d="M8 6v3.700M8 12v.3" stroke="var(--surface)" stroke-width="1.8" stroke-linecap="round"/></symbol>
<symbol id="i-info" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="currentColor"/><path d="M8 7.400v4.200M8 4.300v.3" stroke="var(--surface)" stroke-width="2" stroke-linecap="round"/></symbol>
<symbol id="i-good" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="m4.8 8.2 2.3 2.3 4.2-4.7" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/></symbol>
<symbol id="i-pending" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.8" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M8 4v4.200l2.8 1.7" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"/></symbol>
<symbol id="i-unread" viewBox="0 0 16 16"><path d="M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8z" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M3 14 13 2" stroke="currentColor" stroke-width="1.7" stroke-linecap="round"/></symbol>
<symbol id="i-neutral" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.8" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="3 2.3"/></symbol>
<symbol id="i-silence" viewBox="0 0 16 16"><path d="M3 11.500V7a5 5 0 0 1 10 0v4.500zM6.5 13.800h3" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/><path d="m2 1.5 12 13" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"/></symbol>
<symbol id="i-person" viewBox="0 0 16 16"><circle cx="8" cy="5" r="3" fill="none" stroke="currentColor" stroke-width="1.5"/><path d="M2.5 14c.6-3 2.7-4.5 5.5-4.500s4.9 1.5 5.5 4.5" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/></symbol>
</svg>`);
