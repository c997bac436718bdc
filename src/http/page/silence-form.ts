import { isoText, localText, parseLocalText } from '../../domain/moment.ts';
import type { Muted, SilenceOrder } from '../../domain/operator.ts';
import { plural } from '../../domain/plain-text.ts';
import { matchesEverything, wordMatcher } from '../../domain/rule.ts';
import type { LiveViews, Views } from '../../views/views.ts';
import { type Html, html } from '../../wording/html.ts';
import { parseInput } from '../api/input.ts';
import { readSilenceOrder, silenceOrderSchema } from '../api/orders.ts';
import { RequestError } from '../refusal.ts';
import { summaryOf } from './alerts.ts';
import { readPerson, readSeen } from './form-input.ts';
import { accountPath, durationField, personFields, problemAt, severityOptions, textChoice } from './forms.ts';
import { badge, type Frame, momentAndAge, nameOf, severityWord } from './words.ts';

const named = 20;

type Field = 'account' | 'rule' | 'label' | 'starts' | 'ends' | 'everything';

export interface GivenSilence {
  readonly form: URLSearchParams;
  readonly problem: { readonly field: Field; readonly words: string } | null;
}

export const nothingGiven: GivenSilence = { form: new URLSearchParams(), problem: null };

export function silenceFields(
  choices: ReturnType<Views['choices']>,
  { form, problem }: GivenSilence,
  { now, timezone }: Frame,
): Html {
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
${durationField(form.get('for') ?? undefined)}
${moment('ends', `Or until, ${timezone}`)}
${personFields(form)}
<label><input type="checkbox" name="everything" value="yes"${everything.chosen === 'yes' && html` checked`}> Mute every alert of every account (only where nothing above is chosen)${everything.problem !== undefined && problemAt('everything', everything.problem).words}</label>`;
}

/** The order that a form holds, or what is wrong with which of its fields. */
export function readSilenceForm(
  form: URLSearchParams,
  { now, timezone }: Frame,
): SilenceOrder | NonNullable<GivenSilence['problem']> {
  const [starts = '', ends = ''] = [form.get('starts') ?? '', form.get('ends') ?? ''];
  const startsAt = starts === '' ? now : parseLocalText(starts, timezone);
  const endsAt = ends === '' ? undefined : parseLocalText(ends, timezone);
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
export function fieldOf(about: 'account' | 'rule' | 'window' | 'everything' | undefined): Field {
  return about === 'window' ? 'ends' : (about ?? 'everything');
}

/** Asks before it mutes: which alerts that fire now fall silent, and which accounts it is about. */
export async function renderSilenceQuestion(
  views: LiveViews,
  {
    order,
    muted,
    form,
  }: { readonly order: SilenceOrder; readonly muted: Muted; readonly form: URLSearchParams },
  frame: Frame,
): Promise<Html> {
  const alerts = await alertsNamed(views, muted);
  const kept = [...form].filter(([name]) => name !== 'confirmed' && name !== 'change');
  return html`<section class="panel question"><h1>Silence ${wordMatcher(order.match)}?</h1>
${matchesEverything(order.match) && html`<p class="problem">Nothing at all would be sent, about any account.</p>`}
<p>From ${momentAndAge(order.startsAt, frame)} until ${momentAndAge(order.endsAt, frame)}.</p>
${alerts}${accountsNamed(views, muted)}
<form method="post" action="/silences">${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="acts"><button name="confirmed" value="yes">Silence</button> <button class="quiet" name="change" value="yes">Change it</button></div></form></section>`;
}

async function alertsNamed(views: LiveViews, { alerts }: Muted): Promise<Html> {
  if (alerts.length === 0) return html`<h2>No alert that fires now would fall silent</h2>`;
  const more = alerts.length - named;
  const shown = await Promise.all(
    alerts.slice(0, named).map(({ account, rule }) => views.alert(account, rule)),
  );
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
<ul>${accounts.slice(0, named).map((id) => html`<li><a href="${accountPath(id)}"><bdi>${nameOf(names.get(id) ?? id)}</bdi></a></li>`)}</ul>${more > 0 && html`<p>and ${more} more</p>`}`;
}
