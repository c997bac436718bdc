import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { plural } from '../../domain/plain-text.ts';
import { wordMatcher } from '../../domain/rule.ts';
import { isShortToken, shortTokenAdvice } from '../../domain/secret.ts';
import type { ServerSettings } from '../../domain/settings.ts';
import { type Severity, severities } from '../../domain/severity.ts';
import type { Trials } from '../../replay/trial.ts';
import type { FiringView, LiveViews, SilenceView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import type { Guard } from '../access.ts';
import type { WebContext } from '../web-env.ts';
import { needsSomebody } from './alerts.ts';
import { takeDone } from './form-input.ts';
import { type Chrome, type LayoutOptions, layOut, type Worst } from './layout.ts';
import { endSilenceForm } from './silences.ts';
import { zoneForm, zoneOf } from './time-zone.ts';
import { type Frame, icon, momentAndAge } from './words.ts';

export interface PageOptions {
  readonly guard: Guard;
  readonly trials: Pick<Trials, 'run'>;
  /** Links of versions before 0.3 were signed with it. */
  readonly ackKey: Buffer;
  readonly timezone: string;
  readonly database: string | null;
}

/** What a form did, as the page after it says. The address names one of these, never the words themselves. */
const doneWords: ReadonlyMap<string, string> = new Map([
  ['acknowledged', 'Acknowledged. Reminders and escalation stop until it resolves or gets worse.'],
  ['given-back', 'Acknowledgement removed. Reminders and escalation go on.'],
  ['acknowledged-many', 'Acknowledged: all of them.'],
  ['partly', 'Some had already ended; the rest are done.'],
  ['none', 'Nothing selected.'],
  ['silenced', 'Silenced.'],
  ['ordered', 'Ordered. The alerts of this balance are acknowledged, and the money is expected.'],
  ['cancelled', 'Cancelled: this money is no longer expected.'],
  ['calendar', 'The calendar has a new address.'],
  ['ended', 'The session has ended.'],
  ['expired', 'The silence has ended.'],
  ['extended', 'The silence lasts longer.'],
  ['zone', 'Saved for this browser.'],
  ['polled', 'Polled.'],
  ['poll-failed', 'Polled, but the balance could not be read.'],
]);

interface Shown extends Pick<LayoutOptions, 'title' | 'content' | 'scripts' | 'styles'> {
  readonly current?: Chrome['current'];
  readonly chrome?: null;
  readonly status?: ContentfulStatusCode;
}

/** Answers with a whole page. */
export function show(
  options: PageOptions,
  context: WebContext,
  { current = null, chrome, status = 200, ...shown }: Shown,
): Response {
  const done = doneWords.get(takeDone(context) ?? '');
  const frame = frameOf(options, context);
  const whole = { ...shown, frame, ...(done === undefined ? {} : { done }) };
  if (chrome === null) return context.html(layOut({ ...whole, chrome }).markup, status);
  const { guard } = options;
  const { views } = context.var;
  const needs = needsOf(views);
  const back = withoutDone(context);
  const items = renderItems(views, guard.settings, frame, back);
  const { markup } = layOut({
    ...whole,
    title: needs.title === null ? shown.title : `${needs.title} · ${shown.title}`,
    worst: needs.worst,
    chrome: {
      current,
      canSignOut: guard.sessions !== null,
      version: views.status().version,
      items,
      zone: zoneForm(frame.timezone, options.timezone, back),
    },
  });
  return context.html(markup, status);
}

/**
 * What title and icon show on every page: how many alerts need attention; else why the absence of alerts is not an all-clear. Problems of
 * lowwater itself always stand there.
 */
function needsOf(views: LiveViews): { readonly worst: Worst; readonly title: string | null } {
  const firing = [...views.firing()];
  const urgent = countWorst(firing.filter(needsSomebody));
  const broken = views.status().problems.length > 0 ? 'lowwater has a problem' : null;
  if (urgent !== null) {
    const { severity, count } = urgent;
    const worst = severity === 'info' && broken !== null ? 'unsure' : severity;
    return { worst, title: listWords([`${count} ${severity}`, broken]) };
  }
  const { accounts, unread } = views.counts();
  const muted = countWorst(firing.filter(({ silenced }) => silenced));
  const silences = views.silences().filter(({ active }) => active).length;
  const title = listWords([
    broken,
    accounts === 0 || unread > 0 ? `${unread} not read` : null,
    muted === null ? null : `${muted.count} ${muted.severity} silenced`,
    muted === null && silences > 0 ? plural(silences, 'silence') : null,
  ]);
  return { worst: title === null ? null : 'unsure', title };
}

/** How many there are of the worst severity among these; null where there are none. */
function countWorst(
  alerts: readonly FiringView[],
): { readonly severity: Severity; readonly count: number } | null {
  const severity = severities.findLast((known) => alerts.some((alert) => alert.severity === known));
  if (severity === undefined) return null;
  return { severity, count: alerts.filter((alert) => alert.severity === severity).length };
}

function listWords(words: readonly (string | null)[]): string | null {
  return words.filter((word) => word !== null).join(', ') || null;
}

function withoutDone(context: WebContext): string {
  if (context.req.method !== 'GET') return '/';
  const url = new URL(context.req.url);
  url.searchParams.delete('done');
  return url.pathname + url.search;
}

export function frameOf({ timezone }: PageOptions, context: WebContext): Frame {
  return { now: context.get('now'), timezone: zoneOf(context, timezone) };
}

const shownSilences = 5;

/** What nobody may overlook, on top of every page: what is wrong with lowwater itself, and what is muted. */
function renderItems(
  views: Pick<LiveViews, 'status' | 'silences'>,
  settings: ServerSettings,
  frame: Frame,
  back: string,
): Html {
  const { token } = settings;
  const short = token !== null && isShortToken(token) ? [`server.token ${shortTokenAdvice}.`] : [];
  return html`${problems([...views.status().problems, ...short])}${muted(
    views.silences().filter(({ active }) => active),
    frame,
    back,
  )}`;
}

function problems(sentences: readonly string[]): Html | null {
  if (sentences.length === 0) return null;
  return html`<section class="problems" aria-label="Problems of lowwater"><h2>${icon('warning')}lowwater itself needs attention</h2><ul>${sentences.map(
    (sentence) => html`<li>${sentence}</li>`,
  )}</ul></section>`;
}

function muted(active: readonly SilenceView[], frame: Frame, back: string): Html | null {
  if (active.length === 0) return null;
  const widestFirst = active.toSorted((left, right) => keys(left) - keys(right));
  const more = active.length - shownSilences;
  return html`<section class="muted" aria-label="What is silenced"><h2>${icon('silence')}Silenced</h2><ul>${widestFirst
    .slice(0, shownSilences)
    .map(
      (silence) =>
        html`<li><span><strong>${wordMatcher(silence.match)}</strong> until ${momentAndAge(silence.endsAt, frame)}, by <bdi>${silence.by}</bdi>${
          silence.comment !== '' && html`: <q>${silence.comment}</q>`
        }</span>${endSilenceForm(silence, back)}</li>`,
    )}</ul>${more > 0 && html`<p><a href="/silences">and ${more} more</a></p>`}</section>`;
}

/** How many keys narrow it down: none mutes everything. */
function keys({ match }: SilenceView): number {
  const { account, rule, severity, labels } = match;
  return (
    [account, rule, severity].filter((key) => key !== undefined).length + Object.keys(labels ?? {}).length
  );
}
