import { isoText, localText, parseLocalText } from '../../domain/moment.ts';
import type { Muted, Refusal } from '../../domain/operator.ts';
import { plural } from '../../domain/plain-text.ts';
import { matchesEverything, wordMatcher } from '../../domain/rule.ts';
import type { Wanted } from '../../engine/orders.ts';
import type { Views } from '../../views/create-views.ts';
import type { LiveViews } from '../../views/live-views.ts';
import type { SilenceView } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import { summaryOf } from './alerts.ts';
import {
  durationField,
  personFields,
  problemAt,
  readPerson,
  readSeen,
  severityOptions,
  textChoice,
} from './forms.ts';
import { live } from './live.ts';
import {
  accountLink,
  badge,
  type Frame,
  moment,
  momentAndAge,
  severityWord,
  table,
  type Visit,
} from './words.ts';

/** All silences and a form for a new one; `given` is one that needs a change. */
export function renderSilences(visit: Visit, given: GivenSilence): Html {
  const { views } = visit;
  return html`<h1>Silences</h1>
<p class="lead">While a silence is active, matching alerts change their state and nothing is sent. What still fires when it ends is sent then.</p>
${live('silences', silenceTable(views.silences(), visit, '/silences'))}
<section aria-labelledby="new-heading"><h2 id="new-heading">New silence</h2>
<p class="lead">What it would mute is shown before it begins. Silences that come back, for maintenance, stand in the configuration under <code>silences</code>.</p>
<form class="panel" method="post" action="/silences"><input type="hidden" name="back" value="/silences">
${silenceFields(views.choices(), given, visit)}
<button>Show what it would mute</button></form></section>`;
}

export function silenceTable(silences: readonly SilenceView[], frame: Frame, back: string): Html {
  if (silences.length === 0)
    return html`<p class="empty">Nothing is silenced. An alert can be silenced where it stands, or several by the form below.</p>`;
  const head = html`<th scope="col">State</th><th scope="col">Mutes</th><th scope="col">From</th><th scope="col">Until</th><th scope="col">By</th><th scope="col">Comment</th><th scope="col">Change it</th>`;
  const rows = silences.map((silence) => silenceRow(silence, frame, back));
  return table('Silences', 'cards', head, rows);
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
  return html`<form method="post" action="/silences/${encodeURIComponent(id)}/extend"><input type="hidden" name="back" value="${back}"><input type="hidden" name="for" value="2h"><button class="quiet">Extend by 2 h<span class="hidden"> for the silence of ${wordMatcher(match)}</span></button></form>`;
}

/** The button that ends a silence; the configuration's are ended there. */
export function endSilenceForm({ id, match }: SilenceView, back: string): Html {
  if (id === null) return html`<span class="soft">from the configuration</span>`;
  return html`<form method="post" action="/silences/${encodeURIComponent(id)}/expire"><input type="hidden" name="back" value="${back}"><button class="quiet">End now<span class="hidden"> the silence of ${wordMatcher(match)}</span></button></form>`;
}

type SilenceOrder = Omit<Wanted<'silence'>, 'kind'>;

const named = 20;

type Field = 'account' | 'rule' | 'label' | 'starts' | 'ends' | 'everything';

export interface GivenSilence {
  readonly form: URLSearchParams;
  readonly problem: { readonly field: Field; readonly words: string } | null;
}

export const nothingGiven: GivenSilence = { form: new URLSearchParams(), problem: null };

function silenceFields(
  choices: ReturnType<Views['choices']>,
  { form, problem }: GivenSilence,
  visit: Visit,
): Html {
  const { now, timezone } = visit;
  const of = (name: Field) => ({
    chosen: form.get(name) ?? '',
    problem: problem?.field === name ? problem.words : undefined,
  });
  const moment = (name: 'starts' | 'ends', label: string): Html => {
    const { chosen, problem: words } = of(name);
    const wrong = words === undefined ? null : problemAt(name, words);
    return html`<label>${label} <input type="datetime-local" name="${name}" value="${chosen}" min="${localText(now, timezone)}"${wrong?.attributes}>${wrong?.words}</label>`;
  };
  const everything = of('everything');
  return html`${textChoice('account', 'Account', choices.accounts, of('account'))}
${textChoice('rule', 'Rule', choices.rules, of('rule'))}
${textChoice('label', 'Label', choices.labels, of('label'))}
<label>Severity <select name="severity">${severityOptions(form.get('severity'))}</select></label>
${moment('starts', `Begins, ${timezone} (empty: now)`)}
${durationField(visit, form.get('for') ?? undefined)}
${moment('ends', `Or until, ${timezone}`)}
${personFields(visit, form)}
<label><input type="checkbox" name="everything" value="yes"${everything.chosen === 'yes' && html` checked`}> Mute every alert of every account (only where nothing above is chosen)${everything.problem !== undefined && problemAt('everything', everything.problem).words}</label>`;
}

/** The order that a form holds, or what is wrong with which of its fields. */
export function readSilenceForm(
  form: URLSearchParams,
  { now, timezone }: Frame,
): SilenceOrder | NonNullable<GivenSilence['problem']> {
  const instantOf = (text: string | null) => (text ? parseLocalText(text, timezone) : undefined);
  const startsAt = instantOf(form.get('starts')) ?? (form.get('starts') ? null : now);
  const endsAt = instantOf(form.get('ends'));
  if (startsAt === null) return { field: 'starts', words: 'Give a day and a time.' };
  if (endsAt === null) return { field: 'ends', words: 'Give a day and a time.' };
  const order = parseInput(silenceOrderSchema, {
    match: readMatch(form),
    ...(form.get('everything') === 'yes' ? { everything: true } : {}),
    startsAt: isoText(startsAt),
    ...(endsAt === undefined ? { for: form.get('for') ?? '' } : { endsAt: isoText(endsAt) }),
    ...readPerson(form),
  });
  const { seen } = readSeen(form);
  const { account = '', rule = '' } = readMatch(form);
  try {
    return { ...readSilenceOrder(order, now), ...(seen && { seen: { account, rule, ...seen } }) };
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    return { field: 'ends', words: error.message };
  }
}

function readMatch(form: URLSearchParams): { readonly account?: string; readonly rule?: string } {
  const keys = ['account', 'rule', 'severity'].flatMap((key) => {
    const value = form.get(key)?.trim() ?? '';
    return value === '' ? [] : [[key, value]];
  });
  const [label = '', ...value] = (form.get('label') ?? '').trim().split('=');
  return { ...Object.fromEntries(keys), ...(label === '' ? {} : { labels: { [label]: value.join('=') } }) };
}

/** The field that a refusal of the views is about. */
export function fieldOf(about: Refusal['about']): Field {
  if (about === 'window') return 'ends';
  return about === 'account' || about === 'rule' ? about : 'everything';
}

/** Asks before it mutes: which alerts that fire now fall silent, and which accounts it is about. */
export async function renderSilenceQuestion(
  visit: Visit,
  order: SilenceOrder,
  { muted, form }: { readonly muted: Muted; readonly form: URLSearchParams },
): Promise<Html> {
  const alerts = await alertsNamed(visit.views, muted);
  const kept = [...form].filter(([name]) => name !== 'confirmed' && name !== 'change');
  return html`<section class="panel question"><h1>Silence ${wordMatcher(order.match)}?</h1>
${matchesEverything(order.match) && html`<p class="problem">Nothing at all would be sent, about any account.</p>`}
<p>From ${momentAndAge(order.startsAt, visit)} until ${momentAndAge(order.endsAt, visit)}.</p>
${alerts}${accountsNamed(visit.views, muted)}
<form method="post" action="/silences">${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="acts"><button name="confirmed" value="yes">Silence</button> <button class="quiet" name="change" value="yes">Change it</button></div></form></section>`;
}

async function alertsNamed(views: LiveViews, { alerts }: Muted): Promise<Html> {
  if (alerts.length === 0) return html`<h2>No alert that fires now would fall silent</h2>`;
  const more = alerts.length - named;
  const first = alerts.slice(0, named);
  const shown = await Promise.all(first.map(({ account, rule }) => views.alert(account, rule)));
  return html`<h2>${plural(alerts.length, 'alert')} that ${alerts.length === 1 ? 'fires' : 'fire'} now would fall silent</h2>
<ul>${shown.map(
    (alert) =>
      alert !== null &&
      html`<li>${badge(alert.severity, severityWord(alert.severity))} <bdi>${summaryOf(alert)}</bdi></li>`,
  )}</ul>${more > 0 && html`<p>and ${more} more</p>`}`;
}

function accountsNamed(views: LiveViews, { accounts }: Muted): Html {
  const more = accounts.length - named;
  const names = new Map(views.choices().accounts);
  return html`<h2>It is about ${plural(accounts.length, 'account')}</h2>
<ul>${accounts.slice(0, named).map((id) => html`<li>${accountLink({ id, name: names.get(id) ?? id })}</li>`)}</ul>${more > 0 && html`<p>and ${more} more</p>`}`;
}
