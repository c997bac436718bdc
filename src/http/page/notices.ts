import { wordMatcher } from '../../domain/matcher.ts';
import type { ServerSettings } from '../../domain/settings.ts';
import { isShortToken, shortTokenAdvice } from '../../domain/token.ts';
import type { LiveViews, SilenceView } from '../../views/views.ts';
import { type Html, html } from '../html.ts';
import { endSilenceForm } from './silences.ts';
import { type Frame, icon, momentAndAge } from './words.ts';

/** More silences than this are counted, not listed. */
const shownSilences = 5;

/** What nobody may overlook, on top of every page: what is wrong with lowwater itself, and what is muted. */
export function renderNotices(
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
  return html`<section class="muted" aria-label="What is muted"><h2>${icon('silence')}Nothing is sent about</h2><ul>${widestFirst
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
