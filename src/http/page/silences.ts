import { wordMatcher } from '../../domain/rule.ts';
import type { LiveViews, SilenceView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { live } from './live.ts';
import { type GivenSilence, silenceFields } from './silence-form.ts';
import { badge, type Frame, moment, momentAndAge } from './words.ts';

const longer = { name: '2h', words: 'Extend by 2 h' };

/** All silences and a form for a new one; `given` is one that needs a change. */
export function renderSilences(views: LiveViews, frame: Frame, given: GivenSilence): Html {
  return html`<h1>Silences</h1>
<p class="lead">While a silence is active, matching alerts change their state and nothing is sent. What still fires when it ends is sent then.</p>
${live('silences', silenceTable(views.silences(), frame, '/silences'))}
<section aria-labelledby="new-heading"><h2 id="new-heading">New silence</h2>
<p class="lead">What it would mute is shown before it begins. Silences that come back, for maintenance, stand in the configuration under <code>silences</code>.</p>
<form class="panel" method="post" action="/silences"><input type="hidden" name="back" value="/silences">
${silenceFields(views.choices(), given, frame)}
<button>Show what it would mute</button></form></section>`;
}

export function silenceTable(silences: readonly SilenceView[], frame: Frame, back: string): Html {
  if (silences.length === 0)
    return html`<p class="empty">Nothing is silenced. An alert can be silenced where it stands, or several by the form below.</p>`;
  return html`<div class="scroll" role="group" aria-label="Silences" tabindex="0"><table class="cards">
<thead><tr><th scope="col">State</th><th scope="col">Mutes</th><th scope="col">From</th><th scope="col">Until</th><th scope="col">By</th><th scope="col">Comment</th><th scope="col">Change it</th></tr></thead>
<tbody>${silences.map((silence) => silenceRow(silence, frame, back))}</tbody></table></div>`;
}

function silenceRow(silence: SilenceView, frame: Frame, back: string): Html {
  const { match, active, startsAt, endsAt, by, comment, laterStarts } = silence;
  return html`<tr><td data-label="State">${active ? badge('silence', 'Active') : badge('pending', 'Planned')}</td><th scope="row">${wordMatcher(match)}</th>
<td data-label="From">${momentAndAge(startsAt, frame)}${laterStarts.length > 0 && html`<span class="sub">then ${laterStarts.map((at, index) => html`${index > 0 && html`, `}${moment(at, frame)}`)}</span>`}</td>
<td data-label="Until">${momentAndAge(endsAt, frame)}</td>
<td data-label="By"><bdi>${by}</bdi></td><td data-label="Comment"><bdi>${comment}</bdi></td>
<td data-label="Change it"><div class="acts">${extendForm(silence, back)}${endSilenceForm(silence, back)}</div></td></tr>`;
}

function extendForm({ id, match }: SilenceView, back: string): Html | null {
  if (id === null) return null;
  return html`<form method="post" action="/silences/${encodeURIComponent(id)}/extend"><input type="hidden" name="back" value="${back}"><input type="hidden" name="for" value="${longer.name}"><button class="quiet">${longer.words}<span class="hidden"> for the silence of ${wordMatcher(match)}</span></button></form>`;
}

/** The button that ends a silence; the configuration's are ended there. */
export function endSilenceForm({ id, match }: SilenceView, back: string): Html {
  if (id === null) return html`<span class="soft">from the configuration</span>`;
  return html`<form method="post" action="/silences/${encodeURIComponent(id)}/expire"><input type="hidden" name="back" value="${back}"><button class="quiet">End now<span class="hidden"> the silence of ${wordMatcher(match)}</span></button></form>`;
}
