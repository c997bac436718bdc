import { wordMatcher } from '../../domain/matcher.ts';
import { severities } from '../../domain/severity.ts';
import type { AccountView, LiveViews, SilenceView } from '../../views/views.ts';
import { type Html, html } from '../html.ts';
import { durationField, personFields } from './forms.ts';
import { badge, type Frame, momentAndAge, nameOf } from './words.ts';

/** More accounts than this are typed, not chosen. */
const longestChoice = 200;

/** All silences and a form for a new one. */
export function renderSilences(views: LiveViews, frame: Frame): Html {
  return html`<h1>Silences</h1>
<p class="lead">While a silence is active, matching alerts change their state and nothing is sent. What still fires when it ends is sent then.</p>
<div data-live="silences">${silenceTable(views.silences(), frame, '/silences')}</div>
<section aria-labelledby="new-heading"><h2 id="new-heading">New silence</h2>
<form class="panel" method="post" action="/silences"><input type="hidden" name="back" value="/silences">
${accountField(views.accounts())}
<label>Rule <input name="rule" maxlength="100" placeholder="every rule" autocomplete="off"></label>
<label>Severity <select name="severity"><option value="">every severity</option>${severities.map((severity) => html`<option value="${severity}">${severity}</option>`)}</select></label>
${durationField()}
${personFields()}
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

function accountField(accounts: readonly AccountView[]): Html {
  if (accounts.length > longestChoice) {
    return html`<label>Account <input name="account" maxlength="63" placeholder="id; empty for every account" autocomplete="off"></label>`;
  }
  return html`<label>Account <select name="account"><option value="">every account</option>${accounts.map(
    ({ id, name }) => html`<option value="${id}">${nameOf(name)}</option>`,
  )}</select></label>`;
}
