import { wordMatcher } from '../../domain/matcher.ts';
import { severities } from '../../domain/severity.ts';
import type { LiveViews, SilenceView } from '../../views/views.ts';
import { type Html, html } from '../html.ts';
import { durationField, personFields, textChoice } from './forms.ts';
import { live } from './live.ts';
import { badge, type Frame, momentAndAge } from './words.ts';

/** An order that was refused, with the reason in words. */
export interface MistakenSilence {
  readonly form: URLSearchParams;
  readonly problem: string;
}

/** All silences and a form for a new one. */
export function renderSilences(views: LiveViews, frame: Frame, mistaken: MistakenSilence | null): Html {
  const given = (name: string): string => mistaken?.form.get(name) ?? '';
  const choices = views.choices();
  return html`<h1>Silences</h1>
<p class="lead">While a silence is active, matching alerts change their state and nothing is sent. What still fires when it ends is sent then.</p>
${live('silences', silenceTable(views.silences(), frame, '/silences'))}
<section aria-labelledby="new-heading"><h2 id="new-heading">New silence</h2>
<form class="panel" method="post" action="/silences">${mistaken !== null && html`<p class="problem" role="alert">${mistaken.problem}</p>`}<input type="hidden" name="back" value="/silences">
${textChoice('account', 'Account', choices.accounts, given('account'))}
${textChoice('rule', 'Rule', choices.rules, given('rule'))}
${textChoice('label', 'Label', choices.labels, given('label'))}
<label>Severity <select name="severity"><option value="">every severity</option>${severities.map((severity) => html`<option value="${severity}">${severity}</option>`)}</select></label>
${durationField()}
${personFields()}
<label><input type="checkbox" name="everything" value="yes"> Mute every alert of every account (only where nothing above is chosen)</label>
<button>Silence</button></form></section>`;
}

export function silenceTable(silences: readonly SilenceView[], frame: Frame, back: string): Html {
  if (silences.length === 0) return html`<p class="empty">Nothing is silenced.</p>`;
  return html`<div class="scroll" role="group" aria-label="Silences" tabindex="0"><table class="cards">
<thead><tr><th scope="col">State</th><th scope="col">Mutes</th><th scope="col">From</th><th scope="col">Until</th><th scope="col">By</th><th scope="col">Comment</th><th scope="col">End it</th></tr></thead>
<tbody>${silences.map((silence) => silenceRow(silence, frame, back))}</tbody></table></div>`;
}

function silenceRow(silence: SilenceView, frame: Frame, back: string): Html {
  const what = wordMatcher(silence.match);
  return html`<tr><td data-label="State">${silence.active ? badge('silence', 'Active') : badge('pending', 'Planned')}</td><th scope="row">${what}</th>
<td data-label="From">${momentAndAge(silence.startsAt, frame)}</td><td data-label="Until">${momentAndAge(silence.endsAt, frame)}</td>
<td data-label="By"><bdi>${silence.by}</bdi></td><td data-label="Comment"><bdi>${silence.comment}</bdi></td>
<td data-label="End it">${endSilenceForm(silence, back)}</td></tr>`;
}

/** The button that ends a silence; the configuration's are ended there. */
export function endSilenceForm({ id, match }: SilenceView, back: string): Html {
  if (id === null) return html`<span class="soft">from the configuration</span>`;
  return html`<form method="post" action="/silences/${encodeURIComponent(id)}/expire"><input type="hidden" name="back" value="${back}"><button class="quiet">End now<span class="hidden"> the silence of ${wordMatcher(match)}</span></button></form>`;
}
